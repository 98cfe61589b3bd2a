import { describe, expect, test } from '@jest/globals';
import type { Json, JsonObject } from '../../../src/json/json.ts';
import { decideRequest } from '../../../src/admission/endpoints.ts';
import { parseReview, orUntouched } from '../../../src/admission/review.ts';
import { BadRequest } from '../../../src/errors.ts';
import { gangPod, pod } from '../../support/pods.ts';
import { policy } from '../../support/policy.ts';
import { answer, endpointOf, operationsOf, mutatePod, review } from '../../support/reviews.ts';

const good = review('Pod', { object: gangPod() });
const withRequest = (change: Record<string, unknown>): unknown => ({
  ...good,
  request: { ...(good['request'] as JsonObject), ...change },
});
const saysOf = (body: unknown): string => {
  try {
    parseReview(body);
  } catch (thrown) {
    if (thrown instanceof BadRequest) return thrown.message;
    throw thrown;
  }
  return 'fine';
};

describe('a body that is no review is named as what it is', () => {
  test.each<[unknown, string]>([
    [[], 'an AdmissionReview is needed, found a list'],
    [null, 'an AdmissionReview is needed, found null'],
    ['x', 'an AdmissionReview is needed, found "x"'],
    [1, 'an AdmissionReview is needed, found 1'],
    [{}, 'admission.k8s.io/v1 AdmissionReview is needed, found null null'],
    [
      { ...good, kind: 'Foo' },
      'admission.k8s.io/v1 AdmissionReview is needed, found "admission.k8s.io/v1" "Foo"',
    ],
    [
      { ...good, apiVersion: 'admission.k8s.io/v1beta1' },
      'admission.k8s.io/v1 AdmissionReview is needed, found "admission.k8s.io/v1beta1" "AdmissionReview"',
    ],
    [
      { ...good, kind: { toString: 1 } },
      'admission.k8s.io/v1 AdmissionReview is needed, found "admission.k8s.io/v1" an object',
    ],
    [{ ...good, request: undefined }, 'request: an object is needed'],
    [{ ...good, request: null }, 'request: an object is needed'],
    [{ ...good, request: [] }, 'request: an object is needed'],
  ])('%#', (body, says) => {
    expect(saysOf(body)).toBe(says);
  });
});

describe('a request in which something is wrong is refused with the name of the field', () => {
  const uid = 'request.uid: a string of 1 to 128 characters is needed';
  test.each<[Record<string, unknown>, string]>([
    [{ uid: undefined }, uid],
    [{ uid: '' }, uid],
    [{ uid: 7 }, uid],
    [{ uid: 'x'.repeat(10 * 1024) }, uid],
    [{ operation: 'PATCH' }, 'request.operation: "PATCH" is none of CREATE, UPDATE, DELETE, CONNECT'],
    [{ operation: undefined }, 'request.operation: null is none of CREATE, UPDATE, DELETE, CONNECT'],
    [
      { operation: 'constructor' },
      'request.operation: "constructor" is none of CREATE, UPDATE, DELETE, CONNECT',
    ],
    [{ object: null }, 'request.object: an object is needed, found null'],
    [{ object: [] }, 'request.object: an object is needed, found a list'],
    [{ operation: 'UPDATE' }, 'request.oldObject: an object is needed, found null'],
    [{ operation: 'DELETE', object: 'x' }, 'request.object: an object is needed, found "x"'],
    [{ object: { metadata: [] } }, 'request.object.metadata: an object is needed'],
    [{ object: pod({ labels: [] }) }, 'request.object.metadata.labels: an object is needed'],
    [{ object: pod({ annotations: 'x' }) }, 'request.object.metadata.annotations: an object is needed'],
    [
      { object: pod({ labels: { a: 1 } }) },
      'request.object.metadata.labels: "a" must have a string as value',
    ],
    [
      { object: pod({ annotations: { '\u001b[1m': null } }) },
      'request.object.metadata.annotations: "\\u{1b}[1m" must have a string as value',
    ],
    [
      { operation: 'UPDATE', oldObject: pod({ labels: [] }) },
      'request.oldObject.metadata.labels: an object is needed',
    ],
  ])('%#', (change, says) => {
    expect(saysOf(withRequest(change))).toBe(says);
  });
});

describe('what may be missing is missing quietly', () => {
  test('names, groups, kinds, and everything that is not known', () => {
    const bare = { uid: 'u', operation: 'CREATE', object: {}, surprise: { deep: [1] } };
    expect(parseReview({ ...good, also: 1, request: bare })).toEqual({
      uid: 'u',
      kind: { group: '', version: '', kind: '' },
      resource: '',
      subResource: '',
      name: '',
      namespace: '',
      operation: 'CREATE',
      username: '',
      groups: [],
      dryRun: false,
      object: {},
      oldObject: undefined,
    });
  });

  test.each([{ metadata: null }, { metadata: {} }, { metadata: { labels: null, annotations: null } }])(
    'metadata of %j',
    (object) => {
      expect(saysOf(withRequest({ object }))).toBe('fine');
    },
  );

  test('groups that are no text are left out; dryRun is true only for true', () => {
    const request = parseReview(withRequest({ userInfo: { groups: ['a', 1, null, 'b'] }, dryRun: 'true' }));
    expect([request.groups, request.dryRun]).toEqual([['a', 'b'], false]);
  });
});

describe('hostile input', () => {
  test('100,000 nested lists are neither walked nor copied', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const text = JSON.stringify(withRequest({ object: gangPod({ spec: { x: 'DEEP' } }) })).replace(
      '"DEEP"',
      deep,
    );
    expect(answer('mutate', 'Pod', JSON.parse(text))).toMatchObject({
      allowed: true,
      patchType: 'JSONPatch',
    });
    const gang = JSON.stringify(review('PodGang', { object: { spec: { podgroups: 'DEEP' } } })).replace(
      '"DEEP"',
      deep,
    );
    expect(answer('validate', 'PodGang', JSON.parse(gang))).toMatchObject({ allowed: false });
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'a key %s is a key like any other',
    (key) => {
      const clean = operationsOf(mutatePod({ object: gangPod() }));
      const text = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",${JSON.stringify(key)}:{"polluted":1},
      "request":{"uid":"u","operation":"CREATE","namespace":"ml","kind":{"group":"","version":"v1","kind":"Pod"},
      ${JSON.stringify(key)}:{"polluted":1},"object":{${JSON.stringify(key)}:{"polluted":1},"metadata":{
      "labels":{"grove.io/podgang":"train","grove.io/podclique":"worker",${JSON.stringify(key)}:"x"},
      "annotations":{${JSON.stringify(key)}:"x"}},"spec":{"schedulerName":"default-scheduler"}}}}`;
      const decision = orUntouched(
        decideRequest(endpointOf('mutate', 'Pod'), parseReview(JSON.parse(text)), policy()),
      );
      expect(operationsOf(decision)).toEqual(clean);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );

  test('fields that only a prototype has are not there', () => {
    const body = JSON.parse(
      '{"__proto__":{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}}',
    ) as Json;
    expect(saysOf(body)).toContain('found null null');
  });
});

describe('a request for another kind', () => {
  const configMap = { group: '', version: 'v1', kind: 'ConfigMap' };
  const decide = (change: Record<string, unknown>) =>
    decideRequest(endpointOf('mutate', 'Pod'), parseReview(withRequest(change)), policy());

  test.each([
    [{ kind: configMap }, 'core/v1 ConfigMap'],
    [{ kind: undefined }, 'core/ '],
    [{ kind: { group: 'x', version: 'v1', kind: 'Pod' } }, 'x/v1 Pod'],
    [{ kind: configMap, subResource: 'status', resource: { resource: 'configmaps' } }, 'core/v1 ConfigMap'],
  ])('cannot be decided: %#', (change, found) => {
    expect(() => decide(change)).toThrow(
      new BadRequest(`request.kind: unexpected kind "${found}": /mutate-v1-pod takes core/v1 Pod`),
    );
  });

  test.each([
    { kind: { group: '', version: 'v1', kind: 'Binding' }, subResource: 'binding' },
    { kind: { group: 'policy', version: 'v1', kind: 'Eviction' }, subResource: 'eviction' },
    { kind: { group: '', version: 'v1', kind: 'PodExecOptions' }, subResource: 'exec', operation: 'CONNECT' },
  ])('is let through where it is a subresource: %j', (change) => {
    expect(decide(change)).toMatchObject({ faults: [], changes: [] });
  });
});

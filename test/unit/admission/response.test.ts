import { describe, expect, test } from '@jest/globals';
import type { Json, JsonObject } from '../../../src/json/json.ts';
import { renderResponse, boundedWarnings } from '../../../src/admission/response.ts';
import { decision, parseReview } from '../../../src/admission/review.ts';
import { fault } from '../../../src/api/fault.ts';
import { gangPod, pod, storedPod } from '../../support/pods.ts';
import { group, podGang } from '../../support/pod-gangs.ts';
import { answer, review } from '../../support/reviews.ts';

const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/u;
const HOSTILE = `a\n\u001b[2J\u202e${'x'.repeat(300 * 1024)}`;
const rendered = (parts: Parameters<typeof decision>[0], object: JsonObject = pod()): JsonObject =>
  JSON.parse(renderResponse(parseReview(review('Pod', { object })), decision(parts))) as JsonObject;

describe('an answer', () => {
  test('is a review with the uid of the request and nothing of its object', () => {
    const whole = rendered({}, gangPod());
    expect(whole).toEqual({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: '705ab4f5-6393-11e8-b7cc-42010a800002', allowed: true },
    });
  });

  test('has patch and patchType together, and audit annotations', () => {
    const response = answer('mutate', 'Pod', review('Pod', { object: gangPod() }));
    expect(response).toMatchObject({
      allowed: true,
      patchType: 'JSONPatch',
      auditAnnotations: { backend: 'default-scheduler', gang: 'ml/train' },
    });
    expect(JSON.parse(Buffer.from(response['patch'] as string, 'base64').toString())).toHaveLength(1);
  });

  test.each([
    ['nothing changes', 'mutate', storedPod()],
    ['it is no gang Pod', 'mutate', pod()],
    ['it is a validation', 'validate', storedPod()],
  ] as const)('has neither where %s', (_what, verb, object) => {
    const response = answer(verb, 'Pod', review('Pod', { object }));
    expect(response).toMatchObject({ allowed: true });
    expect(Object.keys(response)).not.toEqual(expect.arrayContaining(['patch']));
    expect(response).not.toHaveProperty('patchType');
  });

  test('has audit keys that the API server takes', () => {
    const { auditAnnotations } = answer('mutate', 'Pod', review('Pod', { object: gangPod() }));
    for (const key of Object.keys(auditAnnotations as JsonObject)) {
      expect(key).toMatch(/^[A-Za-z0-9][-A-Za-z0-9_.]{0,62}$/);
    }
    expect(answer('mutate', 'Pod', review('Pod', { object: pod() }))).not.toHaveProperty('auditAnnotations');
  });
});

describe('a refusal', () => {
  test('is a metav1.Status with the object, the field and the cause', () => {
    const object = gangPod({ spec: { nodeName: 'n1' }, metadata: { name: undefined, generateName: 'w-' } });
    expect(answer('mutate', 'Pod', review('Pod', { object }))['status']).toEqual({
      metadata: {},
      status: 'Failure',
      reason: 'Forbidden',
      code: 403,
      message: expect.stringMatching(
        /^Pod w-\*: spec\.nodeName: Forbidden: "n1": gang pods must not set nodeName/,
      ),
      details: {
        name: 'w-*',
        group: '',
        kind: 'Pod',
        causes: [{ reason: 'FieldValueForbidden', field: 'spec.nodeName', message: expect.any(String) }],
      },
    });
  });

  test.each([
    ['403 where only the account is wrong', ['GateMissing', 'GateProtected'], 403],
    ['422 as soon as the object is', ['GateMissing', 'GroupsRequired'], 422],
  ] as const)('is %s', (_what, names, code) => {
    const faults = names.map((name) => fault(name, 'spec'));
    expect(rendered({ faults })['response']).toMatchObject({ status: { code } });
  });

  test('never carries a patch, and names a Pod without any name', () => {
    const operation = { op: 'add', path: '/x', value: 1 } as const;
    const faults = [fault('GateMissing', 'spec')];
    const response = rendered({ faults, changes: [{ operation, why: '' }] }, { metadata: {} })['response'];
    expect(response).not.toHaveProperty('patch');
    expect(response).toMatchObject({ status: { message: expect.stringMatching(/^Pod \(no name\): /) } });
  });

  test('stays printable and short, whatever the names', () => {
    const object = gangPod({
      metadata: { name: HOSTILE },
      labels: { 'grove.io/podgang': HOSTILE, 'grove.io/scheduler-name': HOSTILE },
      spec: { nodeName: HOSTILE },
    });
    const text = JSON.stringify(answer('mutate', 'Pod', review('Pod', { object })));
    expect(text.length).toBeLessThan(8 * 1024);
    const strings: string[] = [];
    JSON.parse(text, (_key, value: Json) => {
      if (typeof value === 'string') strings.push(value);
      return value;
    });
    for (const found of strings) expect(found).not.toMatch(UNSAFE);
  });

  test('of a field path with control characters is printable too', () => {
    const response = rendered({ faults: [fault('BackendFailed', HOSTILE)] })['response'] as JsonObject;
    expect(JSON.stringify(response).length).toBeLessThan(4096);
    expect(
      (response['status'] as { details: { causes: { field: string }[] } }).details.causes[0]?.field,
    ).not.toMatch(UNSAFE);
  });

  test('of 100 faults has them all as causes and says so', () => {
    const groups = Array.from({ length: 100 }, (_, index) => group(`a ${index}`));
    const { status } = answer('validate', 'PodGang', review('PodGang', { object: podGang({ groups }) }));
    const { message, details } = status as { message: string; details: { causes: unknown[] } };
    expect(message).toMatch(/^PodGang train has 100 faults: .* … and \d+ more, see the causes$/);
    expect(details.causes).toHaveLength(100);
  });

  test('of 20,000 faults stays under 256 KiB and says how many there are', () => {
    const object = podGang({
      groups: Array.from({ length: 20_000 }, () => group('a b', { minReplicas: -1 })),
    });
    const text = JSON.stringify(answer('validate', 'PodGang', review('PodGang', { object })));
    expect(text.length).toBeLessThan(256 * 1024);
    const { status } = JSON.parse(text) as { status: { message: string; details: { causes: unknown[] } } };
    expect(status.message).toMatch(
      /^PodGang train has 60000 faults: \(1\) .* … and \d+ more, the first 256 are in the causes$/,
    );
    expect(status.message.length).toBeLessThan(4096);
    expect(status.details.causes).toHaveLength(256);
  });
});

describe('warnings', () => {
  test('are printable, short, each once', () => {
    const warnings = boundedWarnings(['a', 'a', HOSTILE]);
    expect(warnings).toHaveLength(2);
    for (const warning of warnings) {
      expect(Array.from(warning).length).toBeLessThanOrEqual(256);
      expect(warning).not.toMatch(UNSAFE);
    }
  });

  test('stop before the sum at which the API server cuts all of them', () => {
    const warnings = boundedWarnings(
      Array.from({ length: 100 }, (_, index) => `${index} ${'x'.repeat(300)}`),
    );
    expect(warnings).toHaveLength(16);
    expect(warnings.join('').length).toBeLessThanOrEqual(4096);
  });

  test('come with a refusal as well', () => {
    const parts = { faults: [fault('GateMissing', 'spec')], warnings: ['take care'] };
    expect(rendered(parts)['response']).toMatchObject({ allowed: false, warnings: ['take care'] });
  });
});

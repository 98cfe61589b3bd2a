import { describe, expect, test } from '@jest/globals';
import { bindingEndpoint } from '../../../src/admission/bindings.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { PATH_MUTATE_BINDING } from '../../../src/api/names.ts';
import { BadRequest } from '../../../src/errors.ts';
import { applied } from '../../support/rfc6902.ts';

interface Asked {
  readonly operation?: string;
  readonly kind?: string;
  readonly version?: string;
  readonly subResource?: string;
  readonly metadata?: object;
}

const reviewOf = (spec: unknown, asked: Asked = {}): JsonObject => {
  const {
    operation = 'CREATE',
    kind = 'ResourceBinding',
    version = 'v1alpha2',
    subResource,
    metadata,
  } = asked;
  const object = {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind,
    metadata: { name: 'train-job', namespace: 'ml', ...metadata },
    spec,
  };
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      ...{ uid: 'u-1', kind: { group: 'work.karmada.io', version, kind }, operation },
      ...{ resource: { group: 'work.karmada.io', version, resource: 'resourcebindings' } },
      ...(subResource !== undefined && { subResource }),
      ...{ name: 'train-job', namespace: 'ml', userInfo: { username: 'karmada' } },
      object: operation === 'DELETE' ? null : object,
      oldObject: operation === 'CREATE' ? null : object,
    },
  } as JsonObject;
};

const heard: unknown[] = [];
const endpoint = bindingEndpoint((request, held, name, ms) => heard.push([request.uid, held, name, ms]));

/** What is stored; undefined where the binding stays as it was. */
function stored(spec: unknown, asked: Asked = {}): { spec: unknown; annotations: unknown } | undefined {
  const review = reviewOf(spec, asked);
  const answer = endpoint.handle({ body: review, remainingMs: 1_000, entire: () => review });
  if (answer instanceof Promise) throw new Error('admission has waited');
  const { response } = JSON.parse(answer.body) as {
    response: { uid: string; allowed: boolean; patch?: string };
  };
  expect([response.uid, response.allowed]).toEqual(['u-1', true]);
  expect(answer.outcome).toBe(response.patch === undefined ? 'allowed' : 'patched');
  if (response.patch === undefined) return undefined;
  const { object } = review['request'] as { object: JsonObject };
  const after = applied(
    JSON.stringify(object),
    JSON.parse(Buffer.from(response.patch, 'base64').toString()) as never,
  ) as unknown as {
    spec: unknown;
    metadata: { annotations: unknown };
  };
  return { spec: after.spec, annotations: after.metadata.annotations };
}

const resource = { apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job', name: 'train' };
const placement = { replicaScheduling: { replicaSchedulingType: 'Divided' } };
const UNREAD = { 'muster.dev/fleet-terms': 'unread' };

describe('a new binding', () => {
  test.each([
    ['of replicas', { replicas: 3 }],
    ['of what one replica asks for', { replicaRequirements: { resourceRequest: { cpu: '1' } } }],
    ['of components', { components: [{ name: 'worker', replicas: 2 }] }],
  ])('%s is held', (_what, workload) => {
    const spec = { resource, placement, ...workload };
    expect(stored(spec)).toEqual({
      spec: { ...spec, suspension: { scheduling: true } },
      annotations: UNREAD,
    });
  });

  test('of the whole cluster, the same', () => {
    expect(
      stored({ resource, placement, replicas: 1 }, { kind: 'ClusterResourceBinding' })?.annotations,
    ).toEqual(UNREAD);
  });

  test.each([
    ['null', null, {}],
    ['dispatching', { dispatching: true }, { dispatching: true }],
    [
      'dispatching to some',
      { dispatchingOnClusters: { clusterNames: ['m1'] }, scheduling: false },
      { dispatchingOnClusters: { clusterNames: ['m1'] } },
    ],
  ])('keeps the rest of a suspension: %s', (_what, suspension, kept) => {
    const spec = { resource, placement, replicas: 1, suspension };
    expect(stored(spec)?.spec).toEqual({ ...spec, suspension: { ...kept, scheduling: true } });
  });

  test('keeps its annotations, and what is written there already counts for nothing', () => {
    const annotations = { 'propagationpolicy.karmada.io/name': 'p', 'muster.dev/fleet-terms': 'read' };
    const spec = { resource, placement, replicas: 1 };
    expect(stored(spec, { metadata: { annotations } })?.annotations).toEqual({ ...annotations, ...UNREAD });
  });

  test('that is held already stays as it is: asked again, nothing changes', () => {
    const spec = { resource, placement, replicas: 1, suspension: { scheduling: true } };
    expect(stored(spec, { metadata: { annotations: UNREAD } })).toBeUndefined();
  });

  test.each([
    ['what a workload depends on', { resource, replicas: 2, requiredBy: [{ name: 'other' }] }, {}],
    ['a null placement', { resource, replicas: 2, placement: null }, {}],
    ['a ConfigMap', { resource: { kind: 'ConfigMap' }, placement }, {}],
    ['no Pods', { resource, placement, replicas: 0, components: [] }, {}],
    ['no spec', undefined, {}],
    ['an update', { resource, placement, replicas: 2 }, { operation: 'UPDATE' }],
    ['a deletion', { resource, placement, replicas: 2 }, { operation: 'DELETE' }],
    ['a status', { resource, placement, replicas: 2 }, { subResource: 'status' }],
  ])('is left alone: %s', (_what, spec, asked) => {
    expect(stored(spec, asked)).toBeUndefined();
  });
});

test('who is told of it', () => {
  heard.length = 0;
  const review = reviewOf({ resource, placement, replicas: 1 });
  const answer = endpoint.handle({ body: review, remainingMs: 1_000, entire: () => review });
  if (!(answer instanceof Promise)) answer.sent(3);
  expect(heard).toEqual([['u-1', true, 'train-job', 3]]);
  expect(endpoint.path).toBe(PATH_MUTATE_BINDING);
});

test.each([
  [
    { kind: 'Work' },
    /unexpected kind "work.karmada.io\/v1alpha2 Work": .* takes work.karmada.io\/v1alpha2 ResourceBinding and ClusterResourceBinding/,
  ],
  [{ version: 'v1alpha1' }, /unexpected kind "work.karmada.io\/v1alpha1 ResourceBinding"/],
])('another kind is refused: %j', (asked, says) => {
  const review = reviewOf({ replicas: 1 }, asked);
  const ask = () => endpoint.handle({ body: review, remainingMs: 1_000, entire: () => review });
  expect(ask).toThrow(BadRequest);
  expect(ask).toThrow(says);
});

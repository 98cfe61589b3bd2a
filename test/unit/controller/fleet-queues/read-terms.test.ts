/** What is read for a held binding, what is written of it, and what is said where it cannot be read. */
import { expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { termsReader } from '../../../../src/controller/fleet-queues/read-terms.ts';
import type { KubeClient } from '../../../../src/kube/client/client.ts';
import { errorFromAnswer } from '../../../../src/kube/client/errors.ts';
import type { Target } from '../../../../src/kube/client/resources.ts';
import { workloadKinds } from '../../../../src/workloads/kinds.ts';

const BINDING: Target = {
  resource: {
    ...{ group: 'work.karmada.io', version: 'v1alpha2', kind: 'ResourceBinding' },
    ...{ plural: 'resourcebindings', namespaced: true },
  },
  namespace: 'ml',
  name: 'train-job',
};
const POLICY = {
  'propagationpolicy.karmada.io/namespace': 'ml',
  'propagationpolicy.karmada.io/name': 'gangs',
};
const binding = (annotations: JsonObject = POLICY, terms = 'unread'): JsonObject => ({
  metadata: {
    ...{ namespace: 'ml', name: 'train-job', uid: 'b', resourceVersion: '7' },
    annotations: { ...annotations, 'muster.dev/fleet-terms': terms },
  },
  spec: {
    resource: { apiVersion: 'batch/v1', kind: 'Job', namespace: 'ml', name: 'train', uid: 'j' },
    suspension: { scheduling: true },
  },
});
const job = (annotations: JsonObject = {}, uid = 'j'): JsonObject => ({
  ...{ apiVersion: 'batch/v1', kind: 'Job' },
  metadata: { namespace: 'ml', name: 'train', uid, annotations },
  spec: { parallelism: 4, template: { spec: { containers: [{ name: 'c' }] } } },
});

const refusal = (status: number, message = 'no') =>
  errorFromAnswer('GET', status, JSON.stringify({ message }), undefined);

/** @param stored by `plural/name`; a number is the status of a refusal */
function scene(stored: Readonly<Record<string, JsonObject | number>>) {
  const patches: unknown[] = [];
  const asked: string[] = [];
  const client = {
    get: ({ resource, name }: Target) => {
      const key = `${resource.plural}/${name}`;
      asked.push(key);
      const found = stored[key] ?? 404;
      return typeof found === 'number' ? Promise.reject(refusal(found)) : Promise.resolve(found);
    },
    read: (path: string) => {
      asked.push(path);
      const resources = [
        { name: 'jobs/status', kind: 'Job', namespaced: true },
        { name: 'jobs', kind: 'Job', namespaced: true },
      ];
      return path === '/apis/batch/v1' ? Promise.resolve({ resources }) : Promise.reject(refusal(404));
    },
    mergePatch: (_: Target, patch: unknown) => {
      patches.push(patch);
      return Promise.resolve(undefined);
    },
  };
  const read = termsReader(client as unknown as KubeClient, workloadKinds);
  return { patches, asked, read: () => read(BINDING, new AbortController().signal) };
}

test('a binding whose workload names a queue keeps waiting, and says whose turn it waits for', async () => {
  const { read, patches, asked } = scene({
    'resourcebindings/train-job': binding(),
    'jobs/train': job({ 'muster.dev/fleet-queue': 'team' }),
    'propagationpolicies/gangs': { metadata: { name: 'gangs' } },
  });
  expect(await read()).toEqual({ queue: 'team' });
  expect(patches).toMatchObject([
    { metadata: { resourceVersion: '7', annotations: { 'muster.dev/fleet-queue': 'team' } } },
  ]);
  expect(patches[0]).not.toHaveProperty('spec');
  // What the API server serves is asked once.
  await read();
  expect(asked.filter((path) => path === '/apis/batch/v1')).toHaveLength(1);
});

test.each([
  ['of a namespace', POLICY, 'propagationpolicies/gangs'],
  ['of the cluster', { 'clusterpropagationpolicy.karmada.io/name': 'all' }, 'clusterpropagationpolicies/all'],
])('the queue may stand on the policy %s', async (_, annotations, policy) => {
  const { read } = scene({
    'resourcebindings/train-job': binding(annotations),
    'jobs/train': job(),
    [policy]: { metadata: { annotations: { 'muster.dev/fleet-queue': 'team' } } },
  });
  expect(await read()).toEqual({ queue: 'team' });
});

test('the namespace names the queue of all that name none', async () => {
  const namespace = { metadata: { name: 'ml', labels: { 'muster.dev/fleet-queue': 'everybody' } } };
  const stored = { 'resourcebindings/train-job': binding(), 'namespaces/ml': namespace };
  expect(await scene({ ...stored, 'jobs/train': job() }).read()).toEqual({ queue: 'everybody' });
  const named = job({ 'muster.dev/fleet-queue': 'team' });
  expect(await scene({ ...stored, 'jobs/train': named }).read()).toEqual({ queue: 'team' });
});

test('a binding whose namespace may not be read stays held, with the reason', async () => {
  const { read, patches } = scene({
    ...{ 'resourcebindings/train-job': binding(), 'jobs/train': job(), 'namespaces/ml': 403 },
  });
  expect(await read()).toEqual({
    unread: expect.stringMatching(/; apply manifests\/karmada\/queues\/rbac.yaml of this version$/),
  });
  expect(patches).toEqual([]);
});

test.each([
  ['whose policy is gone', POLICY],
  ['without a policy', {}],
  ['of a policy that says no namespace', { 'propagationpolicy.karmada.io/name': 'gangs' }],
])('a binding that names no queue is let go with the same write: one %s', async (_, annotations) => {
  const { read, patches } = scene({
    'resourcebindings/train-job': binding(annotations),
    'jobs/train': job(),
  });
  expect(await read()).toBe('none');
  expect(patches).toMatchObject([{ spec: { suspension: { scheduling: false } } }]);
});

test.each<[string, Readonly<Record<string, JsonObject | number>>]>([
  ['that is gone', {}],
  ['that was read before', { 'resourcebindings/train-job': binding(POLICY, 'read') }],
])('nothing is written to a binding %s', async (_, stored) => {
  const { read, patches } = scene(stored);
  expect(await read()).toBeUndefined();
  expect(patches).toEqual([]);
});

test.each<[string, JsonObject | number, RegExp]>([
  ['is not there', 404, /^batch\/v1 Job ml\/train is not there; make it, or delete the binding$/],
  ['is another one', job({}, 'other'), /is another one than the binding was made for; it is read once/],
  [
    'may not be read',
    403,
    /; give Muster's account there the right to get it, as manifests\/karmada\/queues/,
  ],
])('a binding whose workload %s stays held, with the reason', async (_, workload, words) => {
  const { read, patches } = scene({ 'resourcebindings/train-job': binding(), 'jobs/train': workload });
  expect(await read()).toEqual({ unread: expect.stringMatching(words) });
  expect(patches).toEqual([]);
});

test('a kind that the API server does not know is not there either; a failing server is no answer', async () => {
  const foreign = binding();
  const spec = { resource: { apiVersion: 'example.com/v1', kind: 'Odd', namespace: '', name: 'x' } };
  const unknown = scene({ 'resourcebindings/train-job': { ...foreign, spec } });
  expect(await unknown.read()).toEqual({
    unread: expect.stringMatching(/^example\.com\/v1 Odd x is not there/),
  });
  const failing = scene({ 'resourcebindings/train-job': binding(), 'jobs/train': 500 });
  await expect(failing.read()).rejects.toThrow();
});

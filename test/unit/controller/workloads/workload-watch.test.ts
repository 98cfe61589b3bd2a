/** Workloads of gangs are read from the moment on at which somebody asks, in the version that is there. */
import { afterEach, expect, test } from '@jest/globals';
import { ApiError } from '../../../../src/kube/client/errors.ts';
import type { KubeClient, WatchOptions } from '../../../../src/kube/client/client.ts';
import type { KubeObject, Resource } from '../../../../src/kube/client/resources.ts';
import { WorkloadWatch } from '../../../../src/controller/workloads/workload-watch.ts';
import { gangKindOf } from '../../../../src/workloads/kinds.ts';
import { WITHOUT_WATCH_LIST } from '../../kube/loop/fake-cluster.ts';
import { until } from '../../tls/until.ts';

const kindOf = (short: string) => {
  const found = gangKindOf(short);
  if (found === undefined) throw new Error(`there is no kind ${short}`);
  return found;
};
const refusal = (status: number): ApiError => new ApiError('list', { status, message: 'no' });

let watch: WorkloadWatch | undefined;
afterEach(() => watch?.stop());

/** @param answer of a list of a kind in a version */
function started(answer: (version: string) => readonly KubeObject[]) {
  const asked: string[] = [];
  let changes = 0;
  const client = {
    server: 'https://fake',
    list: ({ version }: Resource) => {
      asked.push(version);
      return Promise.resolve().then(() => ({ items: answer(version), resourceVersion: '1' }));
    },
    // eslint-disable-next-line require-yield
    watch: async function* (_: Resource, { signal, initialEvents }: WatchOptions) {
      if (initialEvents === true) throw WITHOUT_WATCH_LIST;
      await new Promise((resolve) => {
        signal?.addEventListener('abort', resolve, { once: true });
      });
    },
  } as unknown as KubeClient;
  watch = new WorkloadWatch({ client, observe: () => ({}), changed: () => (changes += 1) });
  return { watch, asked, changes: () => changes };
}

const mpiJob = (replicas: number): KubeObject => ({
  metadata: { name: 'hpl', namespace: 'ml', uid: 'u', resourceVersion: '1' },
  spec: { mpiReplicaSpecs: { Worker: { replicas } } },
});

test('a kind is asked for once somebody asks for one of its workloads', async () => {
  const { watch: known, asked } = started(() => [mpiJob(2)]);
  expect(asked).toEqual([]);
  expect(known.of(kindOf('pytorchjob'), 'ml', 'hpl')).toBe('unknown');
  await until('it is listed', () => known.of(kindOf('pytorchjob'), 'ml', 'hpl') !== 'unknown');
  expect(known.of(kindOf('pytorchjob'), 'ml', 'hpl')).toMatchObject({ uid: 'u', version: 'v1' });
  expect(known.of(kindOf('pytorchjob'), 'ml', 'other')).toBe('gone');
  expect(asked).toEqual(['v1']);
});

test('where the API server does not have the one version, the other is read, and nobody is told', async () => {
  const { watch: known, asked } = started((version) => {
    if (version === 'v1') throw refusal(404);
    return [mpiJob(3)];
  });
  const kind = kindOf('mpijob');
  const seen = new Set<unknown>();
  await until('it is listed', () => {
    const found = known.of(kind, 'ml', 'hpl');
    seen.add(typeof found === 'string' ? found : 'unreadable' in found ? 'unreadable' : found.version);
    return found !== 'unknown';
  });
  expect([...seen]).toEqual(['unknown', 'v2beta1']);
  expect(asked).toEqual(['v1', 'v2beta1']);
});

test.each([
  [403, 'job', 'Muster may not list them', ['v1', 'v1']],
  [404, 'job', 'the API server does not have them', ['v1', 'v1']],
  [404, 'mpijob', 'the API server does not have them', ['v1', 'v2beta1', 'v1']],
] as const)(
  'what cannot be read (%d, %s) is told, and read once it can be',
  async (status, short, why, tried) => {
    let there = false;
    const {
      watch: known,
      asked,
      changes,
    } = started(() => {
      if (!there) throw refusal(status);
      return [mpiJob(1)];
    });
    const kind = kindOf(short);
    known.of(kind, 'ml', 'hpl');
    await until('it is told', () => typeof known.of(kind, 'ml', 'hpl') === 'object');
    expect(known.of(kind, 'ml', 'hpl')).toEqual({ unreadable: why });
    expect(changes()).toBe(1);
    there = true;
    await until('it is listed', () => 'numbers' in Object(known.of(kind, 'ml', 'hpl')));
    expect(asked.slice(0, tried.length)).toEqual(tried);
  },
);

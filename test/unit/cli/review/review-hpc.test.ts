import { describe, expect, test } from '@jest/globals';
import type { Json, JsonObject } from '../../../../src/json/json.ts';
import { hpcPolicy } from '../../../support/hpc.ts';
import { hpcGang, hpcPod } from '../../../support/hpc-gangs.ts';
import { json } from '../../../support/pods.ts';
import { muster } from '../fake-io.ts';

const labels = { 'grove.io/podgang': 'train', 'grove.io/podclique': 'worker' };
const containers = [{ name: 'main', image: 'lammps', command: ['lmp'] }];
const template: Json = { metadata: { labels }, spec: { containers } };
const [gang, policy] = [hpcGang(), hpcPolicy({ hpc: { manager: 'flux' } })];

/** What the given objects come to, one document each. */
const review = (objects: readonly JsonObject[], ...args: string[]) => {
  const stdin = objects.map((object) => JSON.stringify(object)).join('\n---\n');
  return muster(['review', '-f', '-', '-n', 'ml', ...args], { stdin });
};
const patches = async (...objects: JsonObject[]): Promise<Record<string, unknown>[]> => {
  const results = JSON.parse((await review(objects, '-o', 'json')).out) as {
    patch: { path: string; value: unknown }[];
  }[];
  return results.map(({ patch }) => Object.fromEntries(patch.map(({ path, value }) => [path, value])));
};

test.each([
  ['after what it depends on', [gang, policy, hpcPod()]],
  ['before it', [hpcPod(), policy, gang]],
])(
  'a Pod that is given %s is shown as it is prepared, with the reason of each change',
  async (_what, objects) => {
    const { code, out } = await review(objects);
    expect(code).toBe(0);
    expect(out).toContain(
      '+        - /bin/bash  # the program runs under Flux, its own command follows word for word\n',
    );
    expect(out).toContain('+  subdomain: train  # the Pods of the gang find each other by this Service\n');
    expect(out).toContain('+    - name: flux-config  # the scripts and settings of the gang\n');
    expect(out).toContain('unchanged HPCPolicy ml/flux');
    expect(out).toMatch(/\+ {4}muster\.dev\/prepared: flux@[0-9a-f]{8}/);
  },
);

test('a plain workload is shown with its Pods as they are prepared, and the PodGang that is made of them', async () => {
  const metadata = {
    labels: { 'muster.dev/gang': 'true' },
    annotations: { 'muster.dev/hpc-policy': 'flux' },
  };
  const job = (spec: JsonObject): JsonObject =>
    json({
      ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'ocean', namespace: 'ml' } },
      spec: {
        ...{ completionMode: 'Indexed', parallelism: 3, completions: 3 },
        template: { metadata, spec: { restartPolicy: 'Never', containers } },
        ...spec,
      },
    });
  const { code, out } = await review([job({}), policy]);
  expect(code).toBe(0);
  expect(out).toContain('+  subdomain: job-ocean  # the Pods of the gang find each other by this Service\n');
  expect(out).toContain('+        name: job-ocean-flux-entrypoint\n');
  expect(out).toMatch(/\+ {4}muster\.dev\/hosts: main=ocean-\[0-2\]\n/);
  expect((await review([job({ completions: 5 }), policy])).out).toContain(
    'spec.completions: 5 is above parallelism: Pods from number 3 on are refused, as muster.dev/hpc-policy is for programs that run on all Pods at once\n',
  );
});

test('the example of PyTorch is shown with what its Pods are told', async () => {
  const { code, out } = await muster(['review', '-f', 'docs/examples/torch-gang.yaml']);
  expect(code).toBe(0);
  expect(out).toContain('+      env:  # by which PyTorch finds the other Pods\n');
  for (const [name, value] of [
    ['MASTER_ADDR', 'train-0.llm'],
    ['WORLD_SIZE', '"32"'],
    ['RANK', '"0"'],
    ['PET_NPROC_PER_NODE', '"8"'],
  ]) {
    expect(out).toContain(`+        - name: ${name}\n  +          value: ${value}\n`);
  }
});

test('a policy that is missing, in another namespace, or wrong is told with the way out', async () => {
  expect((await review([gang, hpcPod()])).out).toContain('[HpcPolicyMissing]');
  const elsewhere = json({ ...policy, metadata: { name: 'flux', namespace: 'hpc' } });
  expect((await review([gang, hpcPod(), elsewhere])).out).toContain('(there is one in hpc)');
  const wrong = await review([gang, hpcPod(), hpcPolicy({ hpc: { settings: { quorm: '2' } } })]);
  expect(wrong.code).toBe(1);
  expect(wrong.out).toContain('denied HPCPolicy ml/flux');
  expect(wrong.out).toContain('(did you mean "quorum"?)');
  expect(wrong.out).toContain('[HpcPolicyUnusable]');
});

test('the first program of docs/hpc.md needs nothing but what stands there', async () => {
  const { code, out } = await muster(['review', '-f', 'docs/examples/hpc-job.yaml']);
  expect(code).toBe(0);
  expect(out).toContain('+        name: job-hello-flux-entrypoint\n');
  expect(out).toContain(
    '+        - /bin/bash  # the program runs under Flux, its own command follows word for word\n',
  );
});

describe('Pods of a workload have the host names that its controller gives them', () => {
  const workload = (kind: string, apiVersion: string, spec: Json): JsonObject =>
    json({ apiVersion, kind, metadata: { name: 'worker', namespace: 'ml' }, spec });
  const jobs: Json = [{ name: 'node', template: { spec: { completionMode: 'Indexed', template } } }];
  test.each<[string, JsonObject, string | undefined]>([
    ['an Indexed Job', workload('Job', 'batch/v1', { completionMode: 'Indexed', template }), 'train'],
    ['a StatefulSet', workload('StatefulSet', 'apps/v1', { serviceName: 'web', template }), undefined],
    [
      'a LeaderWorkerSet',
      workload('LeaderWorkerSet', 'leaderworkerset.x-k8s.io/v1', {
        leaderWorkerTemplate: { leaderTemplate: template },
      }),
      undefined,
    ],
  ])('%s', async (_what, object, subdomain) => {
    const [pod] = await patches(object, gang, policy);
    expect(pod?.['/spec/containers/0/command']).toEqual([
      '/bin/bash',
      '/etc/flux-config/entrypoint.sh',
      '--',
      'lmp',
    ]);
    expect(pod?.['/spec/subdomain']).toBe(subdomain);
  });

  test.each<[string, JsonObject, string]>([
    ['a Job without indices', workload('Job', 'batch/v1', { template }), 'HpcHostRequired'],
    [
      'a JobSet of another name',
      workload('JobSet', 'jobset.x-k8s.io/v1alpha2', { replicatedJobs: jobs }),
      'HpcHostUnlisted',
    ],
    [
      'a JobSet without DNS',
      workload('JobSet', 'jobset.x-k8s.io/v1alpha2', {
        replicatedJobs: jobs,
        network: { enableDNSHostnames: false },
      }),
      'HpcHostRequired',
    ],
    [
      'a worker of a LeaderWorkerSet',
      workload('LeaderWorkerSet', 'leaderworkerset.x-k8s.io/v1', {
        leaderWorkerTemplate: { workerTemplate: template },
      }),
      'HpcHostUnlisted',
    ],
  ])('%s is refused', async (_what, object, rule) => {
    expect((await review([object, gang, policy])).out).toContain(`[${rule}]`);
  });
});

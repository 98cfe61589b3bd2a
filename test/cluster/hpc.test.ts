/**
 * Gangs that name an HPCPolicy, made by the Job controller and placed by the real scheduler: their Pods are stored as they
 * are prepared, what these mount is there before the first gate is off, and goes with the gang.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MUSTER_USER } from '../../src/api/names.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { manifestsIn } from '../support/manifests.ts';
import { applyAll, untilEstablished } from './support/apply.ts';
import { requestsOf } from './support/audited.ts';
import { JOB_SETS, LEADER_WORKER_SETS } from './support/crds/workloads.ts';
import { GangCluster, KUBE } from './support/gang-cluster.ts';
import { group, type Pod } from './support/gang-objects.ts';
import { untilEachIsUsed } from './support/granted.ts';
import { policiesInForce } from './support/policies-in-force.ts';
import { NAMESPACE } from './support/registered-muster.ts';

const POLICIES = `/apis/muster.dev/v1alpha1/namespaces/${NAMESPACE}/hpcpolicies`;
const START = ['/bin/bash', '/etc/flux-config/entrypoint.sh', '--'];
const ARGV = ['lmp', '-v', 'x y', '*.toml', '$(HOME)'];

interface HpcPod {
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
  readonly spec: {
    readonly hostname: string;
    readonly subdomain: string;
    readonly initContainers: readonly { readonly name: string }[];
    readonly containers: readonly {
      readonly command: readonly string[];
      readonly args?: readonly string[];
    }[];
  };
}

const EXAMPLE = join(import.meta.dirname, '../../docs/examples/hostfile-preparation.ts');
/** The example of docs/preparations.md, which dies of a setting. */
const MORTAL = `import { hostfile } from './hostfile.ts';
console.log('it begins');
export default {
  ...hostfile,
  validate: (settings, gang) => {
    if ('die' in settings) process.exit(3);
    return hostfile.validate(settings, gang);
  },
};`;

clusterSuite('gangs with an HPCPolicy', () => {
  let cluster: GangCluster;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-preparation-'));
    const source = await readFile(EXAMPLE, 'utf8');
    await writeFile(
      join(folder, 'hostfile.ts'),
      source.replace("'../../src/index.ts'", "'@muster-dev/muster'"),
    );
    await writeFile(join(folder, 'mortal.mjs'), MORTAL);
    const preparations = [{ name: 'hostfile', module: join(folder, 'mortal.mjs') }];
    cluster = await GangCluster.start({ webhooks: true, settings: { hpc: { enabled: true, preparations } } });
    // What Muster does must be within the bounds of the policies, too.
    await policiesInForce(cluster.client);
    await cluster.client.ok('POST', POLICIES, policy('flux', { 'tasks-per-node': '2' }));
  }, 120_000);
  afterAll(async () => {
    await cluster?.stop();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  const policy = (name: string, settings: Record<string, string>) => ({
    apiVersion: 'muster.dev/v1alpha1',
    kind: 'HPCPolicy',
    metadata: { name },
    spec: { hpc: { manager: 'flux', settings } },
  });
  const core = (what: string): string => `/api/v1/namespaces/${NAMESPACE}/${what}`;
  const createJob = (name: string, gang: string, count: number, spec: object = {}): Promise<unknown> =>
    cluster.client.ok('POST', `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name },
      spec: {
        completionMode: 'Indexed',
        completions: count,
        parallelism: count,
        template: {
          metadata: {
            labels: {
              'grove.io/podgang': gang,
              'grove.io/podclique': name,
              'grove.io/scheduler-name': 'default-scheduler',
            },
          },
          spec: {
            restartPolicy: 'Never',
            containers: [{ name: 'main', image: 'lammps', command: ARGV.slice(0, 1), args: ARGV.slice(1) }],
            ...spec,
          },
        },
      },
    });
  const hostsOf = async (gang: string): Promise<string> =>
    (
      await cluster.client.ok<{ data: Record<string, string> }>(
        'GET',
        core(`configmaps/${gang}-flux-entrypoint`),
      )
    ).data['hostlist'] ?? '';
  const hpc = { annotations: { 'muster.dev/hpc-policy': 'flux' } };

  test('pitfall 21: a pair of Indexed Jobs is prepared, has what it mounts, starts, keeps its policy, and leaves nothing', async () => {
    await cluster.createGang('lammps', [group('leader', 1), group('worker', 2)], hpc);
    await createJob('leader', 'lammps', 1);
    await createJob('worker', 'lammps', 2);
    await cluster.untilBound('lammps', 3);
    const pods = (await cluster.podsOf('lammps')) as unknown as readonly HpcPod[];
    expect(pods.map(({ spec }) => spec.hostname).sort()).toEqual(['leader-0', 'worker-0', 'worker-1']);
    for (const { metadata, spec } of pods) {
      expect(metadata.annotations['muster.dev/prepared']).toMatch(/^flux@[0-9a-f]{8}$/);
      expect(spec.subdomain).toBe('lammps');
      expect(spec.initContainers.map(({ name }) => name)).toEqual(['flux-installer']);
      expect(spec.containers[0]).toMatchObject({ command: [...START, ...ARGV] });
      expect(spec.containers[0]?.args ?? []).toEqual([]);
    }
    expect(await hostsOf('lammps')).toBe('leader-0,worker-[0-1]\n');
    const lead = pods.find(({ spec }) => spec.hostname === 'leader-0')?.metadata.name ?? '';
    await cluster.kubelet(lead, 'Running', true);
    await until('the lead waits for the others', async () => {
      const { hpc } = await cluster.status('lammps');
      expect(hpc).toMatchObject({
        why: '',
        flux: {
          lead: { host: 'leader-0', pod: lead, state: 'running' },
          ...{ expected: 3, there: 3, ready: 1, quorum: 3 },
          waitsFor: [{ host: 'worker-0' }, { host: 'worker-1' }],
        },
      });
      return true;
    });
    const service = await cluster.client.ok('GET', core('services/lammps'));
    expect(service).toMatchObject({ spec: { clusterIP: 'None', publishNotReadyAddresses: true } });
    interface Secret {
      readonly metadata: { readonly uid: string; readonly annotations: Readonly<Record<string, string>> };
      readonly data: Readonly<Record<string, string>>;
    }
    const secret = await cluster.client.ok<Secret>('GET', core('secrets/lammps-flux-curve'));
    expect(Buffer.from(secret.data['curve.cert'] ?? '', 'base64').toString()).toContain('secret-key = "');
    expect(JSON.stringify(secret.metadata)).not.toContain(secret.data['curve.cert']?.slice(200, 240));

    const asked = await requestsOf(cluster.plane, MUSTER_USER);
    const first = (verb: string, resource: string): number =>
      asked.findIndex((one) => one.verb === verb && one.resource === resource);
    for (const resource of ['configmaps', 'secrets', 'services']) {
      expect(first('create', resource)).toBeGreaterThanOrEqual(0);
      expect(first('create', resource)).toBeLessThan(first('patch', 'pods'));
    }

    await expect(
      cluster.client.ok('PUT', `${POLICIES}/flux`, {
        ...policy('flux', { 'tasks-per-node': '4' }),
        metadata: (await cluster.client.ok<{ metadata: object }>('GET', `${POLICIES}/flux`)).metadata,
      }),
    ).rejects.toThrow(/a PodGang has Pods.*HpcPolicyInUse/);

    // Another pass over the gang, by a process that remembers nothing, leaves the key as it is.
    await cluster.restart();
    await cluster.life('meanwhile');
    expect((await cluster.client.ok<Secret>('GET', core('secrets/lammps-flux-curve'))).data).toEqual(
      secret.data,
    );

    await cluster.removeGang('lammps');
  }, 180_000);

  test('two Indexed Jobs of PyTorch are told their ranks, find each other by a Service that is there before they start, and keep their policy', async () => {
    const torch = (procPerNode: unknown) => ({
      apiVersion: 'muster.dev/v1alpha1',
      kind: 'HPCPolicy',
      metadata: { name: 'torch' },
      spec: { torch: { procPerNode } },
    });
    for (const wrong of ['xpu', 0, '2']) {
      await expect(cluster.client.ok('POST', POLICIES, torch(wrong))).rejects.toThrow(/procPerNode/);
    }
    await cluster.client.ok('POST', POLICIES, torch('auto'));
    const annotations = { 'muster.dev/hpc-policy': 'torch' };
    await cluster.createGang('llm', [group('first', 1), group('others', 2)], { annotations });
    await createJob('first', 'llm', 1);
    await createJob('others', 'llm', 2);
    await cluster.untilBound('llm', 3);
    interface TorchPod {
      readonly spec: HpcPod['spec'] & {
        readonly containers: readonly { readonly env: readonly { name: string; value: string }[] }[];
      };
    }
    const pods = (await cluster.podsOf('llm')) as unknown as readonly (HpcPod & TorchPod)[];
    const told = new Map(
      pods.map(({ spec }) => [
        spec.hostname,
        Object.fromEntries((spec.containers[0]?.env ?? []).map(({ name, value }) => [name, value])),
      ]),
    );
    for (const [hostname, rank] of Object.entries({ 'first-0': '0', 'others-0': '1', 'others-1': '2' })) {
      expect(told.get(hostname)).toEqual({
        MASTER_ADDR: 'first-0.llm',
        MASTER_PORT: '29500',
        WORLD_SIZE: '3',
        RANK: rank,
        PET_NNODES: '3',
        PET_NPROC_PER_NODE: '1',
        PET_NODE_RANK: rank,
        PET_MASTER_ADDR: 'first-0.llm',
        PET_MASTER_PORT: '29500',
      });
    }
    for (const { metadata, spec } of pods) {
      expect(metadata.annotations['muster.dev/prepared']).toMatch(/^torch@[0-9a-f]{8}$/);
      expect(spec).toMatchObject({ subdomain: 'llm' });
      expect(spec.containers[0]).toMatchObject({ command: ARGV.slice(0, 1), args: ARGV.slice(1) });
    }
    const columns = await cluster.plane.kubectl(['-n', NAMESPACE, 'get', 'hpcpolicies', '--no-headers']);
    expect(columns.stdout).toMatch(/^torch +(?:<none> +)?auto +\S+$/m);
    expect(columns.stdout).toMatch(/^flux +flux +(?:<none> +)?\S+$/m);
    expect(await cluster.client.ok('GET', core('services/llm'))).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'PodGang', name: 'llm', controller: true }] },
      spec: { clusterIP: 'None', publishNotReadyAddresses: true, ports: [{ port: 29_500 }] },
    });
    const asked = await requestsOf(cluster.plane, MUSTER_USER);
    const made = asked.findIndex(
      ({ verb, resource, name }) => verb === 'create' && resource === 'services' && name === 'llm',
    );
    const names = new Set(pods.map(({ metadata }) => metadata.name));
    const freed = asked.findIndex(
      ({ verb, resource, name }) => verb === 'patch' && resource === 'pods' && names.has(name),
    );
    expect(made).toBeGreaterThanOrEqual(0);
    expect(made).toBeLessThan(freed);
    for (const what of ['configmaps/llm-flux-entrypoint', 'secrets/llm-flux-curve']) {
      expect((await cluster.client.request('GET', core(what))).status).toBe(404);
    }

    await expect(
      cluster.client.ok('PUT', `${POLICIES}/torch`, {
        ...torch(4),
        metadata: (await cluster.client.ok<{ metadata: object }>('GET', `${POLICIES}/torch`)).metadata,
      }),
    ).rejects.toThrow(/a PodGang has Pods.*HpcPolicyInUse/);
    await cluster.removeGang('llm');
  }, 180_000);

  test('a gang waits, and says why, for a policy that is not there, for a Service that is not fit, and for a Pod of before', async () => {
    await cluster.createGang('early', [group('early', 1)], {
      annotations: { 'muster.dev/hpc-policy': 'later' },
    });
    await cluster.untilCondition('early', 'Initialized', { status: 'False' });
    await until('its policy is missed', async () =>
      (await cluster.status('early')).why.includes('HpcPolicyMissing'),
    );
    await createJob('early', 'early', 1, { subdomain: 'own' });
    await cluster.client.ok('POST', POLICIES, policy('later', {}));
    await until('the Service is missed', async () =>
      (await cluster.status('early')).why.includes('there is no Service own'),
    );
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'own' } };
    const spec = { clusterIP: 'None', publishNotReadyAddresses: true, selector: { a: 'b' } };
    await cluster.client.ok('POST', core('services'), { ...service, spec });
    await cluster.untilBound('early', 1);
    expect(await hostsOf('early')).toBe('early-0\n');

    await createJob('orphan', 'late', 1);
    await until('a Pod before its gang', async () => (await cluster.podsOf('late')).length === 1);
    await cluster.createGang('late', [group('orphan', 1)], hpc);
    await until('the Pod is named', async () =>
      /Pod orphan-0-\w+ is not prepared by HPCPolicy flux/.test((await cluster.status('late')).why),
    );
    const [pod] = await cluster.podsOf('late');
    await cluster.removePod(pod?.metadata.name ?? '');
    await cluster.untilBound('late', 1);
  }, 180_000);

  test('Pods of one group that ask for different amounts hold their gang, which says so; Flux is told what those that agree ask for', async () => {
    await cluster.createGang('uneven', [group('rank', 2)], hpc);
    const create = (hostname: string, cpu: string): Promise<unknown> => {
      const resources = { limits: { cpu }, requests: { cpu: '10m' } };
      const containers = [{ name: 'main', image: 'lammps', command: ARGV, resources }];
      return cluster.createPod('uneven', hostname, 'rank', { spec: { hostname, containers } });
    };
    await create('rank-0', '4');
    await create('rank-1', '2');
    await until('the difference is told', async () =>
      (await cluster.status('uneven')).why.includes(
        'Pods of group rank ask for different amounts (2 cores and 0 GPUs; 4 cores and 0 GPUs)',
      ),
    );
    await cluster.removePod('uneven-rank-1');
    await create('rank-1', '4');
    await cluster.untilBound('uneven', 2);
    const { data } = await cluster.client.ok<{ data: object }>(
      'GET',
      core('configmaps/uneven-flux-entrypoint'),
    );
    expect(data).toMatchObject({ resources: 'rank-[0-1] 2 4 0\n' });
  }, 180_000);

  test('one Indexed Job is a gang; its policy is deleted while it runs, and comes back', async () => {
    await cluster.client.ok('POST', POLICIES, policy('solo', { quorum: '1' }));
    await cluster.createGang('solo', [group('solo', 2)], {
      annotations: { 'muster.dev/hpc-policy': 'solo' },
    });
    await createJob('solo', 'solo', 2);
    await cluster.untilBound('solo', 2);
    expect(await hostsOf('solo')).toBe('solo-[0-1]\n');
    const runs = (await cluster.podsOf('solo')) as unknown as readonly HpcPod[];
    const follower = runs.find(({ spec }) => spec.hostname === 'solo-1')?.metadata.name ?? '';

    await cluster.client.ok('DELETE', `${POLICIES}/solo`);
    await cluster.removePod(follower);
    await until('what runs goes on, and its lack is told', async () => {
      const { hpc, pods } = await cluster.status('solo');
      return (
        pods.length === 1 &&
        /^HPCPolicy solo was deleted under its Pods: those that run go on/.test(hpc?.why ?? '')
      );
    });
    await expect(cluster.client.ok('POST', POLICIES, policy('solo', { quorum: '2' }))).rejects.toThrow(
      /a PodGang run by one of this name with other settings.*HpcPolicyInUse/,
    );
    // Past the webhook.
    const configuration = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/muster';
    const { webhooks } = await cluster.client.ok<{ webhooks: { name: string }[] }>('GET', configuration);
    const position = webhooks.findIndex(({ name }) => name === 'hpcpolicies.muster.dev');
    const patch = (operation: object): Promise<unknown> =>
      cluster.client.ok('PATCH', configuration, [operation], { contentType: 'application/json-patch+json' });
    const place = `/webhooks/${position}`;
    await patch({ op: 'remove', path: place });
    await until('nobody is asked about HPCPolicies', async () => {
      const { status } = await cluster.client.request('POST', POLICIES, policy('solo', { quorum: '2' }));
      return status === 201;
    });
    await patch({ op: 'add', path: place, value: webhooks[position] });
    await until('no Pod comes beside those that run', async () =>
      (await cluster.status('solo')).hpc?.why.includes('HpcPolicyReplaced'),
    );
    const labels = { 'grove.io/podgang': 'solo', 'grove.io/podclique': 'solo' };
    const containers = [{ name: 'main', image: 'lammps', command: ARGV }];
    await until('a Pod is refused', async () => {
      const beside = { metadata: { name: 'solo-1', labels }, spec: { containers } };
      const { body } = await cluster.client.request('POST', core('pods?dryRun=All'), beside);
      return JSON.stringify(body).includes('HpcPolicyReplaced');
    });
    expect((await cluster.podsOf('solo')).length).toBe(1);
    const { data } = await cluster.client.ok<{ data: object }>(
      'GET',
      core('configmaps/solo-flux-entrypoint'),
    );
    expect(data).toMatchObject({ quorum: '1\n' });
    await cluster.client.ok('DELETE', `${POLICIES}/solo`);
    // As it was: a new Pod of that host is prepared as the one before, and let go.
    await cluster.client.ok('POST', POLICIES, policy('solo', { quorum: '1' }));
    // The controller of the Job, which waits longer after each refusal, looks at it when it changes.
    const job = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs/solo`;
    await until('its Job has another Pod', async () => {
      const annotations = { look: String(Date.now()) };
      await cluster.client.ok('PATCH', job, { metadata: { annotations } });
      return (await cluster.podsOf('solo')).length === 2;
    });
    await cluster.untilBound('solo', 2);
    expect((await cluster.status('solo')).hpc).toMatchObject({ why: '', flux: { there: 2, expected: 2 } });
  }, 180_000);

  test('scale-out, a replaced follower, scale-in and another lead: each new Pod is prepared as its host was before, and no object changes', async () => {
    const annotations = { ...hpc.annotations, 'muster.dev/expected-pods': 'crew=3' };
    await cluster.createGang('swell', [group('chief', 1), group('crew', 1)], { annotations });
    const labels = {
      'grove.io/podgang': 'swell',
      'grove.io/podclique': 'crew',
      'grove.io/scheduler-name': 'default-scheduler',
    };
    const containers = [{ name: 'main', image: 'lammps', command: ARGV }];
    const sets = `/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets`;
    await cluster.client.ok('POST', sets, {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'crew' },
      spec: {
        replicas: 3,
        podManagementPolicy: 'Parallel',
        serviceName: 'swell',
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    });
    const scale = (replicas: number): Promise<unknown> =>
      cluster.client.ok(
        'PATCH',
        `${sets}/crew`,
        { spec: { replicas } },
        { contentType: 'application/merge-patch+json' },
      );
    const leads = (name: string): Promise<unknown> =>
      cluster.createPod('swell', name, 'chief', {
        spec: { hostname: 'chief-0', restartPolicy: 'Never', containers },
      });
    await leads('chief-0');
    await cluster.untilBound('swell', 4);
    interface Whole {
      readonly metadata: Pod['metadata'] & HpcPod['metadata'];
      readonly spec: HpcPod['spec'];
    }
    const podOf = (name: string): Promise<Whole> => cluster.client.ok<Whole>('GET', core(`pods/${name}`));
    /** What the policy says of a Pod: all but who it is and where. */
    const prepared = ({ metadata, spec }: Whole) => ({
      mark: metadata.annotations['muster.dev/prepared'],
      ...(({ hostname: _, nodeName: __, ...rest }) => rest)({ nodeName: '', ...spec }),
    });
    const objects = (): Promise<readonly unknown[]> =>
      Promise.all(
        ['configmaps/swell-flux-entrypoint', 'secrets/swell-flux-curve', 'services/swell'].map(
          async (what) => {
            const { metadata } = await cluster.client.ok<{ metadata: Pod['metadata'] }>('GET', core(what));
            return [what, metadata.uid, metadata.resourceVersion];
          },
        ),
      );
    const running = async (...names: string[]): Promise<void> => {
      for (const name of names) await cluster.kubelet(name, 'Running', true);
    };
    const untilPlaced = (name: string): Promise<unknown> =>
      until(`${name} is on a node`, async () =>
        (await cluster.podsOf('swell')).some(
          ({ metadata, spec }) => metadata.name === name && spec.nodeName !== undefined,
        ),
      );
    const brokers = async () => (await cluster.status('swell')).hpc?.flux;
    expect(await hostsOf('swell')).toBe('chief-0,crew-[0-2]\n');
    const made = await objects();
    await running('swell-chief-0', 'crew-0');
    await running('swell-chief-0', 'crew-0', 'crew-1', 'crew-2');
    const [chief, first, second] = [
      await podOf('swell-chief-0'),
      await podOf('crew-0'),
      await podOf('crew-1'),
    ];
    for (const one of [second, await podOf('crew-2')]) expect(prepared(one)).toEqual(prepared(first));

    await scale(1);
    for (const name of ['crew-2', 'crew-1']) {
      await until(`${name} is to end`, async () => 'deletionTimestamp' in (await podOf(name)).metadata);
      await cluster.removePod(name);
    }
    const missing = (host: string) => ({ host, pod: '', state: 'missing' });
    await until('its minimum runs, and those that may come are named', async () => {
      expect(await brokers()).toMatchObject({
        ...{ lead: { state: 'running' }, expected: 4, there: 2, ready: 2, quorum: 2 },
        waitsFor: [missing('crew-1'), missing('crew-2')],
      });
      return true;
    });
    await cluster.untilCondition('swell', 'Unhealthy', { status: 'False' });

    await scale(2);
    await cluster.untilBound('swell', 3);
    const again = await podOf('crew-1');
    expect(again.metadata.uid).not.toBe(second.metadata.uid);
    expect(prepared(again)).toEqual(prepared(second));
    await running('crew-1');
    await cluster.removePod('crew-1');
    await until('its follower is there', async () => {
      const { metadata, spec } = await podOf('crew-1');
      return metadata.uid !== again.metadata.uid && 'nodeName' in spec;
    });
    expect(prepared(await podOf('crew-1'))).toEqual(prepared(second));
    expect((await podOf('crew-1')).spec.hostname).toBe('crew-1');
    await running('crew-1');
    for (const before of [chief, first]) {
      const { uid, resourceVersion } = (await podOf(before.metadata.name)).metadata;
      expect([uid, resourceVersion]).toEqual([before.metadata.uid, before.metadata.resourceVersion]);
    }
    // No host of that name is in the list of those that run.
    await expect(
      cluster.createPod('swell', 'beyond', 'crew', { spec: { hostname: 'crew-3', containers } }),
    ).rejects.toThrow(/group crew has 3 hosts.*HpcHostUnlisted/);

    await cluster.kubelet('swell-chief-0', 'Failed', false);
    await until('the death of the lead is told', async () => (await brokers())?.lead.state === 'failed');
    await cluster.untilCondition('swell', 'Unhealthy', { status: 'True' });
    // A follower that comes meanwhile joins those that run: gates alone count nothing, and its broker waits for the lead.
    await scale(3);
    await untilPlaced('crew-2');
    expect(prepared(await podOf('crew-2'))).toEqual(prepared(second));
    await until('who is missing is said', async () => {
      expect(await cluster.status('swell')).toMatchObject({
        why: expect.stringContaining('fewer Pods than the minimum: chief 0/1'),
        pods: expect.arrayContaining([expect.objectContaining({ name: 'crew-2', state: 'starting' })]),
        hpc: { why: '', flux: { lead: { pod: 'swell-chief-0', state: 'failed' }, there: 4 } },
      });
      return true;
    });
    await leads('chief-0-again');
    await untilPlaced('swell-chief-0-again');
    expect(prepared(await podOf('swell-chief-0-again'))).toEqual(prepared(chief));
    await running('swell-chief-0-again', 'crew-2');
    await until('all are led again', async () => {
      expect(await brokers()).toMatchObject({
        lead: { host: 'chief-0', pod: 'swell-chief-0-again', state: 'running' },
        ...{ there: 4, ready: 4, waitsFor: [] },
      });
      return true;
    });
    await cluster.untilCondition('swell', 'Unhealthy', { status: 'False' });
    expect(await objects()).toEqual(made);
  }, 180_000);

  test('a gang of a module’s manager is prepared by it, has its objects before it starts, and is held while the module is down', async () => {
    const mpi = (name: string, settings: Record<string, string>, manager = 'hostfile') => ({
      ...policy(name, {}),
      spec: { hpc: { manager, settings } },
    });
    const refused = (made: object) => expect(cluster.client.ok('POST', POLICIES, made)).rejects;
    await refused(mpi('mpi', { slots: 'many' })).toThrow(/settings\[slots\].*from 1 to 9999/);
    await refused(mpi('mpi', {}, 'hostfle')).toThrow(/known: flux, hostfile; did you mean/);
    await refused(mpi('mpi', {}, 'Host file')).toThrow(/spec\.hpc\.manager/);
    await cluster.client.ok('POST', POLICIES, mpi('mpi', { slots: '4' }));
    const annotations = { 'muster.dev/hpc-policy': 'mpi' };
    await cluster.createGang('ring', [group('ringer', 2)], { annotations });
    await createJob('ringer', 'ring', 2);
    await cluster.untilBound('ring', 2);
    const pods = (await cluster.podsOf('ring')) as unknown as readonly HpcPod[];
    for (const { metadata, spec } of pods) {
      expect(metadata.annotations['muster.dev/prepared']).toMatch(/^mpi@[0-9a-f]{8}$/);
      expect(JSON.stringify(spec)).toContain('"configMap":{"name":"ring-hostfile"');
      expect(JSON.stringify(spec)).toContain('"value":"/etc/hostfile/hosts"');
      expect(spec).toMatchObject({
        subdomain: 'ring',
        containers: [{ command: ARGV.slice(0, 1), args: ARGV.slice(1) }],
      });
    }
    const { uid } = (await cluster.gang('ring')).metadata;
    const owned = { ownerReferences: [{ kind: 'PodGang', name: 'ring', uid, controller: true }] };
    expect(await cluster.client.ok('GET', core('configmaps/ring-hostfile'))).toMatchObject({
      metadata: owned,
      data: { hosts: 'ringer-0.ring slots=4\nringer-1.ring slots=4\n' },
    });
    expect(await cluster.client.ok('GET', core('services/ring'))).toMatchObject({ metadata: owned });
    const asked = await requestsOf(cluster.plane, MUSTER_USER);
    const names = new Set(pods.map(({ metadata }) => metadata.name));
    const freed = asked.findIndex(
      ({ verb, resource, name }) => verb === 'patch' && resource === 'pods' && names.has(name),
    );
    for (const [resource, made] of [
      ['configmaps', 'ring-hostfile'],
      ['services', 'ring'],
    ]) {
      const at = asked.findIndex(
        (one) => one.verb === 'create' && one.resource === resource && one.name === made,
      );
      expect([made, at >= 0 && at < freed]).toEqual([made, true]);
    }
    await cluster.removeGang('ring');

    // Whole but for an object that is somebody else's, so that it waits with all of its Pods.
    const inTheWay = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'held-hostfile' } };
    await cluster.client.ok('POST', core('configmaps'), inTheWay);
    await cluster.createGang('held', [group('held', 2)], { annotations });
    for (const hostname of ['held-0', 'held-1'])
      await cluster.createPod('held', hostname, 'held', { spec: { hostname } });
    const why = async (): Promise<string> => (await cluster.status('held')).why;
    await until('what is in the way is told', async () => (await why()).includes('held-hostfile'));
    await writeFile(join(folder, 'mortal.mjs'), "throw new Error('no licence today');");
    await refused(mpi('deadly', { die: 'now' })).toThrow();
    await until('the gang says that its module is down', async () =>
      (await why()).includes('preparation hostfile does not run: '),
    );
    await cluster.client.ok('DELETE', core('configmaps/held-hostfile'));
    await expect(
      cluster.createPod('held', 'further', 'held', { spec: { hostname: 'held-1' } }),
    ).rejects.toThrow('failed calling webhook "pods.muster.dev"');
    await until('and why', async () => (await why()).includes('does not load: no licence today'));
    interface Gated {
      readonly spec: { readonly schedulingGates?: readonly object[] };
    }
    const gated = (await cluster.podsOf('held')) as unknown as readonly Gated[];
    expect(gated.map(({ spec }) => spec.schedulingGates?.length)).toEqual([1, 1]);
    await writeFile(join(folder, 'mortal.mjs'), MORTAL);
    await until('it runs again', async () => !(await why()).includes('does not run'), { withinMs: 90_000 });
    await cluster.untilBound('held', 2);
  }, 300_000);

  test('an Indexed Job, a JobSet and a LeaderWorkerSet whose templates have label and annotation alone are prepared, their gangs made and started; what contradicts that is refused', async () => {
    const metadata = {
      labels: { 'muster.dev/gang': 'true', ...KUBE },
      annotations: { 'muster.dev/hpc-policy': 'flux' },
    };
    const containers = [{ name: 'main', image: 'lammps', command: ARGV }];
    const template = { metadata, spec: { restartPolicy: 'Never', containers } };
    const jobs = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
    const indexed = (pods: object, count: number): object => ({
      ...{
        completionMode: 'Indexed',
        completions: count,
        parallelism: count,
        backoffLimit: 0,
        template: pods,
      },
    });
    const jobOf = (name: string, spec: object, more: object = {}) => ({
      ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name, ...more }, spec },
    });
    const untilPrepared = async (
      gang: string,
      hosts: readonly string[],
      subdomain: string,
    ): Promise<void> => {
      await cluster.untilBound(gang, hosts.length);
      const pods = (await cluster.podsOf(gang)) as unknown as readonly HpcPod[];
      expect(pods.map(({ spec }) => spec.hostname).sort()).toEqual(hosts);
      for (const { metadata: of, spec } of pods) {
        expect(of.annotations['muster.dev/prepared']).toMatch(/^flux@[0-9a-f]{8}$/);
        expect(spec).toMatchObject({ subdomain, initContainers: [{ name: 'flux-installer' }] });
        expect(spec.containers[0]).toMatchObject({ command: [...START, ...ARGV] });
      }
      const names = new Set(pods.map(({ metadata: of }) => of.name));
      const asked = await requestsOf(cluster.plane, MUSTER_USER);
      const freed = asked.findIndex(
        ({ verb, resource, name }) => verb === 'patch' && resource === 'pods' && names.has(name),
      );
      const objects = { configmaps: `${gang}-flux-entrypoint`, secrets: `${gang}-flux-curve` };
      for (const [resource, made] of Object.entries(objects)) {
        const at = asked.findIndex(
          (one) => one.verb === 'create' && one.resource === resource && one.name === made,
        );
        expect([made, at >= 0 && at < freed]).toEqual([made, true]);
      }
    };

    await cluster.client.ok('POST', jobs, jobOf('ocean', indexed(template, 3)));
    await untilPrepared('job-ocean', ['ocean-0', 'ocean-1', 'ocean-2'], 'job-ocean');
    expect(await cluster.gang('job-ocean')).toMatchObject({
      metadata: {
        annotations: {
          'muster.dev/hpc-policy': 'flux',
          'muster.dev/hosts': 'main=ocean-[0-2]',
          'muster.dev/workload': 'job/ocean',
        },
      },
    });
    expect(await hostsOf('job-ocean')).toBe('ocean-[0-2]\n');
    expect(await cluster.client.ok('GET', core('services/job-ocean'))).toMatchObject({
      spec: { clusterIP: 'None', publishNotReadyAddresses: true },
    });
    const [lead] = (await cluster.podsOf('job-ocean')).filter(({ metadata: of }) =>
      of.name.startsWith('ocean-0-'),
    );
    await cluster.kubelet(lead?.metadata.name ?? '', 'Running', true);
    await until('its lead is told', async () => {
      expect(await cluster.status('job-ocean')).toMatchObject({
        hpc: { why: '', flux: { lead: { host: 'ocean-0', state: 'running' }, expected: 3, quorum: 3 } },
      });
      return true;
    });

    // A template whose gang has been made by a Job that names another policy.
    await cluster.client.ok('POST', POLICIES, policy('other', {}));
    await cluster.client.ok('POST', POLICIES, { ...policy('ranks', {}), spec: { torch: {} } });
    const others = {
      ...template,
      metadata: { ...metadata, annotations: { 'muster.dev/hpc-policy': 'other' } },
    };
    const { uid } = (await cluster.client.ok<{ metadata: { uid: string } }>('GET', `${jobs}/ocean`)).metadata;
    await expect(
      cluster.client.ok('POST', core('pods'), {
        ...{ apiVersion: 'v1', kind: 'Pod', spec: { ...others.spec, hostname: 'ocean-0' } },
        metadata: {
          ...{ name: 'ocean-0-foreign', ...others.metadata },
          labels: { ...others.metadata.labels, 'batch.kubernetes.io/job-name': 'ocean' },
          ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'ocean', uid, controller: true }],
        },
      }),
    ).rejects.toThrow(/another HPCPolicy, or none \(it has flux\).*HpcPolicyForeign/);

    const bad = {
      metadata: { ...metadata, annotations: { 'muster.dev/hpc-policy': 'ranks' } },
      spec: template.spec,
    };
    await cluster.client.ok('POST', jobs, jobOf('unmade', indexed(bad, 2)));
    await until('the Job says why it has no Pods', async () => {
      const { items } = await cluster.client.ok<{ items: { message?: string; note?: string }[] }>(
        'GET',
        core('events?fieldSelector=involvedObject.name=unmade'),
      );
      return JSON.stringify(items).includes('HpcGangUnmade');
    });

    const definitions = [JOB_SETS, LEADER_WORKER_SETS] as never;
    await applyAll(cluster.client, definitions);
    await untilEstablished(cluster.client, definitions);
    await applyAll(cluster.client, await manifestsIn('components/workloads'));
    const owned = async (group: string, kind: string, name: string, spec: object): Promise<object> => {
      const plural = `${kind.toLowerCase()}s`;
      const object = { apiVersion: group, kind, metadata: { name }, spec };
      const path = `/apis/${group}/namespaces/${NAMESPACE}/${plural}`;
      const made = await cluster.client.ok<{ metadata: { uid: string } }>('POST', path, object);
      const headless = { clusterIP: 'None', publishNotReadyAddresses: true, selector: { a: 'b' } };
      const service = { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: headless };
      await cluster.client.ok('POST', core('services'), service);
      return { apiVersion: group, kind, name, uid: made.metadata.uid, controller: true };
    };
    const labelled = (labels: object, spec: object): object => ({
      metadata: { ...metadata, labels: { ...metadata.labels, ...labels } },
      spec: { ...template.spec, ...spec },
    });

    const children = { template: { spec: indexed(template, 2) } };
    const wave = await owned('jobset.x-k8s.io/v1alpha2', 'JobSet', 'wave', {
      replicatedJobs: [{ name: 'node', replicas: 2, ...children }],
    });
    for (const index of ['0', '1']) {
      const labels = {
        'jobset.sigs.k8s.io/jobset-name': 'wave',
        'jobset.sigs.k8s.io/jobset-uid': (wave as { uid: string }).uid,
        'jobset.sigs.k8s.io/replicatedjob-name': 'node',
        'jobset.sigs.k8s.io/job-index': index,
      };
      const spec = indexed(labelled(labels, { subdomain: 'wave' }), 2);
      await cluster.client.ok('POST', jobs, jobOf(`wave-node-${index}`, spec, { ownerReferences: [wave] }));
    }
    const waves = ['wave-node-0-0', 'wave-node-0-1', 'wave-node-1-0', 'wave-node-1-1'];
    await untilPrepared('jobset-wave', waves, 'wave');
    expect(await hostsOf('jobset-wave')).toBe('wave-node-0-[0-1],wave-node-1-[0-1]\n');

    const grid = await owned('leaderworkerset.x-k8s.io/v1', 'LeaderWorkerSet', 'grid', {
      replicas: 1,
      leaderWorkerTemplate: { size: 3, workerTemplate: template },
    });
    const LWS = 'leaderworkerset.sigs.k8s.io';
    const setOf = (name: string, replicas: number, start: number, owner: object): Promise<unknown> => {
      const labels = { [`${LWS}/name`]: 'grid', [`${LWS}/group-index`]: '0', set: name };
      return cluster.client.ok('POST', `/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets`, {
        ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name, ownerReferences: [owner] } },
        spec: {
          ...{ replicas, serviceName: 'grid', podManagementPolicy: 'Parallel', ordinals: { start } },
          selector: { matchLabels: { set: name } },
          template: labelled(labels, { restartPolicy: 'Always' }),
        },
      });
    };
    await setOf('grid', 1, 0, grid);
    await setOf('grid-0', 2, 1, grid);
    await untilPrepared('lws-grid--0', ['grid-0', 'grid-0-1', 'grid-0-2'], 'grid');
    expect(await hostsOf('lws-grid--0')).toBe('grid-0,grid-0-[1-2]\n');

    for (const name of ['ocean', 'unmade'])
      await cluster.client.ok('DELETE', `${jobs}/${name}`, undefined, {
        query: { propagationPolicy: 'Background' },
      });
  }, 240_000);

  test('what the first gangs had is gone with them', async () => {
    // The garbage collector takes a while where the definition of PodGangs is new to it.
    await until(
      'what the gang had is gone',
      async () => {
        const gone = await Promise.all(
          [
            'configmaps/lammps-flux-entrypoint',
            'secrets/lammps-flux-curve',
            'services/lammps',
            'services/llm',
            'configmaps/ring-hostfile',
            'services/ring',
          ].map(async (what) => (await cluster.client.request('GET', core(what))).status === 404),
        );
        return gone.every(Boolean);
      },
      { withinMs: 90_000 },
    );
  }, 120_000);

  test('each right of its component is used', async () => {
    await cluster.muster.terminate();
    // Services are put right by the code that puts ConfigMaps right.
    await untilEachIsUsed(cluster.plane, 'components/hpc', (right) => right === 'patch services');
  }, 90_000);
});

/** Queues in front of Karmada's schedulers, on a real API server with the shapes of Karmada's definitions. */
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import type { DoctorReport } from '../../src/cli/doctor/render.ts';
import { inLength } from '../support/length.ts';
import { calledOnLoopback, manifestsIn } from '../support/manifests.ts';
import { metricsAt } from '../support/observed.ts';
import type { Serving } from '../support/serving.ts';
import type { Client, KubeList, KubeObject } from './control-plane/client.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { applyAll, untilEstablished } from './support/apply.ts';
import {
  clusterResourceBindings,
  fleetClusters,
  interpreterWebhookConfigurations,
  resourceBindings,
} from './support/crds/karmada.ts';
import { propagationPolicies } from './support/crds/karmada-policies.ts';
import { untilEachIsUsed } from './support/granted.ts';
import { STEADY_LEASE } from './support/looping-muster.ts';
import { verb } from './support/muster-cli.ts';
import { withMuster, type OnMuster } from './support/with-muster.ts';

jest.setTimeout(120_000);

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const BINDINGS = '/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings';
const WIDE_BINDINGS = '/apis/work.karmada.io/v1alpha2/clusterresourcebindings';
const QUEUES = '/apis/muster.dev/v1alpha1/fleetqueues';
const JOBS = '/apis/batch/v1/namespaces/default/jobs';
const POLICIES = '/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies';
const INTERPRETERS = 'resourceinterpreterwebhookconfigurations';
const QUEUE = 'muster.dev/fleet-queue';
const TERMS = 'muster.dev/fleet-terms';
/** Until room is kept for a binding (s): longer than a busy machine takes to let another one pass it. */
const RESERVE = 10;
const SETTINGS = {
  scheduler: { profiles: [{ name: 'default-scheduler' }] },
  leaderElection: STEADY_LEASE,
  logLevel: 'debug',
  fleet: { queues: { enabled: true, reserveAfter: `${RESERVE}s` } },
};

interface Binding extends KubeObject {
  readonly spec: {
    readonly suspension?: { readonly scheduling?: boolean; readonly dispatching?: boolean };
  };
}
interface Queue extends KubeObject {
  readonly status?: {
    readonly waiting: number;
    readonly through: number;
    readonly used: Readonly<Record<string, string>>;
    readonly releasing: readonly string[];
    readonly conditions: readonly { readonly reason: string; readonly message: string }[];
  };
}

clusterSuite('queues of a fleet, on a real API server', () => {
  let on: OnMuster;
  let client: Client;

  /** The webhook as it ships, but for where Muster is. */
  const register = async (port: number): Promise<void> => {
    const shipped = calledOnLoopback(await manifestsIn('karmada/queues'), port, on.certificates.ca);
    await applyAll(client, shipped);
    await untilEstablished(
      client,
      shipped.filter(({ kind }) => kind === 'CustomResourceDefinition'),
    );
  };
  const untilCalled = (): Promise<boolean> =>
    until('the API server calls Muster', async () => {
      const answer = await client.request<Binding>('POST', BINDINGS, bindingOf('probe'), {
        query: { dryRun: 'All' },
      });
      return answer.status === 201 && isHeld(answer.body);
    });
  const bindingOf = (name: string, spec: object = {}, annotations: object = {}): object => ({
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { name, annotations },
    spec: {
      resource: { apiVersion: 'batch/v1', kind: 'Job', namespace: 'default', name },
      replicas: 1,
      replicaRequirements: { resourceRequest: { cpu: '1' } },
      placement: { clusterAffinity: {} },
      ...spec,
    },
  });
  const createJob = (name: string, annotations: Record<string, string>): Promise<KubeObject> =>
    client.ok('POST', JOBS, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name, annotations },
      spec: {
        suspend: true,
        template: {
          spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example/train:1' }] },
        },
      },
    });
  /** As Karmada's detector does: a workload, then its binding, which has none of the workload's annotations. */
  const create = async (name: string, queue: string, spec: object = {}): Promise<Binding> => {
    await createJob(name, queue === '' ? {} : { [QUEUE]: queue });
    return client.ok<Binding>('POST', BINDINGS, bindingOf(name, spec));
  };
  const createQueue = (name: string, spec: object = {}): Promise<Queue> =>
    client.ok<Queue>('POST', QUEUES, {
      apiVersion: 'muster.dev/v1alpha1',
      kind: 'FleetQueue',
      metadata: { name },
      spec,
    });
  const get = (name: string): Promise<Binding> => client.ok<Binding>('GET', `${BINDINGS}/${name}`);
  const queue = async (name: string): Promise<Queue> => client.ok<Queue>('GET', `${QUEUES}/${name}`);
  const isHeld = ({ spec }: Binding): boolean => spec.suspension?.scheduling === true;
  const list = async (): Promise<readonly Binding[]> =>
    (await client.ok<KubeList<Binding>>('GET', BINDINGS)).items;
  const namesOf = (bindings: readonly Binding[]): string[] =>
    bindings.map(({ metadata }) => metadata.name).sort();
  const untilThrough = (...names: string[]): Promise<unknown> =>
    until(`${names.join()} and no other is through`, async () => {
      expect(namesOf((await list()).filter((one) => !isHeld(one)))).toEqual(names);
      return true;
    });
  const untilQueue = (name: string, status: object): Promise<unknown> =>
    until(`queue ${name} says so`, async () => {
      expect((await queue(name)).status).toMatchObject(status);
      return true;
    });
  const reasons = async (name: string): Promise<string[]> => {
    const { items } = await client.ok<KubeList<KubeObject & { regarding: { name: string } }>>(
      'GET',
      '/apis/events.k8s.io/v1/events',
    );
    return items.filter(({ regarding }) => regarding.name === name).flatMap(({ reason }) => reason ?? []);
  };
  const metric = async ({ metricsPort }: Serving, name: string): Promise<string | undefined> => {
    const text = await metricsAt(metricsPort);
    return text.split('\n').find((line) => line.startsWith(`${name} `));
  };

  beforeAll(async () => {
    on = await withMuster({ muster: 'none', plane: { auditPolicy: 'Metadata' } });
    ({ client } = on.plane);
    const definitions = [
      ...[resourceBindings, clusterResourceBindings, propagationPolicies, fleetClusters],
      interpreterWebhookConfigurations,
    ];
    for (const one of definitions) await client.ok('POST', DEFINITIONS, one);
    await untilEstablished(client, definitions as never);
    // Every binding in it waits, in this queue where it names no other.
    const labels = { [QUEUE]: 'everybody' };
    await client.ok('PATCH', '/api/v1/namespaces/default', { metadata: { labels } });
    await register(1);
    const muster = await on.start(SETTINGS);
    await on.put(muster);
    await register(muster.port);
    await untilCalled();
  }, 180_000);
  afterAll(() => on?.close(), 60_000);

  afterEach(async () => {
    for (const collection of [BINDINGS, WIDE_BINDINGS, QUEUES, JOBS, POLICIES]) {
      await client.ok('DELETE', collection, undefined, { query: { propagationPolicy: 'Background' } });
      await until(
        'it is empty',
        async () => (await client.ok<KubeList>('GET', collection)).items.length === 0,
      );
    }
  });

  test('a binding waits in the queue that its policy names, and goes on with what else its suspension says', async () => {
    await client.ok('POST', POLICIES, {
      apiVersion: 'policy.karmada.io/v1alpha1',
      kind: 'PropagationPolicy',
      metadata: {
        name: 'train',
        annotations: { [QUEUE]: 'research', 'muster.dev/custom-scheduling-strategy': 'gang-divided' },
      },
    });
    await createJob('train', {});
    const annotations = {
      'propagationpolicy.karmada.io/namespace': 'default',
      'propagationpolicy.karmada.io/name': 'train',
    };
    const made = await client.ok<Binding>(
      'POST',
      BINDINGS,
      bindingOf('train', { suspension: { dispatching: true } }, annotations),
    );
    // In the answer to the creation already: no scheduler ever sees it free.
    expect(made.spec.suspension).toEqual({ dispatching: true, scheduling: true });
    const waiting = await until('its queue is known', async () => {
      const binding = await get('train');
      return binding.metadata.annotations?.[QUEUE] === 'research' && binding;
    });
    expect(waiting.metadata.annotations).toEqual({
      ...annotations,
      ...{ [QUEUE]: 'research', 'muster.dev/custom-scheduling-strategy': 'gang-divided' },
    });
    expect(isHeld(waiting)).toBe(true);
    await createQueue('research', { capacity: { cpu: '4' } });
    await untilThrough('train');
    expect((await get('train')).spec.suspension).toEqual({ dispatching: true, scheduling: false });
    await untilQueue('research', { waiting: 0, through: 1, used: { cpu: '1' }, releasing: [] });
    await until('its Events tell', async () => {
      expect(await reasons('train')).toEqual(expect.arrayContaining(['Queued', 'LetThrough']));
      return true;
    });
    await until('its metrics tell', async () => {
      for (const [name, value] of Object.entries({ through: 1, waiting: 0, released_total: 1 }))
        expect(await metric(on.muster, `muster_fleet_queue_${name}`)).toBe(
          `muster_fleet_queue_${name} ${value}`,
        );
      return true;
    });
  });

  test('who names no queue waits in that of its namespace; what a workload depends on was never held', async () => {
    expect(isHeld(await create('free', ''))).toBe(true);
    await until(
      'its queue is known',
      async () => (await get('free')).metadata.annotations?.[QUEUE] === 'everybody',
    );
    await createQueue('everybody');
    const configuration = bindingOf('settings', { placement: undefined, replicas: 0 });
    expect(isHeld(await client.ok<Binding>('POST', BINDINGS, configuration))).toBe(false);
    // Nor is what runs no Pods, though it has a placement.
    const settled = bindingOf('placed-settings', { replicas: 0, replicaRequirements: undefined });
    expect(isHeld(await client.ok<Binding>('POST', BINDINGS, settled))).toBe(false);
    await untilThrough('free', 'placed-settings', 'settings');
    // What has no namespace waits for nobody.
    const wide = { ...bindingOf('free'), kind: 'ClusterResourceBinding' };
    expect(isHeld(await client.ok<Binding>('POST', WIDE_BINDINGS, wide))).toBe(false);
    // One that was held all the same, as before namespaces had a say, is let go.
    const resource = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'default', name: 'free' };
    const suspended = { resource, suspension: { scheduling: true } };
    const before = bindingOf('before', suspended, { [TERMS]: 'unread' });
    await client.ok('POST', WIDE_BINDINGS, { ...before, kind: 'ClusterResourceBinding' });
    await until(
      'it is through',
      async () => !isHeld(await client.ok<Binding>('GET', `${WIDE_BINDINGS}/before`)),
    );
  });

  test('whose workload is not there waits for it', async () => {
    await client.ok('POST', BINDINGS, bindingOf('orphan'));
    await until('it is told', async () => (await reasons('orphan')).includes('WorkloadUnread'));
    expect(isHeld(await get('orphan'))).toBe(true);
  });

  test('of a kind that Muster may not read: it waits, and its Event says which right is missing', async () => {
    const resource = { apiVersion: 'v1', kind: 'Secret', namespace: 'default', name: 'other' };
    await client.ok('POST', BINDINGS, bindingOf('other', { resource }));
    await until('it is told', async () => {
      const { items } = await client.ok<KubeList<KubeObject & { note?: string }>>(
        'GET',
        '/apis/events.k8s.io/v1/namespaces/default/events',
      );
      return items.some(({ note = '' }) =>
        /secrets "other" is forbidden.*; give Muster's account there/.test(note),
      );
    });
    expect(isHeld(await get('other'))).toBe(true);
  });

  test('as many as there is room for, by priority; the next one as room comes; people see why', async () => {
    await createQueue('org', { capacity: { cpu: '2' } });
    await createQueue('team', { parent: 'org', hold: true });
    for (const [name, priority] of [
      ['low', 0],
      ['mid', 5],
      ['high', 9],
    ] as const)
      await create(name, 'team', { schedulePriority: { priority } });
    await untilQueue('team', { waiting: 3, through: 0, conditions: [{ reason: 'OnHold' }] });
    await until('those that wait are counted', async () => {
      expect(await metric(on.muster, 'muster_fleet_queue_waiting')).toBe('muster_fleet_queue_waiting 3');
      return true;
    });
    await client.ok('PATCH', `${QUEUES}/team`, { spec: { hold: false } });
    await untilThrough('high', 'mid');
    await untilQueue('org', { used: { cpu: '2' }, conditions: [{ reason: 'Open' }] });
    const file = await on.plane.kubeconfigFor('system:admin', ['system:masters']);
    const shown = await verb(['status', '--fleet', '--kubeconfig', file, '-o', 'json']);
    expect(JSON.parse(shown.out)).toMatchObject({
      queues: [
        { name: 'org', capacity: { cpu: '2' }, used: { cpu: '2' }, closed: null },
        { name: 'team', parent: 'org', waiting: 1, through: 2 },
      ],
      waiting: [
        {
          ...{ namespace: 'default', name: 'low', workload: 'batch/v1 Job low', queue: 'team', position: 1 },
          why: expect.stringMatching(/^queue "org" has 0 of 2 cpu left, and 1 are needed/),
        },
      ],
    });
    const text = (await verb(['status', '--fleet', '--kubeconfig', file])).out;
    expect(text).toMatch(
      /^QUEUE +PARENT +WEIGHT +WAITING +THROUGH +USED\norg +- +1 +0 +0 +2 of 2 cpu\nteam +org/,
    );
    expect(text).toMatch(/\nteam +1 +default\/low +\S+ +queue "org" has 0 of 2 cpu left/);
    // One comes to its end: what it had is free, though its binding stays.
    const status = {
      aggregatedStatus: [
        { clusterName: 'm1', status: { conditions: [{ type: 'Complete', status: 'True' }] } },
      ],
    };
    await client.ok('PATCH', `${BINDINGS}/mid`, { spec: { clusters: [{ name: 'm1', replicas: 1 }] } });
    await client.ok('PATCH', `${BINDINGS}/mid/status`, { status });
    await untilThrough('high', 'low', 'mid');
  });

  test('room is kept for one that is too large for what is free, in the end', async () => {
    await createQueue('q', { capacity: { cpu: '2' } });
    await create('first', 'q');
    await untilThrough('first');
    const { metadata } = await create('large', 'q', { replicas: 2 });
    await create('passes', 'q');
    await untilThrough('first', 'passes');
    const since = Date.parse((metadata as { creationTimestamp?: string }).creationTimestamp ?? '');
    await until('it is old enough', () => Date.now() - since > RESERVE * 1000 + 500);
    await client.ok('DELETE', `${BINDINGS}/passes`);
    await create('late', 'q');
    await until('late is known', async () => (await get('late')).metadata.annotations?.[QUEUE] === 'q');
    await client.ok('DELETE', `${BINDINGS}/first`);
    await untilThrough('large');
  });

  test('muster doctor --fleet has nothing to say of what ships, and says of what would hurt what mends it', async () => {
    const interpreters = await manifestsIn('karmada');
    await applyAll(client, calledOnLoopback(interpreters, on.muster.port, on.certificates.ca));
    await applyAll(client, await manifestsIn('karmada/assigner'));
    const file = await on.plane.kubeconfigFor('system:admin', ['system:masters']);
    const config = join(on.muster.directory, 'config.yaml');
    const doctor = async () => {
      const { out, code } = await verb([
        'doctor',
        '--fleet',
        '--kubeconfig',
        file,
        '--config',
        config,
        '-o',
        'json',
      ]);
      const { findings } = JSON.parse(out) as DoctorReport;
      return { code, findings, wrong: findings.filter(({ severity }) => severity !== 'ok') };
    };
    const whole = await until('nothing is wrong', async () => {
      const found = await doctor();
      expect(found.wrong).toEqual([]);
      return found;
    });
    expect(whole.code).toBe(0);
    expect(whole.findings.map(({ group, check }) => `${group}/${check}`)).toEqual([
      'cluster/version',
      ...['resourcebindings', 'clusterresourcebindings', 'fleetqueues'].map((name) => `definitions/${name}`),
      ...[
        'rights/account',
        'webhooks/bindings',
        'admission/bindings',
        'policies/bindings',
        'interpreter/webhooks',
        'assigner/policies',
      ],
      ...['assigner/leader', 'program/configuration'],
    ]);

    const [other] = structuredClone(interpreters) as unknown as {
      webhooks: { rules: { operations: string[] }[] }[];
    }[];
    Object.assign(other ?? {}, { metadata: { name: 'other' } });
    Object.assign(other?.webhooks[0] ?? {}, {
      name: 'other.example.com',
      clientConfig: { url: 'https://127.0.0.1:1/x' },
    });
    for (const rule of other?.webhooks[0]?.rules ?? []) rule.operations = ['ReviseReplica'];
    await applyAll(client, [other as never]);
    const hook = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/muster-fleet-queues';
    const op = { op: 'replace', path: '/webhooks/0/failurePolicy', value: 'Ignore' };
    await client.ok('PATCH', hook, [op], { contentType: 'application/json-patch+json' });
    await client.ok('DELETE', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/muster-fleet-queues');
    await client.ok('POST', POLICIES, {
      ...{ apiVersion: 'policy.karmada.io/v1alpha1', kind: 'PropagationPolicy', metadata: { name: 'waits' } },
      spec: { schedulerName: 'muster' },
    });
    try {
      // Who authorises hears of the change a moment later.
      await until('all of it is found', async () => {
        const { code, wrong } = await doctor();
        const told = wrong.map(({ found }) => found);
        for (const what of [
          /other.example.com is asked for ReviseReplica of /,
          /failurePolicy Ignore/,
          /may not list, watch fleetqueues.muster.dev/,
          /name the scheduler muster, and by the configuration nobody places them/,
        ])
          expect(told).toContainEqual(expect.stringMatching(what));
        return code === 1 && wrong.every(({ fix }) => fix !== undefined);
      });
    } finally {
      await client.ok('DELETE', `/apis/config.karmada.io/v1alpha1/${INTERPRETERS}/other`);
      await register(on.muster.port);
      await untilCalled();
    }
  });

  test('nobody else lets it go, or changes its queue', async () => {
    await create('train', 'absent');
    await until(
      'its queue is known',
      async () => (await get('train')).metadata.annotations?.[QUEUE] === 'absent',
    );
    const tried = async (body: object): Promise<[number, string | undefined]> => {
      const { status, body: answer } = await client.request('PATCH', `${BINDINGS}/train`, body);
      return [status, answer.message];
    };
    expect(await tried({ spec: { suspension: { scheduling: false } } })).toEqual([
      403,
      expect.stringMatching(
        /waits in a queue of the fleet \(absent\); leave it to Muster.*\[FleetQueueHeld\]/,
      ),
    ]);
    expect((await tried({ spec: { suspension: null } }))[0]).toBe(403);
    expect(await tried({ metadata: { annotations: { [QUEUE]: null } } })).toEqual([
      403,
      expect.stringMatching(
        /Muster writes it from what the workload and its policy say.*\[FleetQueueAnnotation\]/,
      ),
    ]);
    expect(await tried({ metadata: { annotations: { [TERMS]: 'read' } } })).toEqual([
      403,
      expect.stringMatching(/leave it as it is.*\[FleetQueueAnnotation\]/),
    ]);
    // What the detector does: all else of it, and the rest of its suspension.
    expect((await tried({ spec: { replicas: 3, suspension: { dispatching: true } } }))[0]).toBe(200);
  });

  test('who is given no right to queues changes neither them nor their status', async () => {
    await createQueue('own');
    const who = { as: 'tenant', asGroups: ['system:authenticated'] };
    const answers = [
      await client.request('PATCH', `${QUEUES}/own/status`, { status: { ownDeficit: 1000 } }, who),
      await client.request('PATCH', `${QUEUES}/own`, { spec: { weight: 1000 } }, who),
      await client.request('DELETE', `${QUEUES}/own`, undefined, who),
      await client.request('POST', QUEUES, { metadata: { name: 'other' } }, who),
    ];
    for (const { status, body } of answers) {
      expect([status, body.message]).toEqual([
        403,
        expect.stringMatching(/User "tenant" cannot \w+ resource "fleetqueues/),
      ]);
    }
  });

  test.each([
    [
      'zero',
      { weight: 0 },
      /spec\.weight.*must be from 1 to 1000; spec\.hold stops a queue \[FleetQueueWeight\]/,
    ],
    ['itself', { parent: 'bad' }, /a queue is no part of itself.*\[FleetQueueParent\]/],
    [
      'negative',
      { capacity: { cpu: '-1' } },
      /must be an amount such as 500m, 8 or 12Gi.*\[FleetQueueCapacity\]/,
    ],
    [
      'no amount',
      { capacity: { cpu: 'many' } },
      /must be an amount such as 500m, 8 or 12Gi.*\[FleetQueueCapacity\]/,
    ],
  ])('a queue that makes no sense is refused: %s', async (_what, spec, says) => {
    const { status, body } = await client.request('POST', QUEUES, {
      apiVersion: 'muster.dev/v1alpha1',
      kind: 'FleetQueue',
      metadata: { name: 'bad' },
      spec,
    });
    expect([status, body.message]).toEqual([422, expect.stringMatching(says)]);
  });

  test('a name that is too long is refused', async () => {
    const { status, body } = await client.request('POST', QUEUES, {
      ...{ apiVersion: 'muster.dev/v1alpha1', kind: 'FleetQueue', metadata: { name: 'q'.repeat(64) } },
    });
    expect([status, body.message]).toEqual([
      422,
      expect.stringMatching(/at most 63 characters.*\[FleetQueueName\]/),
    ]);
  });

  test('two that lead, and one that is killed: each once, never more than there is room for, and all in the end', async () => {
    const all = inLength({ short: 24, long: 120 });
    await createQueue('q', { capacity: { cpu: '3' } });
    await createQueue('r', { parent: 'q', weight: 2 });
    const leaderElection = { enabled: false };
    const second = await on.start({ ...SETTINGS, leaderElection });
    const names = Array.from({ length: all }, (_, index) => `job-${String(index).padStart(3, '0')}`);
    const made = Promise.all(names.map((name, index) => create(name, index % 2 === 0 ? 'q' : 'r')));
    const done = new Set<string>();
    let killed = false;
    await until(
      'all have been through',
      async () => {
        const through = (await list()).filter((one) => !isHeld(one));
        // A list is one moment of the store.
        expect(through.length).toBeLessThanOrEqual(3);
        for (const { metadata } of through) {
          expect(done.has(metadata.uid)).toBe(false);
          done.add(metadata.uid);
          await client.ok('DELETE', `${BINDINGS}/${metadata.name}`);
        }
        if (done.size > all / 3 && !killed) {
          killed = true;
          await second.kill();
          await on.start({ ...SETTINGS, leaderElection });
        }
        return done.size === all;
      },
      { withinMs: 90_000 },
    );
    await made;
    expect(killed).toBe(true);
    await untilQueue('q', { waiting: 0, through: 0, used: {}, releasing: [] });
  });

  test('without Muster no binding of a workload is made, and what needs no queue is', async () => {
    await createJob('late', {});
    await register(1);
    await until('it is refused', async () => {
      const { status, body } = await client.request('POST', BINDINGS, bindingOf('late'));
      if (status < 300) await client.ok('DELETE', `${BINDINGS}/late`);
      return status === 500 && /failed calling webhook "bindings.muster.dev"/.test(body.message ?? '');
    });
    await client.ok('POST', BINDINGS, bindingOf('settings', { placement: undefined, replicas: 0 }));
    await register(on.muster.port);
    await untilCalled();
  });

  test('each right is used', async () => {
    await createJob('by-policy', {});
    await createQueue('everybody');
    const policy = { 'clusterpropagationpolicy.karmada.io/name': 'everywhere' };
    await client.ok('POST', BINDINGS, bindingOf('by-policy', {}, policy));
    await until('its policy was looked for', async () => !isHeld(await get('by-policy')));
    await on.muster.terminate();
    // Workloads are all read in the same way, and Events are counted as those of gangs are.
    const elsewhere = (right: string): boolean =>
      right.startsWith('patch events') ||
      (/^get /.test(right) && !/ (jobs\.batch$|.*\.karmada\.io|leases)/.test(right));
    await untilEachIsUsed(on.plane, 'karmada/queues', elsewhere);
  });
});

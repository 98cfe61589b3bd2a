/** Gangs of several groups as CompositePodGroups: Muster, the real API server and the real scheduler of 1.37. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { KubeList, KubeObject } from './control-plane/client.ts';
import { RELEASE } from './control-plane/releases.ts';
import { clusterSuiteUnless } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { GangCluster } from './support/gang-cluster.ts';
import { gatesOf, group } from './support/gang-objects.ts';
import {
  COMPOSITES,
  cpus,
  GANG_OBJECTS as POD_GROUPS,
  WITH_COMPOSITES,
  WORKLOADS,
} from './support/native-gangs.ts';

const CPU = 4;
const BIG_NODE = 'big';
/** The garbage collector of a fresh control plane looks around for half a minute before it does anything. */
const PATIENT = { withinMs: 120_000 };
const ZONE = 'topology.kubernetes.io/zone';
const RACK = 'example.com/rack';

interface Group extends KubeObject {
  readonly spec: {
    readonly parentCompositePodGroupName?: string;
    readonly schedulingPolicy: object;
    readonly schedulingConstraints?: object;
  };
}

const notHere = WITH_COMPOSITES ? undefined : `${RELEASE.version} has no CompositePodGroups`;

clusterSuiteUnless(notHere, 'gangs of several groups as CompositePodGroups', () => {
  let cluster: GangCluster;
  let counter = 0;
  let gang = '';

  const pods = (podclique: string, count: number, spec: object = cpus(1), from = 0): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        cluster.createPod(gang, `${podclique}-${from + index}`, podclique, { spec }),
      ),
    );
  const bound = async (): Promise<string[]> =>
    (await cluster.podsOf(gang))
      .filter(({ spec }) => spec.nodeName !== undefined)
      .map(({ metadata }) => metadata.name.replace(`${gang}-`, ''))
      .sort();
  const one = (path: string, name: string): Promise<Group> =>
    cluster.client.ok<Group>('GET', `${path}/${name}`);
  const names = async (path: string): Promise<string[]> =>
    (await cluster.client.ok<KubeList>('GET', path)).items.map(({ metadata }) => metadata.name);
  const untilSpec = (path: string, name: string, spec: object): Promise<Group> =>
    until(`${name} has ${JSON.stringify(spec)}`, async () => {
      const found = await one(path, name);
      expect(found.spec).toMatchObject(spec);
      return found;
    });
  const minimum = (minCount: number): object => ({ schedulingPolicy: { gang: { minCount } } });
  const allOf = (minGroupCount: number): object => ({ schedulingPolicy: { gang: { minGroupCount } } });
  const change = (podgroups: readonly object[]): Promise<unknown> =>
    cluster.client.ok('PATCH', `${cluster.gangs()}/${gang}`, { spec: { podgroups } });

  beforeAll(async () => {
    cluster = await GangCluster.start({
      webhooks: true,
      cpu: CPU,
      plane: WITH_COMPOSITES ?? {},
    });
    await until('Muster has looked', async () =>
      JSON.stringify(
        await cluster.client.ok('GET', '/apis/muster.dev/v1alpha1/schedulerbackends/default-scheduler'),
      ).includes('CompositePodGroup'),
    );
  }, 180_000);
  afterAll(() => cluster?.stop(), 60_000);
  beforeEach(() => {
    gang = `whole-${++counter}`;
  });
  afterEach(async () => {
    await cluster.client.request('DELETE', `${cluster.gangs()}/${gang}`);
    await Promise.all((await cluster.podsOf(gang)).map(({ metadata }) => cluster.removePod(metadata.name)));
    await until(
      'its objects are gone',
      async () => (await Promise.all([COMPOSITES, POD_GROUPS, WORKLOADS].map(names))).flat().length === 0,
      PATIENT,
    );
    expect(await cluster.history.ungatedEarly()).toEqual([]);
  }, 180_000);

  test('a gang is one CompositePodGroup of a PodGroup for each group, with the minimum of each', async () => {
    await cluster.createGang(gang, [group('leader', 1), group('worker', 2)]);
    await untilSpec(COMPOSITES, gang, {
      ...allOf(2),
      workloadRef: { workloadName: gang, templateName: 'gang' },
    });
    await untilSpec(POD_GROUPS, `${gang}.leader`, { ...minimum(1), parentCompositePodGroupName: gang });
    const worker = await untilSpec(POD_GROUPS, `${gang}.worker`, {
      ...minimum(2),
      parentCompositePodGroupName: gang,
    });
    expect(worker.metadata).toMatchObject({ ownerReferences: [{ kind: 'PodGang', name: gang }] });
    expect((await one(WORKLOADS, gang)).spec).toMatchObject({
      compositePodGroupTemplates: [
        { name: 'gang', ...allOf(2), podGroupTemplates: [{ name: 'leader' }, { name: 'worker' }] },
      ],
    });
    await pods('leader', 1);
    await pods('worker', 2);
    await cluster.untilBound(gang, 3);
    for (const { metadata, spec } of await cluster.podsOf(gang)) {
      const podGroupName = `${gang}.${metadata.name.includes('leader') ? 'leader' : 'worker'}`;
      expect(spec).toMatchObject({ schedulingGroup: { podGroupName } });
    }
  });

  test('two groups of which one fits: nothing is bound, and why is said; with room for both, all is', async () => {
    await cluster.createGang(gang, [group('leader', 1), group('worker', 2)]);
    await pods('worker', 4);
    await pods('leader', 1, cpus(2 * CPU));
    await until('no Pod is gated', async () =>
      (await cluster.podsOf(gang)).every((pod) => gatesOf(pod).length === 0),
    );
    await until('muster status says why', async () => {
      const { why } = await cluster.status(gang);
      if (why.includes(`PodGroup ${gang}.leader: pod group is unschedulable`)) return true;
      throw new Error(why);
    });
    expect(await bound()).toEqual([]);
    await withNode({ cpu: 3 * CPU }, () => cluster.untilBound(gang, 5));
  });

  test('a gang starts with its minimums where there is no room for more', async () => {
    await cluster.createGang(gang, [group('leader', 1), group('worker', 2)]);
    await pods('worker', 4);
    await pods('leader', 1, cpus(2));
    await untilHolds('leader and two workers are bound', async () => {
      const found = await bound();
      expect(found).toHaveLength(3);
      expect(found).toContain('leader-0');
    });
    await withNode({ cpu: 2 }, () => cluster.untilBound(gang, 5));
  });

  test('Pods beyond the minimum of an earlier group may take the room of a later one; nothing is bound then', async () => {
    await cluster.createGang(gang, [group('actor', 2), group('learner', 1)]);
    await pods('actor', 4);
    await pods('learner', 1, cpus(2));
    await until('muster status says why', async () => {
      const { why } = await cluster.status(gang);
      if (why.includes(`PodGroup ${gang}.learner: pod group is unschedulable`)) return true;
      throw new Error(why);
    });
    expect(await bound()).toEqual([]);
    await withNode({ cpu: 2 * CPU }, () => cluster.untilBound(gang, 5));
  });

  test('a group without a minimum comes last, and is in no CompositePodGroup', async () => {
    await cluster.createGang(gang, [group('helper', 0), group('leader', 1), group('worker', 2)]);
    await pods('helper', 2);
    await pods('leader', 1, cpus(2));
    await pods('worker', 2);
    await untilSpec(COMPOSITES, gang, allOf(2));
    const helper = await untilSpec(POD_GROUPS, `${gang}.helper`, { schedulingPolicy: { basic: {} } });
    expect(helper.spec.parentCompositePodGroupName).toBeUndefined();
    await untilHolds('all that have to start are bound', async () =>
      expect(await bound()).toEqual(['leader-0', 'worker-0', 'worker-1']),
    );
    await withNode({ cpu: 2 }, () => cluster.untilBound(gang, 5));
  });

  test('minimums follow the gang in place, and a Pod that is lost is replaced', async () => {
    await cluster.createGang(gang, [group('leader', 1), group('worker', 2)]);
    await pods('leader', 1);
    await pods('worker', 2);
    await cluster.untilBound(gang, 3);
    const before = await one(POD_GROUPS, `${gang}.worker`);
    await cluster.removePod(`${gang}-worker-0`);
    await until('it is gone', async () => (await cluster.podsOf(gang)).length === 2);
    await pods('worker', 1);
    await cluster.untilBound(gang, 3);
    const { podgroups } = (await cluster.gang(gang)).spec;
    await change(podgroups.map((one) => (one.name === 'worker' ? { ...one, minReplicas: 1 } : one)));
    const after = await untilSpec(POD_GROUPS, `${gang}.worker`, minimum(1));
    expect(after.metadata.uid).toBe(before.metadata.uid);
    // One worker is enough now.
    await cluster.removePod(`${gang}-worker-1`);
    await cluster.removePod(`${gang}-leader-0`);
    await until('they are gone', async () => (await cluster.podsOf(gang)).length === 1);
    await pods('leader', 1, cpus(1), 1);
    await cluster.untilBound(gang, 2);
  });

  test('a group whose minimum comes to 0 is waited for no longer, under Pods that run', async () => {
    await cluster.createGang(gang, [group('leader', 1), group('worker', 2), group('writer', 1)]);
    await pods('leader', 1);
    await pods('worker', 2);
    await pods('writer', 1);
    await cluster.untilBound(gang, 4);
    const ran = (await cluster.podsOf(gang)).map(({ metadata }) => metadata.uid).sort();
    const { podgroups } = (await cluster.gang(gang)).spec;
    await change(podgroups.map((one) => (one.name === 'worker' ? { ...one, minReplicas: 0 } : one)));
    await untilSpec(COMPOSITES, gang, allOf(2));
    await untilHolds('it is in it no longer', async () => {
      const { spec } = await one(POD_GROUPS, `${gang}.worker`);
      expect(spec).toMatchObject({ schedulingPolicy: { basic: {} } });
      expect(spec.parentCompositePodGroupName).toBeUndefined();
    });
    expect((await cluster.podsOf(gang)).map(({ metadata }) => metadata.uid).sort()).toEqual(ran);
    for (const name of ['worker-0', 'worker-1', 'leader-0']) await cluster.removePod(`${gang}-${name}`);
    await until('they are gone', async () => (await cluster.podsOf(gang)).length === 1);
    await pods('leader', 1, cpus(1), 1);
    await cluster.untilBound(gang, 2);
  });

  test('a gang that is replaced whole starts whole: with room for one group alone nothing is bound', async () => {
    await cluster.createGang(gang, [group('leader', 1), group('worker', 2)]);
    await pods('leader', 1);
    await pods('worker', 2);
    await cluster.untilBound(gang, 3);
    await Promise.all((await bound()).map((name) => cluster.removePod(`${gang}-${name}`)));
    await until('they are gone', async () => (await cluster.podsOf(gang)).length === 0);
    await pods('leader', 1, cpus(1), 1);
    await pods('worker', 1, cpus(CPU / 2), 2);
    await cluster.untilCondition(gang, 'Scheduled', { status: 'False' });
    expect(await bound()).toEqual([]);
    await pods('worker', 1, cpus(CPU / 2), 3);
    await until('no Pod is gated', async () =>
      (await cluster.podsOf(gang)).every((pod) => gatesOf(pod).length === 0),
    );
    await until('the scheduler has tried', async () =>
      (await cluster.status(gang)).why.includes('the scheduler says'),
    );
    expect(await bound()).toEqual([]);
    await withNode({ cpu: 2 }, () => cluster.untilBound(gang, 3));
  });

  test('required levels nest: racks of groups in the zone of the gang', async () => {
    const nodes: Record<string, readonly [string, string]> = {
      'a-1': ['a', 'a1'],
      'a-2': ['a', 'a2'],
      'b-1': ['b', 'b1'],
      'b-2': ['b', 'b2'],
      'b-3': ['b', 'b2'],
    };
    for (const [name, [zone, rack]] of Object.entries(nodes))
      await cluster.plane.addNode(name, { cpu: 2, labels: { [ZONE]: zone, [RACK]: rack } });
    try {
      const within = (required: string): object => ({ topologyConstraint: { packConstraint: { required } } });
      await cluster.createGang(gang, [group('decode', 2), group('prefill', 2), group('router', 1)], {
        spec: {
          ...within(ZONE),
          topologyConstraintGroupConfigs: [
            { name: 'serving', podGroupNames: ['decode', 'prefill'], ...within(RACK) },
          ],
        },
      });
      await untilSpec(COMPOSITES, gang, {
        ...allOf(2),
        schedulingConstraints: { topology: [{ key: ZONE }] },
      });
      await untilSpec(COMPOSITES, `${gang}.serving`, {
        ...allOf(2),
        parentCompositePodGroupName: gang,
        schedulingConstraints: { topology: [{ key: RACK }] },
      });
      await untilSpec(POD_GROUPS, `${gang}.decode`, { parentCompositePodGroupName: `${gang}.serving` });
      await pods('decode', 2);
      await pods('prefill', 2);
      await pods('router', 1, cpus(2));
      await cluster.untilBound(gang, 5);
      const on = async (podclique: string): Promise<Set<string>> =>
        new Set(
          (await cluster.podsOf(gang))
            .filter(({ metadata }) => metadata.name.includes(podclique))
            .map(({ spec: { nodeName = '' } }) => nodeName),
        );
      expect(new Set([...(await on('decode')), ...(await on('prefill'))])).toEqual(new Set(['b-2', 'b-3']));
      expect(await on('router')).toEqual(new Set(['b-1']));
    } finally {
      for (const name of Object.keys(nodes)) await cluster.client.ok('DELETE', `/api/v1/nodes/${name}`);
    }
  });

  test('what was admitted under one count is counted so for as long as it is there', async () => {
    const flat = { profiles: [{ name: 'default-scheduler', config: { groups: 'flat' } }] };
    await cluster.restart({ scheduler: flat });
    const ran = `${gang}-ran`;
    for (const name of [gang, ran]) await cluster.createGang(name, [group('leader', 1), group('worker', 1)]);
    for (const podclique of ['leader', 'worker'])
      await cluster.createPod(ran, `${podclique}-0`, podclique, { spec: cpus(1) });
    await cluster.untilBound(ran, 2);
    await pods('worker', 1);
    await pods('leader', 1, cpus(CPU));
    await until('no Pod is gated', async () =>
      (await cluster.podsOf(gang)).every((pod) => gatesOf(pod).length === 0),
    );
    await cluster.restart();
    // One that comes from now on names the PodGroup of its group, and is told of.
    await cluster.removePod(`${ran}-worker-0`);
    await until('it is gone', async () => (await cluster.podsOf(ran)).length === 1);
    await cluster.createPod(ran, 'worker-1', 'worker', { spec: cpus(1) });
    await cluster.untilBound(ran, 2);
    const { note } = await cluster.untilEvent('PodGang', ran, 'BackendWarning');
    expect(note).toContain(`Pod ${ran}-leader-0 was admitted without the spec.schedulingGroup.podGroupName`);
    expect(await bound()).toEqual([]);
    expect(await names(COMPOSITES)).toEqual([]);
    expect((await one(POD_GROUPS, gang)).spec).toMatchObject(minimum(2));
    // The scheduler may put the worker there first.
    await withNode({ cpu: CPU + 1 }, () => cluster.untilBound(gang, 2));
    await cluster.removeGang(ran);
    await Promise.all((await cluster.podsOf(ran)).map(({ metadata }) => cluster.removePod(metadata.name)));
  });

  /** Until the check passes. */
  const untilHolds = (what: string, check: () => Promise<void>): Promise<boolean> =>
    until(what, async () => {
      await check();
      return true;
    });

  async function withNode(size: { cpu: number }, body: () => Promise<unknown>): Promise<void> {
    await cluster.plane.addNode(BIG_NODE, size);
    try {
      await body();
    } finally {
      await cluster.client.ok('DELETE', `/api/v1/nodes/${BIG_NODE}`);
    }
  }
});

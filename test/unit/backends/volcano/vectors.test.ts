/** What Grove's backend and Volcano's own tests expect, by the numbers under which Muster keeps them. */
import { describe, expect, test } from '@jest/globals';
import type { Json, JsonObject } from '../../../../src/json/json.ts';
import { PodRefused, type PodPatch } from '../../../../src/backends/backend.ts';
import type { OwnedObject } from '../../../../src/backends/cluster.ts';
import { BackendRegistry } from '../../../../src/backends/registry.ts';
import { selectForPodGang } from '../../../../src/backends/select.ts';
import { volcano } from '../../../../src/backends/volcano/backend.ts';
import { volcanoPodGroups } from '../../../cluster/support/crds/volcano.ts';
import { clusterWith, gangOf, initContext, made } from '../../../support/made-backend.ts';
import { group, podGang } from '../../../support/pod-gangs.ts';
import { gangPod } from '../../../support/pods.ts';
import { mutatePod, operationsOf, rulesOf, validatePodGang } from '../../../support/reviews.ts';
import { patched } from '../../../support/rfc6902.ts';
import { recordedSync } from '../../../support/sync-context.ts';

const QUEUE = 'scheduling.grove.io/volcano-queue';
const ON = { 'grove.io/scheduler-name': 'volcano' };
const REQUIRES = 'volcano scheduler backend requires Volcano 1.14 or newer with PodGroup.spec.subGroupPolicy';

/** Grove's gang of the tests. */
const pg1 = (worker = 2, ps = 3, spec: JsonObject = {}, annotations: JsonObject = {}) =>
  gangOf({
    metadata: { name: 'pg-1' },
    annotations,
    groups: [group('worker', { minReplicas: worker }), group('ps', { minReplicas: ps })],
    spec,
  });
const policy = (name: string, subGroupSize: number): JsonObject => ({
  name,
  labelSelector: { matchLabels: { 'grove.io/podclique': name } },
  matchLabelKeys: ['grove.io/podclique'],
  subGroupSize,
  minSubGroups: 1,
});
const stored = ({ name, spec }: OwnedObject): JsonObject => ({ metadata: { name }, spec });

async function synced(gang: ReturnType<typeof pg1>, before?: JsonObject, config: JsonObject = {}) {
  const { context, applied } = recordedSync({ owned: () => (before === undefined ? [] : [before]) });
  await made(volcano, config).syncPodGang(context, gang);
  expect(applied).toHaveLength(1);
  return applied[0] as OwnedObject;
}
const queueSync = async (read: () => Promise<JsonObject | undefined>, queue = 'gpu') => {
  const { context, applied } = recordedSync({ read });
  const done = made(volcano).syncPodGang(context, pg1(2, 3, {}, { [QUEUE]: queue }));
  return {
    error: await done.then(
      () => undefined,
      (error: Error) => error.message,
    ),
    applied,
  };
};

const vectors: Record<string, () => void | Promise<void>> = {
  'B15, G15: two groups, a queue and a class': async () => {
    const object = await synced(
      pg1(2, 3, { priorityClassName: 'high-priority' }, { [QUEUE]: 'gpu-training' }),
    );
    expect(object).toMatchObject({ name: 'pg-1', resource: { plural: 'podgroups', version: 'v1beta1' } });
    expect(object.spec).toEqual({
      minMember: 5,
      queue: 'gpu-training',
      priorityClassName: 'high-priority',
      subGroupPolicy: [policy('worker', 2), policy('ps', 3)],
    });
  },
  'B16, G16: released by minimums of 0, counts stay and the class changes': async () => {
    const before = await synced(pg1(2, 3, { priorityClassName: 'high-priority' }));
    const after = await synced(pg1(0, 0, { priorityClassName: 'released-priority' }), stored(before));
    expect(after.spec).toEqual({ ...before.spec, priorityClassName: 'released-priority' });
    expect((await synced(pg1(0, 0), stored(before))).spec).not.toHaveProperty('priorityClassName');
    // Nothing to keep: Pods start one by one.
    expect((await synced(pg1(0, 0))).spec).toMatchObject({
      minMember: 1,
      subGroupPolicy: [
        { subGroupSize: 1, minSubGroups: 0 },
        { subGroupSize: 1, minSubGroups: 0 },
      ],
    });
  },
  // Grove writes `default` here. Left out, the API server writes it, unless the Namespace has a default of its own.
  'B16, G17: no queue, or a blank one, leaves it to the Namespace': async () => {
    expect((await synced(pg1())).spec).not.toHaveProperty('queue');
    expect((await synced(pg1(2, 3, {}, { [QUEUE]: '   ' }))).spec).not.toHaveProperty('queue');
    expect((await synced(pg1(2, 3, {}, { [QUEUE]: ' gpu ' }))).spec).toMatchObject({ queue: 'gpu' });
    expect((await synced(pg1(), undefined, { queue: 'usual' })).spec).toMatchObject({ queue: 'usual' });
    expect(
      (await synced(pg1(2, 3, {}, { [QUEUE]: 'gpu' }), undefined, { queue: 'usual' })).spec,
    ).toMatchObject({ queue: 'gpu' });
  },
  'B17, G4: a Pod gets its scheduler and both annotations': () => {
    const object = gangPod({ labels: { ...ON, 'grove.io/podgang': 'pg-1' }, annotations: { keep: 'me' } });
    expect(patched(object, operationsOf(mutatePod({ object })))).toMatchObject({
      metadata: {
        annotations: {
          keep: 'me',
          'scheduling.k8s.io/group-name': 'pg-1',
          'scheduling.volcano.sh/group-name': 'pg-1',
        },
      },
      spec: { schedulerName: 'volcano' },
    });
  },
  'B17, G5: a Pod without the label is refused': () => {
    const prepare = () =>
      made(volcano).preparePod(
        {} as never,
        { namespace: 'ml', gang: '', group: 'worker', baseGang: undefined },
        {} as PodPatch,
      );
    expect(prepare).toThrow('volcano scheduler requires pod label "grove.io/podgang"');
    expect(prepare).toThrow(PodRefused);
  },
  'B18, G18: the CRD is there, absent, or too old': async () => {
    const init = (...crds: object[]) => made(volcano).init(initContext(clusterWith(...crds)));
    expect(await init(volcanoPodGroups)).toEqual({ version: 'scheduling.volcano.sh/v1beta1' });
    await expect(init()).rejects.toThrow(
      `failed to get CRD podgroups.scheduling.volcano.sh with version v1beta1: ${REQUIRES}; install it`,
    );
    const old = JSON.parse(
      JSON.stringify(volcanoPodGroups).replace('"subGroupPolicy"', '"somethingElse"'),
    ) as object;
    await expect(init(old)).rejects.toThrow(
      `${REQUIRES}; CRD podgroups.scheduling.volcano.sh v1beta1 lacks spec.subGroupPolicy: upgrade Volcano and its CRDs`,
    );
    const half = JSON.parse(JSON.stringify(volcanoPodGroups).replace('"matchLabelKeys"', '"x"')) as object;
    await expect(init(half)).rejects.toThrow('lacks spec.subGroupPolicy[].matchLabelKeys');
  },
  'B18, G17: a queue that is no name is refused before anyone looks for it': async () => {
    const object = podGang({ labels: ON, annotations: { [QUEUE]: 'Invalid_Queue' } });
    expect(validatePodGang({ object }).faults).toEqual([
      expect.objectContaining({
        field: `metadata.annotations[${QUEUE}]`,
        message:
          'Unsupported value: "Invalid_Queue": the scheduler of this gang cannot do this (a volcano queue is a lower-case DNS name of at most 253 characters); change it, or choose another backend with the label grove.io/scheduler-name [BackendCannotExpress]',
      }),
    ]);
    let asked = 0;
    const read = () => Promise.resolve(void (asked += 1));
    expect((await queueSync(read, 'Invalid_Queue')).error).toContain(`metadata.annotations[${QUEUE}]: `);
    expect(asked).toBe(0);
  },
  'B18, G17: a queue that is missing or closed holds the gang back': async () => {
    const missing = await queueSync(() => Promise.resolve(undefined));
    expect(missing).toEqual({
      error: `volcano queue "gpu" does not exist: create it, or name another one in the annotation ${QUEUE}`,
      applied: [],
    });
    const closed = await queueSync(() => Promise.resolve({ status: { state: 'Closed' } }));
    expect(closed).toEqual({
      error: `volcano queue "gpu" is not Open (state Closed): open it, or name another one in the annotation ${QUEUE}`,
      applied: [],
    });
    for (const queue of [{ status: { state: 'Open' } }, {}]) {
      expect((await queueSync(() => Promise.resolve(queue))).applied).toHaveLength(1);
    }
  },
  // getSubJobMatchValues: no keys put every Pod into the default sub-job, so the group's own key is always there.
  'B19: every policy has the key that its Pods carry, and only that': async () => {
    const { spec } = await synced(pg1());
    for (const one of spec['subGroupPolicy'] as JsonObject[]) {
      const keys = one['matchLabelKeys'] as string[];
      const labels = { 'grove.io/podgang': 'pg-1', 'grove.io/podclique': one['name'] as Json } as JsonObject;
      expect(keys.map((key) => labels[key])).toEqual([one['name']]);
    }
  },
  'B19: both tier fields at once, which the webhook refuses, are never written': async () => {
    const tiers = { rack: { name: 'tor' }, zone: { tier: 3 } };
    const pack = { packConstraint: { required: 'zone', preferred: 'rack' } };
    const { spec } = await synced(pg1(2, 3, { topologyConstraint: pack }), undefined, { tiers });
    expect(spec['networkTopology']).toEqual({ mode: 'hard', highestTierAllowed: 3 });
  },
  'G19, G24: not enabled, no gang and no Pod falls back from it': () => {
    const registry = new BackendRegistry([{ name: 'default-scheduler' }], 'default-scheduler');
    expect(registry.resolve('volcano')).toBeUndefined();
    expect(selectForPodGang(registry, 'volcano').fault).toMatchObject({ rule: 'SchedulerNotEnabled' });
  },
  'G20, G23: a profile of its name is known': () => {
    expect(
      new BackendRegistry([{ name: 'volcano' }, { name: 'default-scheduler' }], 'volcano').default.name,
    ).toBe('volcano');
  },
};

test.each(Object.entries(vectors))('%s', async (_name, check) => {
  await check();
});

test('whether a gang may be preempted at all: its label goes on to the PodGroup', async () => {
  const labels = new Map([['volcano.sh/preemptable', 'true']]);
  const { labels: written } = await synced({ ...pg1(2, 3), labels });
  expect(written).toEqual({ 'volcano.sh/preemptable': 'true' });
});

test('no vector is missing', () => {
  const numbers = new Set(Object.keys(vectors).flatMap((name) => (name.split(':')[0] as string).split(', ')));
  expect([...numbers].sort()).toEqual(
    [
      'B15',
      'B16',
      'B17',
      'B18',
      'B19',
      'G15',
      'G16',
      'G17',
      'G18',
      'G19',
      'G20',
      'G23',
      'G24',
      'G4',
      'G5',
    ].sort(),
  );
});

describe('beside the vectors', () => {
  test('a queue is asked for only when a gang goes into it', async () => {
    const reads: string[] = [];
    const read = (path: string) => Promise.resolve(void reads.push(path));
    const gang = pg1(2, 3, {}, { [QUEUE]: 'gpu' });
    const spec = { queue: 'gpu', minMember: 5 };
    const inIt = recordedSync({ read, owned: () => [{ metadata: { name: 'pg-1' }, spec }] });
    await made(volcano).syncPodGang(inIt.context, gang);
    expect([reads, inIt.applied.length]).toEqual([[], 1]);
    const moving = recordedSync({
      read,
      owned: () => [{ metadata: { name: 'pg-1' }, spec: { ...spec, queue: 'other' } }],
    });
    await expect(made(volcano).syncPodGang(moving.context, gang)).rejects.toThrow('does not exist');
    expect(reads).toEqual(['/apis/scheduling.volcano.sh/v1beta1/queues/gpu']);
  });

  test('a gang of Grove’s, which no admission has judged, is held back with the faults', async () => {
    const { context, applied } = recordedSync();
    const gang = pg1(2, 3, { topologyConstraint: { packConstraint: { required: 'zone' } } });
    await expect(made(volcano).syncPodGang(context, gang)).rejects.toThrow(
      'spec.topologyConstraint.packConstraint.required: Unsupported value: "zone"',
    );
    expect(applied).toEqual([]);
  });

  test('a gang that admission has let in is one that it can write', () => {
    expect(rulesOf(validatePodGang({ object: podGang({ labels: ON }) }))).toEqual([]);
  });
});

import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import type { GangPod, OwnedObject } from '../../../../src/backends/cluster.ts';
import { gangOf } from '../../../support/made-backend.ts';
import { group, type PodGangParts } from '../../../support/pod-gangs.ts';
import { json } from '../../../support/pods.ts';
import { recordedSync } from '../../../support/sync-context.ts';
import { kubeOn, serving, type Served } from './served.ts';

const gangPod = (name: string, nativeGang?: string): GangPod => ({
  name,
  group: 'worker',
  gates: [],
  nodeName: '',
  ...(nativeGang !== undefined && { nativeGang }),
});
const LINKED = gangPod('worker-0', 'train');
const THREE: PodGangParts = {};
const FOUR: PodGangParts = { groups: [group('leader'), group('worker', { minReplicas: 3 })] };

/** 1.36 answers so for templates without the field. */
const withNulls = (spec: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(spec).map(([key, templates]) => [
      key,
      (templates as readonly JsonObject[]).map((one) => ({ schedulingConstraints: null, ...one })),
    ]),
  );

/** As the API server stores what was applied, with what it fills in. */
const stored = ({ name, spec, resource }: OwnedObject, metadata: JsonObject = {}): JsonObject =>
  json({
    metadata: { name, ...metadata },
    spec: resource.kind === 'PodGroup' ? { disruptionMode: 'Pod', priority: 0, ...spec } : withNulls(spec),
    status: {},
  });

/** Syncs `parts` where the objects of `before` are stored. */
async function syncOver(
  before: PodGangParts,
  parts: PodGangParts,
  given: {
    readonly served?: Served;
    readonly pods?: readonly GangPod[];
    readonly config?: JsonObject;
    readonly configBefore?: JsonObject;
    readonly metadata?: JsonObject;
  } = {},
) {
  const served = given.served ?? serving('v1alpha2');
  const first = recordedSync();
  await (await kubeOn(served, given.configBefore ?? given.config)).syncPodGang(first.context, gangOf(before));
  const second = recordedSync({
    pods: given.pods ?? [],
    owned: (plural) =>
      first.applied
        .filter(({ resource }) => resource.plural === plural)
        .map((object) => stored(object, given.metadata)),
  });
  await (await kubeOn(served, given.config)).syncPodGang(second.context, gangOf(parts));
  return {
    applied: second.applied.map(({ resource, name }) => `${resource.kind} ${name}`),
    removed: second.removed.map(({ plural, name }) => `${plural} ${name}`),
    despite: new Set(second.removed.flatMap(({ despite = [] }) => despite)),
    warnings: second.warnings,
    specs: second.applied.map(({ spec }) => spec),
  };
}

const BOTH = ['Workload train', 'PodGroup train'];
const ANEW = ['podgroups train', 'workloads train'];
const stays = (what: string): string =>
  `${what} stays as it was made, since Kubernetes changes none that Pods count on: delete the gang's Pods, or create the PodGang anew, for what its spec now says`;

describe('an object that Kubernetes does not let change', () => {
  test('is left as it is where nothing differs, defaults aside', async () => {
    for (const pods of [[], [LINKED]]) {
      expect(await syncOver(THREE, THREE, { pods })).toMatchObject({
        applied: BOTH,
        removed: [],
        warnings: [],
      });
    }
  });

  test.each<[string, PodGangParts]>([
    ['minCount', FOUR],
    ['priority', { spec: { priorityClassName: 'high' } }],
    ['topology', { spec: { topologyConstraint: { packConstraint: { required: 'rack' } } } }],
  ])('is made anew while no Pod counts on it: %s', async (_name, parts) => {
    expect(await syncOver(THREE, parts)).toMatchObject({ applied: BOTH, removed: ANEW, warnings: [] });
    expect(await syncOver(parts, THREE)).toMatchObject({ applied: BOTH, removed: ANEW, warnings: [] });
  });

  test('stays while a Pod counts on it, with a warning', async () => {
    const high = { spec: { priorityClassName: 'high' } };
    for (const pods of [[LINKED], [gangPod('of-nobody-knows')]]) {
      expect(await syncOver(THREE, high, { pods })).toMatchObject({
        applied: [],
        removed: [],
        warnings: [stays('PodGroup train')],
      });
    }
  });

  test('1.36: a PodGroup is made anew under Pods that count on it where it asks for another number of them', async () => {
    const pods = [LINKED, { ...LINKED, name: 'worker-1', nodeName: 'node-1' }];
    for (const [before, after, minCount] of [
      [THREE, FOUR, 4],
      [FOUR, THREE, 3],
    ] as const) {
      expect(await syncOver(before, after, { pods })).toMatchObject({
        applied: ['PodGroup train'],
        removed: ['podgroups train'],
        despite: new Set(['scheduling.k8s.io/podgroup-protection']),
        warnings: [],
        specs: [{ schedulingPolicy: { gang: { minCount } } }],
      });
    }
    // Grove lets a gang go by minimums of 0: what holds the Pods that run stays.
    const none: PodGangParts = { groups: [group('worker', { minReplicas: 0 })] };
    expect(await syncOver(THREE, none, { pods })).toMatchObject({ removed: [] });
  });

  test('one that was being made anew when a process ended goes, though Pods count on it', async () => {
    const metadata = { deletionTimestamp: '2026-06-01T12:00:00Z' };
    expect(await syncOver(THREE, FOUR, { pods: [LINKED], metadata })).toMatchObject({
      removed: ANEW,
      despite: new Set(['scheduling.k8s.io/podgroup-protection']),
      applied: BOTH,
    });
  });

  test('is made anew while all that name it are gated, and does not wait for them to end', async () => {
    const gated: GangPod = { ...LINKED, gates: ['example.com/quota', 'grove.io/podgang-pending-creation'] };
    const pods = [gated, { ...gated, name: 'worker-1' }];
    const protection = new Set(['scheduling.k8s.io/podgroup-protection']);
    // Made by somebody else under the gang's name, without a minimum: the gang would start in pieces.
    const loose: PodGangParts = { groups: [group('worker', { minReplicas: 0 })] };
    expect(await syncOver(loose, THREE, { pods })).toMatchObject({
      applied: BOTH,
      removed: ANEW,
      despite: protection,
      warnings: [],
      specs: [{}, { schedulingPolicy: { gang: { minCount: 3 } } }],
    });
    const metadata = { deletionTimestamp: '2026-06-01T12:00:00Z' };
    expect(await syncOver(THREE, THREE, { pods, metadata })).toMatchObject({
      removed: ANEW,
      despite: protection,
    });
    // One that was let go counts on it, another's gate or not.
    for (const gates of [[], ['example.com/quota']]) {
      const letGo: GangPod = { ...LINKED, name: 'worker-2', gates };
      expect(await syncOver(loose, THREE, { pods: [...pods, letGo] })).toMatchObject({
        applied: [],
        removed: [],
        warnings: [stays('PodGroup train')],
      });
    }
  });

  test('1.35: the Workload is what Pods count on', async () => {
    const served = serving('v1alpha1');
    const pods = [gangPod('worker-0', 'train/gang')];
    expect(await syncOver(THREE, FOUR, { served, pods })).toMatchObject({
      applied: [],
      removed: [],
      warnings: [stays('Workload train')],
    });
    expect(await syncOver(THREE, FOUR, { served })).toMatchObject({
      applied: ['Workload train'],
      removed: ['workloads train'],
    });
  });

  test('1.37 changes minCount: the PodGroup is patched, the Workload, which only describes, stays', async () => {
    const served = serving('v1beta1');
    expect(await syncOver(THREE, FOUR, { served, pods: [LINKED] })).toMatchObject({
      applied: ['PodGroup train'],
      removed: [],
      warnings: [],
      specs: [{ schedulingPolicy: { gang: { minCount: 4 } } }],
    });
    const priority = { spec: { priorityClassName: 'high' } };
    expect(await syncOver(THREE, priority, { served, pods: [LINKED] })).toMatchObject({
      applied: [],
      warnings: [stays('PodGroup train')],
    });
  });

  test('a configured disruption mode makes it anew; none asks for nothing', async () => {
    const config = { disruptionMode: 'gang' };
    expect(await syncOver(THREE, THREE, { config, configBefore: {} })).toMatchObject({ removed: ANEW });
    expect(await syncOver(THREE, THREE, { config: {}, configBefore: config })).toMatchObject({ removed: [] });
  });

  test('on its way out it is neither judged nor removed again: applying says that it is waited for', async () => {
    const metadata = { deletionTimestamp: '2026-06-01T12:00:00Z' };
    expect(await syncOver(THREE, FOUR, { metadata })).toMatchObject({ applied: BOTH, removed: [] });
  });
});

describe('Pods that were admitted without the native gang', () => {
  const before = [gangPod('worker-1', ''), gangPod('worker-0', '')];
  const alone = (pod: string): string =>
    `Pod ${pod} was admitted without the spec.schedulingGroup.podGroupName that this gang's Pods now get, so its Pods are placed one by one: create them anew to have a gang`;

  test('are never waited for: the native gang that is made has no minimum', async () => {
    const { context, applied, warnings } = recordedSync({ pods: [...before, LINKED] });
    await (await kubeOn(serving('v1alpha2'))).syncPodGang(context, gangOf());
    expect(applied.map(({ spec }) => spec)).toMatchObject([
      { podGroupTemplates: [{ name: 'gang', schedulingPolicy: { basic: {} } }] },
      { schedulingPolicy: { basic: {} } },
    ]);
    expect(warnings).toEqual([alone('worker-0 and 1 more')]);
  });

  test('take the minimum away from one that was made before, if no Pod counts on it', async () => {
    // Made anew by the sync after its deletion: nothing waits for that, however long a controller takes.
    expect(await syncOver(THREE, THREE, { pods: before })).toMatchObject({
      applied: ['Workload train'],
      removed: ANEW,
    });
    const metadata = { deletionTimestamp: '2026-06-01T12:00:00Z' };
    expect(await syncOver(THREE, THREE, { pods: before, metadata })).toMatchObject({
      applied: ['Workload train'],
      removed: [],
    });
    expect(await syncOver(THREE, THREE, { pods: [...before, LINKED] })).toMatchObject({
      applied: [],
      removed: [],
      warnings: [alone('worker-0 and 1 more'), stays('PodGroup train')],
    });
  });

  test('concern their own group where each has a native gang', async () => {
    const { context, applied } = recordedSync({ pods: [before[0] as GangPod] });
    await (await kubeOn(serving('v1alpha2'), { groups: 'per-group' })).syncPodGang(context, gangOf());
    expect(applied.slice(1).map(({ spec }) => spec['schedulingPolicy'])).toEqual([
      { gang: { minCount: 1 } },
      { basic: {} },
    ]);
  });

  test('matter no more where the cluster has no native gangs', async () => {
    const { context, applied, warnings } = recordedSync({ pods: before });
    await (await kubeOn({})).syncPodGang(context, gangOf());
    expect([applied, warnings]).toEqual([[], []]);
  });
});

describe('objects that are wanted no more', () => {
  const config = { groups: 'per-group' };

  test('go with a change of the layout, once no Pod names them', async () => {
    expect(await syncOver(THREE, THREE, { config, configBefore: {} })).toMatchObject({
      removed: ['workloads train', 'podgroups train'],
      applied: ['Workload train', 'PodGroup train.leader', 'PodGroup train.worker'],
    });
  });

  test('stay while one does', async () => {
    // All that were admitted under the former one are counted by it still.
    expect(await syncOver(THREE, THREE, { config, configBefore: {}, pods: [LINKED] })).toMatchObject({
      applied: BOTH,
      removed: [],
      warnings: [],
      specs: [{}, { schedulingPolicy: { gang: { minCount: 3 } } }],
    });
    const gates = ['grove.io/podgang-pending-creation'];
    const leader: GangPod = { ...gangPod('leader-0', 'train.leader'), group: 'leader', gates };
    const pods = [LINKED, leader];
    const { removed, specs } = await syncOver(THREE, THREE, { config, configBefore: {}, pods });
    expect(removed).toEqual(['workloads train']);
    expect(specs.slice(1)).toMatchObject([
      { schedulingPolicy: { gang: { minCount: 1 } } },
      { schedulingPolicy: { basic: {} } },
    ]);
  });

  test('go with their group', async () => {
    const one = { groups: [group('worker', { minReplicas: 2 })] };
    expect((await syncOver(THREE, one, { config })).removed).toEqual([
      'workloads train',
      'podgroups train.leader',
    ]);
  });
});

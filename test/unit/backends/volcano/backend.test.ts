import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import type { OwnedObject } from '../../../../src/backends/cluster.ts';
import { volcano } from '../../../../src/backends/volcano/backend.ts';
import { ApiError } from '../../../../src/kube/client/errors.ts';
import { gangOf, initContext, made } from '../../../support/made-backend.ts';
import { group, type PodGangParts } from '../../../support/pod-gangs.ts';
import { recordedSync } from '../../../support/sync-context.ts';

const at = (required?: string, preferred?: string): JsonObject => ({
  packConstraint: { ...(required && { required }), ...(preferred && { preferred }) },
});
const tiers = { zone: { name: 'tier-zone' }, rack: { tier: 1 } };
const verdict = (parts: PodGangParts, config: JsonObject = {}) => {
  const { faults, warnings } = made(volcano, config).validatePodGang(gangOf(parts));
  return { faults: faults.map(({ field, message }) => `${field}: ${message}`), warnings };
};
const clean = { faults: [], warnings: [] };

async function specOf(
  parts: PodGangParts,
  config: JsonObject = {},
  pods: readonly { nodeName: string }[] = [],
): Promise<OwnedObject['spec']> {
  const { context, applied } = recordedSync({
    pods: pods.map((pod) => ({ name: 'p', group: 'worker', gates: [], ...pod })),
  });
  await made(volcano, config).syncPodGang(context, gangOf(parts));
  return applied[0]?.spec ?? {};
}

describe('config', () => {
  test.each<[JsonObject, string]>([
    [{ queu: 'a' }, 'config.queu: unknown key (did you mean "queue"?); keys: queue, tiers, minResources'],
    [{ queue: 'A_b' }, 'config.queue: must be a lower-case DNS name of at most 253 characters, not "A_b"'],
    [{ minResources: 'yes' }, 'config.minResources: must be true or false, not "yes"'],
    [{ tiers: ['zone'] }, 'config.tiers: must be a map of keys to values, not a list'],
    [
      { tiers: { 'a/b/c': { tier: 1 }, zone: { name: 'a', tier: 1 }, rack: { tier: -1 } } },
      'config.tiers["a/b/c"]: must be a node label key; config.tiers["zone"]: must be {name: <tier name>} or {tier: <whole number from 0>}, one of the two; config.tiers["rack"]: must be {name: <tier name>}',
    ],
    [{ tiers: { zone: { name: '' } } }, 'config.tiers["zone"]: must be {name: <tier name>} or'],
    [{ tiers: { zone: 1 } }, 'config.tiers["zone"]: must be {name: <tier name>} or'],
  ])('%j is refused', (config, message) => {
    expect(() => made(volcano, config)).toThrow(message);
  });

  test('a key that is no level of the cluster is refused where there are levels', () => {
    expect(() => made(volcano, { tiers }, ['zone'])).toThrow(
      'config.tiers["rack"]: is no level of topologyAwareScheduling (levels: zone)',
    );
    expect(() => made(volcano, { tiers }, ['zone', 'rack'])).not.toThrow();
  });
});

describe('topology', () => {
  test('is refused where no tier stands for a level, wherever it is asked for', () => {
    const parts = {
      groups: [group('a', { topologyConstraint: at(undefined, 'rack') })],
      spec: {
        topologyConstraint: at('zone'),
        topologyConstraintGroupConfigs: [
          { name: 'c', podGroupNames: ['a'], topologyConstraint: at('zone', 'rack') },
        ],
      },
    };
    const { faults } = verdict(parts);
    expect(faults.map((text) => text.split(':')[0])).toEqual([
      'spec.topologyConstraint.packConstraint.required',
      'spec.topologyConstraintGroupConfigs[0].topologyConstraint.packConstraint.required',
      'spec.podgroups[0].topologyConstraint.packConstraint.preferred',
    ]);
    expect(faults[0]).toContain(
      '(volcano does not support topologyConstraint: config.tiers of its profile is empty)',
    );
    expect(verdict(parts, { tiers: { host: { tier: 0 } } }).faults[0]).toContain('keys with a tier: host');
  });

  test('becomes a tier, hard or soft; of two levels the required one', async () => {
    const parts = {
      groups: [group('a', { topologyConstraint: at(undefined, 'rack') }), group('b')],
      spec: { topologyConstraint: at('zone', 'rack') },
    };
    expect(verdict(parts, { tiers })).toEqual({
      faults: [],
      warnings: [
        'volcano takes one level: spec.topologyConstraint.packConstraint.preferred is ignored beside required',
      ],
    });
    expect(await specOf(parts, { tiers })).toMatchObject({
      networkTopology: { mode: 'hard', highestTierName: 'tier-zone' },
      subGroupPolicy: [{ networkTopology: { mode: 'soft', highestTierAllowed: 1 } }, { name: 'b' }],
    });
    expect((await specOf(parts, { tiers }))['subGroupPolicy']).toMatchObject([
      {},
      expect.not.objectContaining({ networkTopology: expect.anything() }),
    ]);
  });

  test('of a group configuration is dropped with a warning, one without a level says nothing', () => {
    const configs = (pack?: JsonObject): PodGangParts => ({
      groups: [group('a')],
      spec: {
        topologyConstraintGroupConfigs: [
          { name: 'c', podGroupNames: ['a'], ...(pack && { topologyConstraint: pack }) },
        ],
      },
    });
    expect(verdict(configs(at('zone')), { tiers })).toEqual({
      faults: [],
      warnings: [
        'volcano ignores spec.topologyConstraintGroupConfigs[0].topologyConstraint.packConstraint: its sub-groups have no parent; put the constraint on the groups or on the gang',
      ],
    });
    expect(verdict(configs())).toEqual(clean);
  });
});

describe('a group with minReplicas 0', () => {
  const parts = { groups: [group('leader'), group('helper', { minReplicas: 0 })] };

  test('may be missing, and starts Pod by Pod', async () => {
    expect(await specOf(parts)).toMatchObject({
      minMember: 1,
      subGroupPolicy: [
        { name: 'leader', subGroupSize: 1, minSubGroups: 1 },
        { name: 'helper', subGroupSize: 1, minSubGroups: 0, matchLabelKeys: ['grove.io/podclique'] },
      ],
    });
  });

  test('is told of', () => {
    expect(verdict(parts)).toEqual({
      faults: [],
      warnings: [
        'group helper has minReplicas 0: volcano starts its Pods one by one, and the gang without them',
      ],
    });
  });
});

describe('what else it says of a gang', () => {
  test('nothing of an ordinary one', () => {
    expect(verdict({ spec: { priorityClassName: 'high' } })).toEqual(clean);
  });

  test('that a reservation is ignored', () => {
    expect(verdict({ spec: { reuseReservationRef: { namespace: 'ml', name: 'old' } } })).toEqual({
      faults: [],
      warnings: ['volcano ignores spec.reuseReservationRef'],
    });
  });

  test('that a sum is more than the CRD holds', () => {
    const groups = [group('a', { minReplicas: 2147483647 }), group('b')];
    expect(verdict({ groups }).faults).toEqual([
      'spec.podgroups: Unsupported value: 2147483648: the scheduler of this gang cannot do this (the sum of minReplicas is at most 2147483647); change it, or choose another backend with the label grove.io/scheduler-name [BackendCannotExpress]',
    ]);
  });
});

describe('minResources', () => {
  const annotations = { 'muster.dev/min-resources': ' cpu=3, memory=1.5Gi ,nvidia.com/gpu=2' };
  const on = { minResources: true };

  test('are off, with a warning where somebody asks for them', async () => {
    expect(await specOf({ annotations })).not.toHaveProperty('minResources');
    expect(verdict({ annotations }).warnings).toEqual([
      'the annotation muster.dev/min-resources is ignored: minResources of the profile volcano is off',
    ]);
  });

  test('are written until a Pod is bound, never after', async () => {
    const resources = { cpu: '3', memory: '1.5Gi', 'nvidia.com/gpu': '2' };
    expect(await specOf({ annotations }, on)).toMatchObject({ minResources: resources });
    expect(await specOf({ annotations }, on, [{ nodeName: '' }])).toMatchObject({ minResources: resources });
    expect(await specOf({ annotations }, on, [{ nodeName: '' }, { nodeName: 'n1' }])).not.toHaveProperty(
      'minResources',
    );
    expect(await specOf({}, on)).not.toHaveProperty('minResources');
  });

  test('are not written where nobody says when the gang is bound', async () => {
    const labels = { 'app.kubernetes.io/managed-by': 'grove-operator' };
    expect(await specOf({ annotations, labels }, on)).not.toHaveProperty('minResources');
  });

  test('are why such a gang is synced again once it is bound, and no other', () => {
    const follows = (parts: PodGangParts, config: JsonObject = on) =>
      made(volcano, config).followsBinding?.(gangOf(parts));
    expect(follows({ annotations })).toBe(true);
    expect([follows({}), follows({ annotations }, {})]).toEqual([false, false]);
  });

  test.each([
    ['cpu', '"cpu" is not resource=quantity'],
    ['cpu=-1', '"cpu=-1" is not resource=quantity'],
    ['cpu=1=2', '"cpu=1=2" is not resource=quantity'],
    ['cpu=1KB', '"cpu=1KB" is not resource=quantity'],
    ['cpu=1,cpu=2', 'cpu is given twice'],
    [Array.from({ length: 65 }, (_, index) => `r${index}=1`).join(','), 'more than 64 resources'],
  ])('%s is refused', (text, says) => {
    const { faults } = verdict({ annotations: { 'muster.dev/min-resources': text } }, on);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(`metadata.annotations[muster.dev/min-resources]: `);
    expect(faults[0]).toContain(`(${says})`);
  });
});

describe('the PodGroup', () => {
  test('has the labels of the gang, but is nobody else’s', async () => {
    const { context, applied } = recordedSync();
    const labels = { team: 'a', 'app.kubernetes.io/managed-by': 'grove-operator' };
    await made(volcano).syncPodGang(context, gangOf({ labels }));
    expect(applied[0]).toMatchObject({ name: 'train', labels: { team: 'a' } });
    expect(applied[0]?.labels).toEqual({ team: 'a' });
    expect(applied[0]).not.toHaveProperty('status');
  });

  test('is watched, and goes by its owner reference', async () => {
    expect(made(volcano).owns?.()).toMatchObject([{ group: 'scheduling.volcano.sh', plural: 'podgroups' }]);
    const { context, applied, removed } = recordedSync();
    await made(volcano).onPodGangDelete(context, gangOf());
    expect([applied, removed]).toEqual([[], []]);
  });

  test('lets all gates come off at once, since the policies hold by themselves', () => {
    expect(made(volcano).releaseOrder?.(gangOf()) ?? 'all-at-once').toBe('all-at-once');
  });
});

describe('a queue that cannot be asked for', () => {
  const gang = gangOf({ annotations: { 'scheduling.grove.io/volcano-queue': 'gpu' } });
  const failing = (status: number) =>
    recordedSync({ read: () => Promise.reject(new ApiError('GET', { status, message: 'no' })) });

  test('because Muster may not: the gang goes on, with a warning', async () => {
    const { context, applied, warnings } = failing(403);
    await made(volcano).syncPodGang(context, gang);
    expect(applied).toHaveLength(1);
    expect(warnings).toEqual(['whether volcano queue "gpu" exists is not known: Muster may not read queues']);
  });

  test('because the API server fails: the sync is tried again', async () => {
    const { context, applied } = failing(500);
    await expect(made(volcano).syncPodGang(context, gang)).rejects.toThrow('500');
    expect(applied).toEqual([]);
  });
});

test('without a cluster it is ready, and says what it does not know', async () => {
  expect(await made(volcano).init(initContext())).toEqual({
    version: 'scheduling.volcano.sh/v1beta1',
    notices: ['no cluster was asked whether its Volcano is 1.14 or newer'],
  });
});

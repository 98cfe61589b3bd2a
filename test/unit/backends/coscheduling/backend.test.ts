import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { coscheduling, explainCoscheduling } from '../../../../src/backends/coscheduling/backend.ts';
import { BackendRegistry } from '../../../../src/backends/registry.ts';
import { selectForPod, selectForPodGang, type BackendSelection } from '../../../../src/backends/select.ts';
import { coschedulingPodGroups } from '../../../cluster/support/crds/coscheduling.ts';
import { clusterWith, gangOf, initContext, made } from '../../../support/made-backend.ts';
import { group, podGang, type PodGangParts } from '../../../support/pod-gangs.ts';
import { gangPod } from '../../../support/pods.ts';
import { policy } from '../../../support/policy.ts';
import { mutatePod, operationsOf, rulesOf, validatePod, validatePodGang } from '../../../support/reviews.ts';
import { patched } from '../../../support/rfc6902.ts';
import { recordedSync } from '../../../support/sync-context.ts';

const ON = { 'grove.io/scheduler-name': 'coscheduling' };
const FLAT =
  'coscheduling counts all Pods of the gang as one: the minimum of each group holds because its Pods are let go first and the others once those are bound, not in the scheduler';
const a2b1 = { groups: [group('a', { minReplicas: 2 }), group('b')] };

async function specOf(parts: PodGangParts, config: JsonObject = {}, before?: JsonObject) {
  const { context, applied } = recordedSync({
    owned: () => (before === undefined ? [] : [{ metadata: { name: 'train' }, spec: before }]),
  });
  await made(coscheduling, config).syncPodGang(context, gangOf(parts));
  return applied[0]?.spec;
}
const warningsOf = (parts: PodGangParts, config?: JsonObject) =>
  made(coscheduling, config).validatePodGang(gangOf(parts)).warnings;

describe('vector B20, the gang a2+b1', () => {
  test('is one PodGroup of three', async () => {
    expect(await specOf(a2b1, { scheduleTimeoutSeconds: 120 })).toEqual({
      minMember: 3,
      scheduleTimeoutSeconds: 120,
    });
    expect(await specOf(a2b1)).toEqual({ minMember: 3 });
  });

  test('has its Pods labelled and sent to the scheduler', () => {
    const object = gangPod({ labels: ON });
    expect(patched(object, operationsOf(mutatePod({ object })))).toMatchObject({
      metadata: { labels: { 'scheduling.x-k8s.io/pod-group': 'train' } },
      spec: { schedulerName: 'scheduler-plugins-scheduler' },
    });
  });

  test('warns of what the scheduler does not hold, and what holds it', () => {
    expect(warningsOf(a2b1)).toEqual([FLAT]);
    expect(warningsOf({ groups: [group('a', { minReplicas: 3 })] })).toEqual([]);
  });

  /** PreFilter lets a Pod past where siblings that are not gated are at least minMember. */
  test.each([
    [1, 0, 2, false],
    [3, 1, 2, true],
    [3, 1, 3, false],
    [3, 2, 2, false],
  ])('%d Pods, %d of them gated, of a group of %d: %p', (pods, gated, minMember, passes) => {
    expect(passesPreFilter(pods, gated, minMember)).toBe(passes);
  });

  test('with exactly the minimums let go passes PreFilter, with one gate less it does not', () => {
    for (const surplus of [0, 1, 5]) {
      expect(passesPreFilter(3 + surplus, surplus, 3)).toBe(true);
      expect(passesPreFilter(3 + surplus, surplus + 1, 3)).toBe(false);
    }
  });
});

const passesPreFilter = (pods: number, gated: number, minMember: number): boolean =>
  pods >= minMember && pods - gated >= minMember;

describe('releaseOrder', () => {
  test('is minimum first where groups share the count, else all at once', () => {
    const order = (parts: PodGangParts) => made(coscheduling).releaseOrder?.(gangOf(parts));
    expect(order(a2b1)).toBe('minimum-first');
    expect(order({ groups: [group('a', { minReplicas: 3 })] })).toBe('all-at-once');
    expect(order({ groups: [group('a'), group('b', { minReplicas: 0 })] })).toBe('minimum-first');
  });
});

describe('what it refuses', () => {
  const refused = (parts: PodGangParts) =>
    rulesOf(validatePodGang({ object: podGang({ labels: ON, ...parts }) }));

  test('a sum of minimums below one', () => {
    expect(refused({ groups: [group('a', { minReplicas: 0 })] })).toEqual(['MinReplicasAllZero']);
  });

  test('a name that is no label value', () => {
    expect(refused({ metadata: { name: 'x'.repeat(64) } })).toEqual(['GangNameTooLong']);
    expect(refused({ metadata: { name: 'x'.repeat(63) } })).toEqual([]);
  });

  test('a sum that the CRD does not hold', () => {
    expect(refused({ groups: [group('a', { minReplicas: 2147483647 }), group('b')] })).toEqual([
      'BackendCannotExpress',
    ]);
  });

  test('a gang of Grove’s without a minimum, unless it had one', async () => {
    const released = { groups: [group('a', { minReplicas: 0 })] };
    await expect(specOf(released)).rejects.toThrow(
      'coscheduling cannot express a gang whose groups all have minReplicas 0: raise one, or choose another backend',
    );
    expect(await specOf(released, {}, { minMember: 4 })).toEqual({ minMember: 4 });
  });
});

describe('what it warns of', () => {
  const one = [group('a')];
  test.each<[string, PodGangParts, string]>([
    [
      'topology of the gang',
      { groups: one, spec: { topologyConstraint: { packConstraint: { required: 'zone' } } } },
      'coscheduling ignores topology constraints',
    ],
    [
      'topology of a group',
      { groups: [group('a', { topologyConstraint: { packConstraint: { preferred: 'zone' } } })] },
      'coscheduling ignores topology constraints',
    ],
    [
      'a reservation',
      { groups: one, spec: { reuseReservationRef: { namespace: 'ml', name: 'old' } } },
      'coscheduling ignores spec.reuseReservationRef',
    ],
    [
      'resources that are not read',
      { groups: one, annotations: { 'muster.dev/min-resources': 'cpu=1' } },
      'the annotation muster.dev/min-resources is ignored: minResources of the profile coscheduling is off',
    ],
  ])('%s', (_what, parts, warning) => {
    expect(warningsOf(parts)).toEqual([warning]);
  });
});

describe('config', () => {
  test.each<[JsonObject, string]>([
    [
      { scheduler: 'a' },
      'config.scheduler: unknown key; keys: schedulerName, scheduleTimeoutSeconds, minResources',
    ],
    [{ schedulername: 'a' }, 'config.schedulername: unknown key (did you mean "schedulerName"?)'],
    [
      { schedulerName: '' },
      'config.schedulerName: must be the name of a scheduler, a lower-case DNS name, not ""',
    ],
    [{ scheduleTimeoutSeconds: 0 }, 'config.scheduleTimeoutSeconds: must be from 1 to 86400, not 0'],
    [{ scheduleTimeoutSeconds: '60s' }, 'config.scheduleTimeoutSeconds: must be a whole number, not "60s"'],
  ])('%j is refused', (config, message) => {
    expect(() => made(coscheduling, config)).toThrow(message);
  });

  test('minResources come from the annotation', async () => {
    const annotations = { 'muster.dev/min-resources': 'cpu=6' };
    expect(await specOf({ ...a2b1, annotations }, { minResources: true })).toEqual({
      minMember: 3,
      minResources: { cpu: '6' },
    });
  });
});

describe('the cluster', () => {
  const init = (config: JsonObject, ...crds: object[]) =>
    made(coscheduling, config).init(initContext(clusterWith(...crds)));

  test('has the PodGroup, or the backend is not ready', async () => {
    expect(await init({}, coschedulingPodGroups)).toEqual({ version: 'scheduling.x-k8s.io/v1alpha1' });
    await expect(init({})).rejects.toThrow(
      'coscheduling backend requires CRD podgroups.scheduling.x-k8s.io with version v1alpha1 and spec.minMember: install scheduler-plugins and its CRDs',
    );
  });

  test('was not asked', async () => {
    expect(await made(coscheduling).init(initContext())).toMatchObject({
      notices: ['no cluster was asked whether it has the PodGroup of scheduler-plugins'],
    });
  });

  test('has the plugin in the stock scheduler', async () => {
    const { notices } = await init({ schedulerName: 'default-scheduler' }, coschedulingPodGroups);
    expect(notices).toEqual([
      'schedulerName is default-scheduler, which says nothing on a Pod: label gangs and Pods grove.io/scheduler-name=coscheduling, or make coscheduling the default',
    ]);
  });
});

/** The plugin may be in the stock scheduler: then two backends share one schedulerName. */
describe('beside default-scheduler under the same schedulerName', () => {
  const profiles = [
    { name: 'default-scheduler' },
    { name: 'coscheduling', config: { schedulerName: 'default-scheduler' } },
  ];
  const registry = (fallback: string) => new BackendRegistry(profiles, fallback);
  const chosen = ({ resolved }: Pick<BackendSelection, 'resolved'>) => resolved?.backend.name;

  test('the name alone means the default, the label decides', () => {
    const kube = registry('default-scheduler');
    expect(kube.resolve('default-scheduler')?.backend.name).toBe('default-scheduler');
    expect(chosen(selectForPod(kube, undefined, 'default-scheduler'))).toBe('default-scheduler');
    expect(chosen(selectForPod(kube, 'coscheduling', 'default-scheduler'))).toBe('coscheduling');
    expect(chosen(selectForPodGang(kube, 'coscheduling'))).toBe('coscheduling');
  });

  test('as the default it takes Pods that name nothing, and the label leads to the other', () => {
    const flat = registry('coscheduling');
    expect(chosen(selectForPod(flat, undefined, 'default-scheduler'))).toBe('coscheduling');
    expect(chosen(selectForPod(flat, 'default-scheduler', 'default-scheduler'))).toBe('default-scheduler');
  });

  test('a labelled Pod is prepared, and let in', () => {
    const under = { ...policy(), registry: registry('default-scheduler') };
    const object = gangPod({ labels: ON });
    const stored = patched(object, operationsOf(mutatePod({ object }, under)));
    expect(stored).toMatchObject({
      metadata: { labels: { 'scheduling.x-k8s.io/pod-group': 'train' } },
      spec: { schedulerName: 'default-scheduler' },
    });
    expect(mutatePod({ object: stored }, under).changes).toEqual([]);
    expect(validatePod({ object: stored }, under).faults).toEqual([]);
  });
});

describe('what the PodGroup says', () => {
  const said = (status: JsonObject) => explainCoscheduling([{ metadata: {}, status }]);

  test('only where it tells more than the Pods do', () => {
    for (const phase of ['', 'Pending', 'Scheduling', 'Running', 'Finished']) {
      expect(said({ phase })).toBeUndefined();
    }
    expect(explainCoscheduling([])).toBeUndefined();
    expect(said({ phase: 'Failed', failed: 2 })).toBe(
      'the PodGroup is in phase Failed, 2 of its Pods failed',
    );
    expect(said({ phase: 'Unknown' })).toBe('the PodGroup is in phase Unknown');
  });
});

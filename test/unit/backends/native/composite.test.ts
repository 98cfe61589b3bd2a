/** A gang of several groups where the cluster serves CompositePodGroups. */
import { describe, expect, test } from '@jest/globals';
import { ownObject, type JsonObject } from '../../../../src/json/json.ts';
import type { GangPod, OwnedObject } from '../../../../src/backends/cluster.ts';
import { gangOf } from '../../../support/made-backend.ts';
import { group, type PodGangParts } from '../../../support/pod-gangs.ts';
import { json } from '../../../support/pods.ts';
import { recordedSync } from '../../../support/sync-context.ts';
import { kubeOn, serving, withComposites, type Served } from './served.ts';

const gang = (minCount: number): JsonObject => ({ schedulingPolicy: { gang: { minCount } } });
const allOf = (minGroupCount: number): JsonObject => ({ schedulingPolicy: { gang: { minGroupCount } } });
const template = (templateName: string): JsonObject => ({
  workloadRef: { workloadName: 'train', templateName },
});
const inTrain = { parentCompositePodGroupName: 'train' };
const BASIC = { schedulingPolicy: { basic: {} } };
const required = (key: string) => ({ topologyConstraint: { packConstraint: { required: key } } });
const level = (key: string) => ({ schedulingConstraints: { topology: [{ key }] } });
const LEADER = group('leader');
const worker = (minReplicas: number) => group('worker', { minReplicas });
const TWO: PodGangParts = { groups: [LEADER, worker(2)] };
const THREE: PodGangParts = { groups: [LEADER, worker(2), group('writer')] };

/** What is applied for the gang, by kind and name. */
async function objectsOf(
  parts: PodGangParts,
  { config = {}, pods = [] }: { readonly config?: JsonObject; readonly pods?: readonly GangPod[] } = {},
): Promise<Record<string, JsonObject>> {
  const { context, applied } = recordedSync({ pods });
  await (await kubeOn(withComposites(), config)).syncPodGang(context, gangOf(parts));
  return Object.fromEntries(applied.map(({ resource, name, spec }) => [`${resource.kind} ${name}`, spec]));
}

const podOf = (name: string, given: Partial<GangPod> = {}): GangPod => {
  const own = name.replace(/-\d+$/, '');
  return { name, group: own, gates: [], nodeName: '', nativeGang: `train.${own}`, ...given };
};

describe('the objects', () => {
  test('one for all, and one for each group with its own minimum', async () => {
    expect(await objectsOf(TWO)).toEqual({
      'Workload train': {
        compositePodGroupTemplates: [
          {
            ...{ name: 'gang', ...allOf(2) },
            podGroupTemplates: [
              { name: 'leader', ...gang(1) },
              { name: 'worker', ...gang(2) },
            ],
          },
        ],
      },
      'CompositePodGroup train': { ...template('gang'), ...allOf(2) },
      'PodGroup train.leader': { ...inTrain, ...template('leader'), ...gang(1) },
      'PodGroup train.worker': { ...inTrain, ...template('worker'), ...gang(2) },
    });
  });

  test('priority and what is disrupted at once stand on each', async () => {
    const terms = { disruptionMode: { all: {} }, priorityClassName: 'high' };
    const objects = await objectsOf(
      { ...TWO, spec: { priorityClassName: 'high' } },
      { config: { disruptionMode: 'gang' } },
    );
    for (const name of ['CompositePodGroup train', 'PodGroup train.leader', 'PodGroup train.worker'])
      expect(objects[name]).toMatchObject(terms);
    const [whole] = (objects['Workload train'] as { compositePodGroupTemplates: JsonObject[] })
      .compositePodGroupTemplates;
    expect(whole).toMatchObject({ ...terms, podGroupTemplates: [terms, terms] });
  });

  test('a gang of one group is a PodGroup, of its own name', async () => {
    expect(await objectsOf({ groups: [worker(2)] })).toEqual({
      'Workload train': { podGroupTemplates: [{ name: 'worker', ...gang(2) }] },
      'PodGroup train.worker': { ...template('worker'), ...gang(2) },
    });
  });

  test('a group without a minimum is in none', async () => {
    const objects = await objectsOf({ groups: [LEADER, group('helper', { minReplicas: 0 }), worker(2)] });
    expect(objects).toMatchObject({
      'CompositePodGroup train': allOf(2),
      'PodGroup train.worker': inTrain,
    });
    expect(objects['PodGroup train.helper']).toEqual(BASIC);
  });

  test('required levels of the gang, of several groups and of one', async () => {
    const objects = await objectsOf({
      groups: [
        group('decode', { minReplicas: 2, ...required('host') }),
        group('prefill', { minReplicas: 2 }),
        group('router'),
      ],
      spec: {
        ...required('zone'),
        topologyConstraintGroupConfigs: [
          { name: 'serving', podGroupNames: ['decode', 'prefill'], ...required('rack') },
          { name: 'loose', podGroupNames: ['router'] },
        ],
      },
    });
    expect(objects).toMatchObject({
      'CompositePodGroup train': { ...allOf(2), ...level('zone') },
      'CompositePodGroup train.serving': {
        ...inTrain,
        ...template('serving'),
        ...allOf(2),
        ...level('rack'),
      },
      'PodGroup train.decode': { parentCompositePodGroupName: 'train.serving', ...level('host') },
      'PodGroup train.prefill': { parentCompositePodGroupName: 'train.serving' },
      'PodGroup train.router': inTrain,
    });
    expect(Object.keys(objects)).toHaveLength(6);
    expect(objects['Workload train']).toMatchObject({
      compositePodGroupTemplates: [
        {
          podGroupTemplates: [{ name: 'router' }],
          compositePodGroupTemplates: [
            { name: 'serving', podGroupTemplates: [{ name: 'decode' }, { name: 'prefill' }] },
          ],
        },
      ],
    });
  });

  test('templates of the Workload have names of their own, whatever groups are called', async () => {
    const objects = await objectsOf({
      groups: [group('gang'), group('serving')],
      spec: {
        topologyConstraintGroupConfigs: [{ name: 'serving', podGroupNames: ['gang'], ...required('rack') }],
      },
    });
    const names = Object.values(objects).map((spec) => ownObject(spec, 'workloadRef')?.['templateName']);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(['gang', 'serving']));
  });

  test('more groups than a Workload holds are told apart without one', async () => {
    const objects = await objectsOf({ groups: Array.from({ length: 9 }, (_, index) => group(`g${index}`)) });
    expect(Object.keys(objects)).toHaveLength(10);
    expect(objects).toMatchObject({
      'CompositePodGroup train': { ...template('gang'), ...allOf(9) },
      'PodGroup train.g8': { ...inTrain, ...template('g8') },
    });
  });

  test('Pods of another native gang take their group out, and no other', async () => {
    const pods = [podOf('writer-0', { nativeGang: '' }), podOf('leader-0')];
    const objects = await objectsOf(THREE, { pods });
    expect(objects).toMatchObject({ 'CompositePodGroup train': allOf(2), 'PodGroup train.leader': inTrain });
    expect(objects['PodGroup train.writer']).toEqual(BASIC);
  });

  test('a gang whose Pods were all admitted under one count keeps it', async () => {
    const pods = [podOf('worker-0', { nativeGang: 'train' }), podOf('leader-0', { nativeGang: 'train' })];
    const objects = await objectsOf(TWO, { pods });
    expect(Object.keys(objects)).toEqual(['Workload train', 'PodGroup train']);
    expect(objects['PodGroup train']).toMatchObject(gang(3));
  });
});

test('the gates of a gang under one count come off as they did, also of a group without a minimum', async () => {
  const backend = await kubeOn(withComposites());
  const gangNow = gangOf({ groups: [LEADER, worker(2), group('helper', { minReplicas: 0 })] });
  const sync = (nativeGang: string) =>
    backend.syncPodGang(recordedSync({ pods: [podOf('leader-0', { nativeGang })] }).context, gangNow);
  await sync('train');
  expect(backend.releaseOrder?.(gangNow)).toBe('all-at-once');
  await sync('train.leader');
  expect(backend.releaseOrder?.(gangNow)).toBe('optional-groups-last');
  await sync('train');
  await backend.onPodGangDelete(recordedSync().context, gangNow);
  expect(backend.releaseOrder?.(gangNow)).toBe('optional-groups-last');
});

/** Syncs `parts` where the objects of `before` are stored, under a Pod that was let go. */
async function syncUnder(before: PodGangParts, parts: PodGangParts) {
  const pods = [podOf('leader-0', { nodeName: 'node-1' })];
  const backend = await kubeOn(withComposites());
  const first = recordedSync();
  await backend.syncPodGang(first.context, gangOf(before));
  const stored = ({ name, spec }: OwnedObject): JsonObject =>
    json({ metadata: { name }, spec: { disruptionMode: { single: {} }, priority: 0, ...spec } });
  const second = recordedSync({
    pods,
    owned: (plural) => first.applied.filter(({ resource }) => resource.plural === plural).map(stored),
  });
  await backend.syncPodGang(second.context, gangOf(parts));
  return {
    removed: second.removed.map(({ plural, name }) => `${plural} ${name}`),
    specs: Object.fromEntries(
      second.applied.map(({ name, resource, spec }) => [`${resource.kind} ${name}`, spec]),
    ),
    warnings: second.warnings,
  };
}

describe('under Pods that were let go', () => {
  test('nothing is made anew where nothing differs, and a minimum is patched', async () => {
    expect(await syncUnder(TWO, TWO)).toMatchObject({ removed: [], warnings: [] });
    const { removed, specs } = await syncUnder(TWO, { groups: [LEADER, worker(3)] });
    expect([removed, specs['PodGroup train.worker']]).toEqual([[], expect.objectContaining(gang(3))]);
  });

  test('a group that ends, comes or goes is counted, under the names that Pods have', async () => {
    const ended = await syncUnder(THREE, { groups: [LEADER, worker(0), group('writer')] });
    expect(ended).toMatchObject({
      removed: ['podgroups train.worker', 'compositepodgroups train'],
      specs: { 'CompositePodGroup train': allOf(2), 'PodGroup train.worker': BASIC },
      warnings: [],
    });
    expect(await syncUnder(TWO, THREE)).toMatchObject({
      removed: ['compositepodgroups train'],
      specs: { 'CompositePodGroup train': allOf(3), 'PodGroup train.writer': inTrain },
      warnings: [],
    });
    expect((await syncUnder(THREE, TWO)).removed).toEqual([
      'compositepodgroups train',
      'podgroups train.writer',
    ]);
    // The last but one that counts: what is left needs nobody to hold it together.
    expect((await syncUnder(TWO, { groups: [LEADER, worker(0)] })).removed).toEqual([
      'podgroups train.worker',
      'podgroups train.leader',
      'compositepodgroups train',
    ]);
  });

  test('Grove lets a gang go by minimums of 0: what holds the Pods that run stays', async () => {
    const none = { groups: [group('leader', { minReplicas: 0 }), worker(0)] };
    const { removed } = await syncUnder(TWO, none);
    expect(removed).toEqual([]);
  });

  test('all else stays as it was made, with a warning', async () => {
    const { removed, warnings } = await syncUnder(TWO, { ...TWO, spec: { priorityClassName: 'high' } });
    expect(removed).toEqual([]);
    expect(warnings.join()).toContain(
      'CompositePodGroup train, PodGroup train.leader, PodGroup train.worker stays as it was made',
    );
  });
});

describe('the verdict', () => {
  const verdictOn = async (parts: PodGangParts, served: Served = withComposites()) => {
    const { faults, warnings } = (await kubeOn(served)).validatePodGang(gangOf(parts));
    return { faults: faults.map(({ message, field }) => `${field}: ${message}`), warnings };
  };

  test('levels of groups and of the gang are taken, without a word', async () => {
    const parts: PodGangParts = {
      groups: [group('leader', required('host')), worker(2)],
      spec: required('zone'),
    };
    expect(await verdictOn(parts)).toEqual({ faults: [], warnings: [] });
    expect((await verdictOn(parts, serving('v1beta1'))).faults.join()).toContain(
      'one native gang stands for all groups',
    );
  });

  test('a level that a group without a minimum would have to keep is refused', async () => {
    const { faults } = await verdictOn({
      groups: [LEADER, worker(2), group('helper', { minReplicas: 0 })],
      spec: required('zone'),
    });
    expect(faults).toEqual([
      expect.stringMatching(
        /^spec\.topologyConstraint\.packConstraint\.required: .*group helper has a minReplicas of 0, so it is in no CompositePodGroup with the others/,
      ),
    ]);
  });

  test('preferred levels are told of', async () => {
    const preferred = { topologyConstraint: { packConstraint: { preferred: 'rack' } } };
    expect((await verdictOn({ ...TWO, spec: preferred })).warnings).toEqual([
      'spec.topologyConstraint.packConstraint.preferred is ignored: a native gang has required levels only',
    ]);
  });
});

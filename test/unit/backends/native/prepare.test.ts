import { describe, expect, test } from '@jest/globals';
import type { Json, JsonObject } from '../../../../src/json/json.ts';
import type { Policy } from '../../../../src/admission/policy.ts';
import { TryLater } from '../../../../src/errors.ts';
import { BackendRegistry } from '../../../../src/backends/registry.ts';
import { policy } from '../../../support/policy.ts';
import { gangPod } from '../../../support/pods.ts';
import { mutatePod, operationsOf, textsOf } from '../../../support/reviews.ts';
import { patched } from '../../../support/rfc6902.ts';
import { initContext } from '../../../support/made-backend.ts';
import { clusterServing, serving, type Served, type Version } from './served.ts';

async function policyOn(served: Served, config: JsonObject = {}): Promise<Policy> {
  const registry = new BackendRegistry([{ name: 'default-scheduler', config }], 'default-scheduler');
  await look(registry, served);
  return { ...policy(), registry, notReady: (name) => registry.unseen(name) };
}

const look = (registry: BackendRegistry, served: Served): Promise<unknown> =>
  registry.init('default-scheduler', (init) => init(initContext(clusterServing(served))));

async function preparedOn(served: Served, config: JsonObject = {}, object = gangPod()): Promise<JsonObject> {
  const under = await policyOn(served, config);
  const first = mutatePod({ object }, under);
  expect(textsOf(first)).toEqual([]);
  const prepared = patched(object, operationsOf(first));
  // Called again, as after another webhook's change, it has nothing to add.
  expect(operationsOf(mutatePod({ object: prepared }, under))).toEqual([]);
  return prepared['spec'] as JsonObject;
}

describe('what a Pod is told, by what the cluster has', () => {
  test.each<[Version, JsonObject, string, JsonObject]>([
    ['v1beta1', {}, 'worker', { schedulingGroup: { podGroupName: 'train' } }],
    ['v1alpha3', {}, 'worker', { schedulingGroup: { podGroupName: 'train' } }],
    ['v1alpha2', {}, 'worker', { schedulingGroup: { podGroupName: 'train' } }],
    ['v1alpha1', {}, 'worker', { workloadRef: { name: 'train', podGroup: 'gang' } }],
    ['v1alpha2', { groups: 'per-group' }, 'worker', { schedulingGroup: { podGroupName: 'train.worker' } }],
    ['v1alpha1', { groups: 'per-group' }, 'worker', { workloadRef: { name: 'train', podGroup: 'worker' } }],
    // No DNS label, so it is made one; the hash keeps it apart from a group that is called so.
    [
      'v1alpha2',
      { groups: 'per-group' },
      'Big_Worker.A',
      { schedulingGroup: { podGroupName: 'train.big-worker-a-6144d1be3b' } },
    ],
  ])('%s %j %s', async (version, config, group, expected) => {
    const object = gangPod({ labels: { 'grove.io/podclique': group } });
    expect(await preparedOn(serving(version), config, object)).toMatchObject(expected);
  });

  test.each<[string, Served, JsonObject]>([
    ['the cluster has none', {}, {}],
    ['they are switched off', serving('v1alpha2'), { gangScheduling: false }],
    ['the configuration says none', serving('v1alpha2'), { api: 'none' }],
  ])('nothing where %s', async (_name, served, config) => {
    const spec = await preparedOn(served, config);
    expect(Object.keys(spec)).toEqual(['schedulerName', 'containers', 'schedulingGates']);
  });

  test('a Pod that is told already stays as it is', async () => {
    const object = gangPod({ spec: { schedulingGroup: { podGroupName: 'train' } } });
    const decision = mutatePod({ object }, await policyOn(serving('v1alpha2')));
    expect(JSON.stringify(operationsOf(decision))).not.toContain('schedulingGroup');
  });

  test('two gangs of a namespace never come to the same PodGroup', async () => {
    const config = { groups: 'per-group' };
    const name = async (gang: string, group: string): Promise<unknown> => {
      const object = gangPod({ labels: { 'grove.io/podgang': gang, 'grove.io/podclique': group } });
      return ((await preparedOn(serving('v1alpha2'), config, object))['schedulingGroup'] as JsonObject)[
        'podGroupName'
      ];
    };
    const names = [
      await name('a', 'b.c'),
      await name('a.b', 'c'),
      await name('a', 'B.c'),
      await name('a', 'b-c'),
      await name('a', '..'),
    ];
    expect(new Set(names).size).toBe(names.length);
    expect(names[1]).toBe('a.b.c');
  });
});

describe('a Pod that brings a native gang of its own', () => {
  test.each<[Version, JsonObject, string, string]>([
    [
      'v1alpha2',
      { schedulingGroup: { podGroupName: 'mine' } },
      'spec.schedulingGroup.podGroupName',
      '(default-scheduler: in "mine" already, while its gang is "train": leave out the field, or the label grove.io/podgang)',
    ],
    ['v1beta1', { schedulingGroup: { podGroupName: 'mine' } }, 'spec.schedulingGroup.podGroupName', '"mine"'],
    ['v1alpha1', { workloadRef: { name: 'w', podGroup: 'g' } }, 'spec.workloadRef', '"w/g"'],
    [
      'v1alpha1',
      { workloadRef: { name: 'train', podGroup: 'gang', podGroupReplicaKey: '1' } },
      'spec.workloadRef',
      '"train/gang/1"',
    ],
  ])('is refused: %s %j', async (version, spec, field, message) => {
    const decision = mutatePod({ object: gangPod({ spec }) }, await policyOn(serving(version)));
    expect(decision.changes).toEqual([]);
    expect(textsOf(decision)).toEqual([expect.stringContaining(message)]);
    expect(decision.faults).toMatchObject([{ rule: 'BackendFailed', field }]);
  });

  const JOB = { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'j', controller: true };
  const ownedBy = (ownerReferences: Json): JsonObject =>
    gangPod({ metadata: { ownerReferences }, spec: { schedulingGroup: { podGroupName: 'train-x' } } });

  test.each<Version>(['v1beta1', 'v1alpha2'])(
    'is of its gang where it is a Job’s, whose controller gives it one unasked: %s',
    async (version) => {
      expect(await preparedOn(serving(version), {}, ownedBy([{ kind: 'Other' }, JOB]))).toMatchObject({
        schedulingGroup: { podGroupName: 'train' },
      });
    },
  );

  test.each<[string, Json]>([
    ['no Job controls it', [{ ...JOB, controller: false }]],
    ['another kind does', [{ ...JOB, kind: 'JobSet' }]],
    ['a Job of somebody else’s does', [{ ...JOB, apiVersion: 'batch.volcano.sh/v1alpha1' }]],
    ['its owners cannot be read', 'none'],
  ])('is refused where %s', async (_name, owners) => {
    const decision = mutatePod({ object: ownedBy(owners) }, await policyOn(serving('v1beta1')));
    expect(textsOf(decision)).toEqual([expect.stringContaining('in "train-x" already')]);
  });

  test('keeps it where the backend is told to leave native gangs alone', async () => {
    const spec = { schedulingGroup: { podGroupName: 'mine' } };
    expect(await preparedOn(serving('v1alpha2'), { gangScheduling: false }, gangPod({ spec }))).toMatchObject(
      spec,
    );
  });
});

describe('before anything is known', () => {
  test.each<JsonObject>([{}, { api: 'v1alpha2' }])(
    'of a cluster that does not answer, Pods come again: they could not be put into a gang later (%j)',
    async (config) => {
      const under = await policyOn({ down: 'connection refused' }, config);
      expect(() => mutatePod({ object: gangPod() }, under)).toThrow(
        new TryLater(
          'not-ready',
          'backend default-scheduler could not look at the cluster yet: connection refused',
        ),
      );
    },
  );

  test('a configuration that wants no native gangs needs no answer', async () => {
    const spec = await preparedOn({ down: 'connection refused' }, { api: 'none' });
    expect(spec).not.toHaveProperty('schedulingGroup');
  });

  test('an answer that came once is gone by until there is another', async () => {
    const under = await policyOn(serving('v1alpha2'));
    await look(under.registry, { down: 'connection refused' });
    expect(operationsOf(mutatePod({ object: gangPod() }, under))).toContainEqual({
      op: 'add',
      path: '/spec/schedulingGroup',
      value: { podGroupName: 'train' },
    });
  });

  test('a dry run that fails keeps no Pod: they are told by what is served', async () => {
    const cluster = clusterServing(serving('v1alpha2'));
    const under = policy({ enabled: ['default-scheduler'] });
    const denied = { ...cluster, dryRunCreate: () => Promise.reject(new Error('podgroups is forbidden')) };
    await expect(under.registry.default.init(initContext(denied))).rejects.toThrow('podgroups is forbidden');
    expect(JSON.stringify(operationsOf(mutatePod({ object: gangPod() }, under)))).toContain(
      'schedulingGroup',
    );
  });
});

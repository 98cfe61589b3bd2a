import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/json/json.ts';
import { MUSTER_USER } from '../../../src/api/names.ts';
import {
  completeGroups,
  condition,
  group,
  INITIALIZED,
  NOT_INITIALIZED,
  podGang,
  references,
  statusOf,
} from '../../support/pod-gangs.ts';
import { policy } from '../../support/policy.ts';
import { mutatePodGang, rulesOf, textsOf, validatePodGang } from '../../support/reviews.ts';

const GROVE = { 'app.kubernetes.io/managed-by': 'grove-operator' };
const scheduler = (name: string): JsonObject => ({ 'grove.io/scheduler-name': name });
const update = (oldObject: JsonObject, object: JsonObject, under = policy()) =>
  validatePodGang({ oldObject, object }, under);

/** As it may lie in etcd from before the rules: hardly anything is right. */
const wrong = {
  groups: [group('a b', { podReferences: null }), group('a b', { minReplicas: -4 })],
  labels: scheduler('retired'),
  status: statusOf(INITIALIZED, NOT_INITIALIZED),
};

describe('nothing stands in the way of', () => {
  const deleted = { deletionTimestamp: '2026-06-01T12:00:00Z' };

  test.each([
    ['deletion', { operation: 'DELETE', oldObject: podGang(wrong) }],
    [
      'the removal of a finalizer',
      {
        oldObject: podGang({ ...wrong, metadata: { ...deleted, finalizers: ['x/y'] } }),
        object: podGang({ ...wrong, metadata: deleted }),
      },
    ],
    [
      'that removal by a client that leaves deletionTimestamp out',
      { oldObject: podGang({ ...wrong, metadata: deleted }), object: podGang({ groups: [] }) },
    ],
    [
      'the removal of a finalizer before deletion',
      { oldObject: podGang({ ...wrong, metadata: { finalizers: ['x/y'] } }), object: podGang(wrong) },
    ],
    [
      'an annotation, also on a gang that no rule would let in today',
      { oldObject: podGang(wrong), object: podGang({ ...wrong, annotations: { note: 'hello' } }) },
    ],
    [
      'a label on such a gang',
      { oldObject: podGang(wrong), object: podGang({ ...wrong, labels: { ...wrong.labels, tier: 'gold' } }) },
    ],
    [
      'an annotation where the level was taken out of the configuration',
      {
        oldObject: podGang({ spec: { topologyConstraint: { packConstraint: { required: 'a/b' } } } }),
        object: podGang({
          spec: { topologyConstraint: { packConstraint: { required: 'a/b' } } },
          annotations: { note: 'hello' },
        }),
      },
    ],
    [
      'a status of other conditions on a gang that no rule would let in',
      {
        oldObject: podGang(wrong),
        object: podGang({
          ...wrong,
          status: statusOf(INITIALIZED, NOT_INITIALIZED, condition('Ready', 'True')),
        }),
        subResource: 'status',
      },
    ],
  ])('%s', (_what, parts) => {
    expect(validatePodGang(parts, policy({ levels: ['topology.kubernetes.io/zone'] })).faults).toEqual([]);
  });

  test('and no such update is warned about', () => {
    const decision = update(podGang(), podGang({ annotations: { note: 'hello' } }));
    expect(decision).toMatchObject({ faults: [], warnings: [] });
  });

  test('but a deletionTimestamp in the new object alone opens no door', () => {
    expect(rulesOf(validatePodGang({ object: podGang({ metadata: deleted, groups: [] }) }))).toEqual([
      'GroupsRequired',
    ]);
    expect(rulesOf(update(podGang(), podGang({ metadata: deleted, groups: [] })))).toEqual([
      'GroupsRequired',
    ]);
  });

  test.each(['DELETE', 'CONNECT'])('%s, even if a strange server sends an object with it', (operation) => {
    const parts = { operation, object: podGang({ groups: [] }), oldObject: podGang() };
    for (const decide of [mutatePodGang, validatePodGang]) {
      expect(decide(parts)).toMatchObject({ faults: [], changes: [], warnings: [] });
    }
  });

  test('other subresources are let through', () => {
    const parts = { oldObject: podGang(), object: podGang(wrong), subResource: 'scale' };
    expect(validatePodGang(parts).faults).toEqual([]);
  });
});

describe('an update of the spec', () => {
  test('is held to all rules, the backend’s too, and warned', () => {
    const decision = update(podGang(), podGang({ groups: [group('a', { minReplicas: 0 })] }));
    expect(rulesOf(decision)).toEqual(['MinReplicasAllZero']);
    expect(decision.warnings).toHaveLength(1);
    expect(
      rulesOf(
        update(
          podGang({ labels: scheduler('kai-scheduler') }),
          podGang({ labels: scheduler('kai-scheduler'), groups: [group('A')] }),
        ),
      ),
    ).toEqual(['BackendCannotExpress']);
  });
});

describe('who manages a gang', () => {
  const groves = { labels: GROVE };

  test.each([
    ['handed over', {}, groves],
    ['taken back', groves, {}],
    ['taken back with another name', groves, { labels: { 'app.kubernetes.io/managed-by': 'helm' } }],
  ])('is only %s by trusted accounts', (_what, before, after) => {
    const parts = { oldObject: podGang(before), object: podGang(after) };
    expect(rulesOf(validatePodGang(parts))).toEqual(['ManagerProtected']);
    expect(validatePodGang({ ...parts, username: MUSTER_USER }).faults).toEqual([]);
  });

  test('is nobody’s business among other managers', () => {
    const helm = { labels: { 'app.kubernetes.io/managed-by': 'helm' } };
    expect(update(podGang(), podGang(helm)).faults).toEqual([]);
  });
});

describe('the loop’s references', () => {
  const retired = {
    labels: scheduler('retired'),
    spec: { topologyConstraint: { packConstraint: { required: 'a/b' } } },
  };
  const write = (...names: string[]) =>
    validatePodGang(
      {
        oldObject: podGang({ ...retired, groups: [group('leader')] }),
        object: podGang({ ...retired, groups: [group('leader', { podReferences: references(...names) })] }),
        username: MUSTER_USER,
      },
      policy({ levels: ['topology.kubernetes.io/zone'] }),
    );

  test('are let in also where backend and level have left the configuration since', () => {
    expect(write('leader-0').faults).toEqual([]);
  });

  test('are held to what references must keep', () => {
    expect(rulesOf(write('leader-0', 'leader-0', 'A'))).toEqual(['ReferenceDuplicate', 'ReferenceInvalid']);
  });
});

describe('the scheduler label', () => {
  const kai = scheduler('kai-scheduler');

  test.each([
    ['added for another backend', {}, { labels: kai }],
    ['changed to another backend', { labels: kai }, { labels: scheduler('default-scheduler') }],
    ['removed where the default is another', { labels: kai }, {}],
    ['changed to a name nobody knows', {}, { labels: scheduler('slurm') }],
    ['changed from a name nobody knows any more', { labels: scheduler('retired') }, {}],
  ])('is never %s', (_what, before, after) => {
    expect(rulesOf(update(podGang(before), podGang(after)))).toEqual(['SchedulerLabelImmutable']);
    const spec = { groups: [group('leader')] };
    expect(rulesOf(update(podGang(before), podGang({ ...after, ...spec })))).toContain(
      'SchedulerLabelImmutable',
    );
  });

  test.each([
    ['to a former name', { labels: kai }, { labels: scheduler('grove-scheduler') }],
    ['from a former name', { labels: scheduler('grove-scheduler') }, { labels: kai }],
    ['to the default by name', {}, { labels: scheduler('default-scheduler') }],
    ['from the default by name', { labels: scheduler('default-scheduler') }, {}],
  ])('may be written in another way for the same backend: %s', (_what, before, after) => {
    expect(update(podGang(before), podGang(after)).faults).toEqual([]);
  });

  test('says what it was and what was asked for', () => {
    expect(textsOf(update(podGang({ labels: kai }), podGang()))[0]).toContain(
      '(was kai-scheduler, now not set)',
    );
  });
});

describe('the hosts of a gang with an HPCPolicy', () => {
  const flux = { 'muster.dev/hpc-policy': 'flux' };
  const made = { ...flux, 'muster.dev/workload': 'statefulset/a' };
  const pods = [group('worker', { podReferences: references('worker-0') })];
  const listing = (of: string | undefined, annotations: JsonObject, parts: JsonObject): JsonObject =>
    podGang({
      ...{ groups: pods, ...parts },
      annotations: { ...annotations, ...(of !== undefined && { 'muster.dev/hosts': of }) },
    });
  const changed = (
    from: string | undefined,
    to: string | undefined,
    annotations: JsonObject = flux,
    parts: JsonObject = {},
  ): string[] => rulesOf(update(listing(from, annotations, parts), listing(to, annotations, parts)));
  const [one, two] = ['worker=a-0', 'worker=a-[0-1]'];

  test('stay while it has Pods, whether they are added, changed or taken off', () => {
    expect(changed(one, two)).toEqual(['HpcHostsFixed']);
    expect(changed(undefined, one)).toEqual(['HpcHostsFixed']);
    expect(changed(one, undefined)).toEqual(['HpcHostsFixed']);
    expect(changed(one, one)).toEqual([]);
    const other = listing(two, { 'muster.dev/hpc-policy': 'other' }, {});
    expect(rulesOf(update(listing(one, flux, {}), other))).toEqual(['HpcPolicyFixed', 'HpcHostsFixed']);
  });

  test('change before it has Pods, and of a gang that no policy prepares', () => {
    expect(changed(one, two, flux, { groups: [group('worker')] })).toEqual([]);
    expect(changed(one, two, {})).toEqual([]);
  });

  test('follow a workload that is scaled until the gang starts', () => {
    expect(changed(one, two, made)).toEqual([]);
    expect(changed(one, two, made, { status: statusOf(NOT_INITIALIZED) })).toEqual([]);
    expect(changed(one, two, made, { status: statusOf(INITIALIZED) })).toEqual(['HpcHostsFixed']);
  });
});

describe('a PodGang that Grove manages', () => {
  const grove = (parts: Parameters<typeof podGang>[0] = {}): JsonObject =>
    podGang({ ...parts, labels: { ...GROVE, ...parts?.labels } });
  const released = [group('leader', { minReplicas: 0 }), group('worker', { minReplicas: 0 })];

  test.each([
    ['releases itself with all minReplicas 0', { groups: released }],
    ['is between its groups', { groups: [] }],
    ['names a scheduler that Muster does not serve', { labels: scheduler('lpx-scheduler') }],
    [
      'has topology levels of Grove’s own',
      { spec: { topologyConstraint: { packConstraint: { required: 'grove/x' } } } },
    ],
  ])('%s', (_what, parts) => {
    const under = policy({ levels: ['topology.kubernetes.io/zone'] });
    for (const decision of [
      validatePodGang({ object: grove(parts) }, under),
      update(grove(), grove(parts), under),
    ]) {
      expect(decision).toMatchObject({ faults: [], warnings: [], backend: undefined });
    }
  });

  test('changes groups, references and scheduler after Initialized, by whatever account it runs as', () => {
    const before = grove({ groups: completeGroups(), status: statusOf(INITIALIZED) });
    const after = grove({
      groups: [group('other')],
      labels: scheduler('kai-scheduler'),
      status: statusOf(INITIALIZED),
    });
    expect(update(before, after).faults).toEqual([]);
  });

  test('is Initialized when Grove says so, but never goes back', () => {
    const status = (...conditions: Parameters<typeof statusOf>) => grove({ status: statusOf(...conditions) });
    const subResource = 'status';
    expect(validatePodGang({ oldObject: grove(), object: status(INITIALIZED), subResource }).faults).toEqual(
      [],
    );
    expect(
      rulesOf(
        validatePodGang({ oldObject: status(INITIALIZED), object: status(NOT_INITIALIZED), subResource }),
      ),
    ).toEqual(['InitializedFinal']);
  });

  test('is still held to names, references and group configurations', () => {
    const object = grove({ groups: [group('a b')], metadata: { name: 'a'.repeat(64) } });
    expect(rulesOf(validatePodGang({ object }))).toEqual(['GangNameTooLong', 'GroupNameInvalid']);
  });

  test('is known by its stored label: to put the label on does not help', () => {
    const before = podGang({ groups: completeGroups(), status: statusOf(INITIALIZED) });
    const after = grove({ groups: [group('other')], status: statusOf(INITIALIZED) });
    expect(rulesOf(update(before, after))).toEqual([
      'GroupsFixed',
      'GroupsFixed',
      'GroupsFixed',
      'ManagerProtected',
    ]);
    const claimed = grove({ groups: completeGroups(), status: statusOf() });
    expect(rulesOf(validatePodGang({ oldObject: before, object: claimed, subResource: 'status' }))).toEqual([
      'InitializedProtected',
      'InitializedFinal',
    ]);
  });

  test('is still Grove’s in the update that takes the label off', () => {
    const parts = { oldObject: grove(), object: podGang({ groups: released }) };
    expect(validatePodGang({ ...parts, username: MUSTER_USER }).faults).toEqual([]);
  });
});

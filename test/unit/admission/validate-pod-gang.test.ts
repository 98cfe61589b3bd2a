import { describe, expect, test } from '@jest/globals';
import type { Json } from '../../../src/json/json.ts';
import { group, podGang, references } from '../../support/pod-gangs.ts';
import { policy } from '../../support/policy.ts';
import { answer, codeOf, review, rulesOf, textsOf, validatePodGang } from '../../support/reviews.ts';

const ZONE = 'topology.kubernetes.io/zone';
const RACK = 'example.com/rack';
const GANG_WARNING =
  'default-scheduler has no gang: the gates hold the Pods until all are there, then each is placed by itself';
const onKai = { 'grove.io/scheduler-name': 'kai-scheduler' };
const rulesOfNew = (groups: Json): string[] => rulesOf(validatePodGang({ object: podGang({ groups }) }));

describe('a new PodGang', () => {
  test('that is right is let in, audited, and warned where kube-scheduler serves it', () => {
    expect(validatePodGang({ object: podGang() })).toEqual({
      faults: [],
      changes: [],
      warnings: [GANG_WARNING],
      backend: 'default-scheduler',
      gang: 'ml/train',
    });
  });

  test('is told all its faults in one answer: 422 with a cause each', () => {
    const object = podGang({
      metadata: { name: 'a'.repeat(64) },
      groups: [group('a b'), group('c', { minReplicas: -1 })],
      spec: { priorityClassName: 'No!' },
    });
    const response = answer('validate', 'PodGang', review('PodGang', { object }));
    expect(response['allowed']).toBe(false);
    const { code, reason, message, details } = response['status'] as Record<string, Json>;
    expect([code, reason]).toEqual([422, 'Invalid']);
    expect((details as { causes: { field: string }[] }).causes.map(({ field }) => field)).toEqual([
      'spec.podgroups[1].minReplicas',
      'metadata.name',
      'spec.podgroups[0].name',
      'spec.priorityClassName',
    ]);
    expect(message).toMatch(/^PodGang a{64} has 4 faults: \(1\) spec\.podgroups\[1\]/);
  });

  test.each([
    ['of 63 characters', 'a'.repeat(63), []],
    ['of 64 characters', 'a'.repeat(64), ['GangNameTooLong']],
  ])('may have a name %s', (_what, name, rules) => {
    expect(rulesOf(validatePodGang({ object: podGang({ metadata: { name } }) }))).toEqual(rules);
  });

  test.each([
    ['63 characters', 'a'.repeat(63), []],
    ['capitals, dots and underscores', 'A.b_c-9', []],
    ['64 characters', 'a'.repeat(64), ['GroupNameInvalid']],
    ['a dash at its end', 'a-', ['GroupNameInvalid']],
    ['a slash', 'a/b', ['GroupNameInvalid']],
    ['a line feed at its end', 'a\n', ['GroupNameInvalid']],
    ['a letter of another alphabet', 'ä', ['GroupNameInvalid']],
  ])('may have a group name with %s', (_what, name, rules) => {
    expect(rulesOfNew([group(name)])).toEqual(rules);
  });

  test.each([
    [0, []],
    [2_147_483_647, []],
    [-1, ['MinReplicasInvalid']],
    [2_147_483_648, ['MinReplicasInvalid']],
    [0.5, ['MinReplicasInvalid']],
    ['3', ['MinReplicasInvalid']],
    [null, ['FieldRequired']],
    [undefined, ['FieldRequired']],
  ])('may have minReplicas %p beside a group with more', (minReplicas, rules) => {
    expect(rulesOfNew([group('a'), group('b', { minReplicas })])).toEqual(rules);
  });

  test.each([
    ['of its own namespace', references('p-0', 'p-1'), []],
    ['of another namespace', [{ namespace: 'web', name: 'p' }], ['ReferenceForeign']],
    ['without namespace', [{ name: 'p' }], ['FieldRequired']],
    ['that are no objects', ['p-0'], ['FieldType', 'FieldRequired', 'FieldRequired']],
    ['twice in a group', references('p-0', 'p-0'), ['ReferenceDuplicate']],
    ['of impossible names', references('P', 'a'.repeat(254)), ['ReferenceInvalid', 'ReferenceInvalid']],
  ])('may refer to Pods %s', (_what, podReferences, rules) => {
    expect(rulesOfNew([group('a', { podReferences })])).toEqual(rules);
  });
});

describe('topology', () => {
  const withPack = (packConstraint: Json, levels?: readonly string[]) =>
    validatePodGang(
      {
        object: podGang({
          labels: onKai,
          annotations: { 'grove.io/topology-name': 'dc' },
          spec: { topologyConstraint: { packConstraint } },
        }),
      },
      policy(levels === undefined ? {} : { levels }),
    );

  test.each([
    ['a level', { required: ZONE }, []],
    ['the same level preferred', { required: ZONE, preferred: ZONE }, []],
    ['a narrower level preferred', { required: ZONE, preferred: RACK }, []],
    ['a broader level preferred', { required: RACK, preferred: ZONE }, ['TopologyOrder']],
    ['no level', { required: 'example.com/row' }, ['TopologyLevelUnknown']],
    ['no label key', { required: 'a b', preferred: '/x' }, ['TopologyKeyInvalid', 'TopologyKeyInvalid']],
    ['empty texts', { required: '', preferred: '' }, []],
    ['nothing', {}, []],
    ['a wrong type', { required: 5 }, ['FieldType']],
  ])('on: %s', (_what, pack, rules) => {
    expect(rulesOf(withPack(pack, [ZONE, RACK]))).toEqual(rules);
  });

  test('off: constraints are let in with a warning of what becomes of them, keys are still checked', () => {
    const decision = withPack({ required: RACK, preferred: ZONE });
    expect(decision).toMatchObject({ faults: [] });
    expect(decision.warnings).toEqual([
      'topology levels are not checked: topologyAwareScheduling is not enabled in the configuration',
      'kai-scheduler is told no topology constraints: topologyAwareScheduling is not enabled',
    ]);
    expect(rulesOf(withPack({ required: 'a b' }))).toEqual(['TopologyKeyInvalid']);
    expect(withPack({}).warnings).toEqual([]);
  });

  test('is checked in groups and group configurations too, and the path says where', () => {
    const topologyConstraint = { packConstraint: { required: 'example.com/row' } };
    const object = podGang({
      groups: [group('leader'), group('worker', { topologyConstraint })],
      spec: {
        topologyConstraintGroupConfigs: [{ name: 'c', podGroupNames: ['leader'], topologyConstraint }],
      },
    });
    const decision = validatePodGang({ object }, policy({ levels: [ZONE] }));
    expect(decision.faults.map(({ field }) => field)).toEqual([
      'spec.topologyConstraintGroupConfigs[0].topologyConstraint.packConstraint.required',
      'spec.podgroups[1].topologyConstraint.packConstraint.required',
    ]);
  });
});

describe('group configurations', () => {
  const withConfigs = (...topologyConstraintGroupConfigs: Json[]) =>
    validatePodGang({ object: podGang({ spec: { topologyConstraintGroupConfigs } }) });

  test('have names of their own, known groups, and no group twice', () => {
    expect(
      textsOf(
        withConfigs(
          { name: 'c', podGroupNames: ['leader', 'leader'] },
          { name: 'c', podGroupNames: ['nobody'] },
        ),
      ).map((text) => text.replace(/.*\[(\w+)\]$/, '$1')),
    ).toEqual(['GroupConfigOverlap', 'GroupConfigDuplicate', 'GroupConfigUnknownGroup']);
  });

  test('without groups are let in with a warning', () => {
    const decision = withConfigs({ name: 'c', podGroupNames: [] });
    expect(decision).toMatchObject({ faults: [] });
    expect(decision.warnings).toContain(
      'spec.topologyConstraintGroupConfigs[0].podGroupNames is empty: it constrains nothing',
    );
  });

  test('need a name and a list', () => {
    expect(rulesOf(withConfigs({ podGroupNames: 'leader' }, { name: 'c' }, 'x'))).toEqual([
      'FieldType',
      'FieldRequired',
      'FieldRequired',
      'FieldType',
      'FieldRequired',
      'FieldRequired',
    ]);
  });
});

describe('what the chosen backend cannot express', () => {
  test('kube-scheduler: topology and reservations are ignored, and it says so; its Pods have the priority', () => {
    const spec = {
      topologyConstraint: { packConstraint: { required: ZONE } },
      priorityClassName: 'high',
      reuseReservationRef: { namespace: 'ml', name: 'r' },
    };
    const decision = validatePodGang({ object: podGang({ spec }) }, policy({ levels: [ZONE] }));
    expect(decision.faults).toEqual([]);
    expect(decision.warnings).toEqual([
      GANG_WARNING,
      'default-scheduler ignores topology constraints',
      'default-scheduler ignores spec.reuseReservationRef',
    ]);
  });

  test('KAI: names that are no DNS labels or stand for two things, topology without its name', () => {
    const object = podGang({
      labels: onKai,
      groups: [group('Leader'), group('worker')],
      spec: {
        topologyConstraint: { packConstraint: { required: ZONE } },
        topologyConstraintGroupConfigs: [
          { name: 'worker', podGroupNames: ['worker'] },
          { name: 'A_b', podGroupNames: ['Leader'] },
        ],
        reuseReservationRef: { namespace: 'ml', name: 'r' },
      },
    });
    const decision = validatePodGang({ object }, policy({ levels: [ZONE] }));
    expect(decision.backend).toBe('kai-scheduler');
    expect(decision.faults.map(({ rule, field }) => `${rule} ${field}`)).toEqual([
      'BackendCannotExpress spec.podgroups[0].name',
      'BackendCannotExpress spec.topologyConstraintGroupConfigs[0].name',
      'BackendCannotExpress spec.topologyConstraintGroupConfigs[1].name',
      'BackendCannotExpress spec.topologyConstraint.packConstraint.required',
    ]);
    expect(decision.warnings).toEqual(['kai-scheduler ignores spec.reuseReservationRef']);
  });

  test('a former name of a backend works with a warning', () => {
    const object = podGang({ labels: { 'grove.io/scheduler-name': 'grove-scheduler' } });
    expect(validatePodGang({ object })).toMatchObject({
      faults: [],
      backend: 'kai-scheduler',
      warnings: ['scheduler name "grove-scheduler" is deprecated: use "kai-scheduler"'],
    });
  });

  test('a scheduler that is not enabled is refused beside the other faults', () => {
    const object = podGang({ labels: { 'grove.io/scheduler-name': 'slurm' }, groups: [] });
    const decision = validatePodGang({ object });
    expect(rulesOf(decision)).toEqual(['GroupsRequired', 'SchedulerNotEnabled']);
    expect(codeOf('PodGang', { object }, decision)).toBe(422);
  });
});

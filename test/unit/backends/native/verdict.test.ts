import { describe, expect, test } from '@jest/globals';
import type { Json, JsonObject } from '../../../../src/json/json.ts';
import { native } from '../../../../src/backends/native/backend.ts';
import { gangOf, initContext, made } from '../../../support/made-backend.ts';
import { condition, group, type PodGangParts } from '../../../support/pod-gangs.ts';
import { kubeOn, serving, type Served } from './served.ts';

const ALONE =
  'default-scheduler has no gang: the gates hold the Pods until all are there, then each is placed by itself';
const APART =
  'each group is a gang of its own here (config.groups: per-group): one may start without the others';
const PER_GROUP = { groups: 'per-group' };
const many = (count: number): Json => Array.from({ length: count }, (_, index) => group(`g${index}`));
const pack = (packConstraint: JsonObject) => ({ topologyConstraint: { packConstraint } });
const required = (key: string) => pack({ required: key });

async function verdictOn(served: Served, parts: PodGangParts, config: JsonObject = {}) {
  const { faults, warnings } = (await kubeOn(served, config)).validatePodGang(gangOf(parts));
  return { faults: faults.map(({ field, message }) => `${field}: ${message}`), warnings };
}

const cannot = (field: string, value: string, detail: string): string =>
  `${field}: Unsupported value: ${value}: the scheduler of this gang cannot do this (${detail}); change it, or choose another backend with the label grove.io/scheduler-name [BackendCannotExpress]`;

/** The rows of the validator matrix that are about native gangs. */
describe('what native gangs cannot express is refused', () => {
  test.each<[string, Served, JsonObject, PodGangParts, string[]]>([
    [
      'more than 8 groups, in 1.35, each a gang',
      serving('v1alpha1'),
      PER_GROUP,
      { groups: many(9) },
      [cannot('spec.podgroups', '9', 'a Workload has at most 8 groups; config.groups: flat has no limit')],
    ],
    ['8 of them', serving('v1alpha1'), PER_GROUP, { groups: many(8) }, []],
    ['more than 8, all one gang', serving('v1alpha1'), {}, { groups: many(9) }, []],
    [
      'more than 8, in 1.36, where PodGroups need no Workload',
      serving('v1alpha2'),
      PER_GROUP,
      { groups: many(9) },
      [],
    ],
    [
      'a group without a minimum: a basic policy',
      serving('v1alpha2'),
      PER_GROUP,
      { groups: [group('a'), group('b', { minReplicas: 0 })] },
      [],
    ],
    [
      'a sum that no minCount holds',
      serving('v1alpha2'),
      {},
      { groups: [group('a', { minReplicas: 2_147_483_647 }), group('b')] },
      [cannot('spec.podgroups', '2147483648', 'the sum of minReplicas is at most 2147483647')],
    ],
    [
      'required topology where the gate is off',
      serving('v1alpha2', ['schedulingConstraints']),
      {},
      { spec: required('rack') },
      [
        cannot(
          'spec.topologyConstraint.packConstraint.required',
          '"rack"',
          'feature gate TopologyAwareWorkloadScheduling is off',
        ),
      ],
    ],
    [
      'required topology in 1.35',
      serving('v1alpha1'),
      {},
      { spec: required('rack') },
      [expect.stringContaining('TopologyAwareWorkloadScheduling is off') as unknown as string],
    ],
    ['required topology where the gate is on', serving('v1alpha2'), {}, { spec: required('rack') }, []],
    [
      'a level of one group where all are one gang',
      serving('v1alpha2'),
      {},
      { groups: [group('a'), group('b', required('rack'))] },
      [
        cannot(
          'spec.podgroups[1].topologyConstraint.packConstraint.required',
          '"rack"',
          'one native gang stands for all groups, so a level is for the whole gang',
        ),
      ],
    ],
    [
      'a level of all groups, and of some, where each is a gang',
      serving('v1alpha2'),
      PER_GROUP,
      {
        groups: many(3),
        spec: {
          ...required('zone'),
          topologyConstraintGroupConfigs: [
            { name: 'pair', podGroupNames: ['g0', 'g1'], ...required('rack') },
            { name: 'single', podGroupNames: ['g2'], ...required('rack') },
            { name: 'empty', podGroupNames: [], ...required('rack') },
          ],
        },
      },
      ['spec', 'spec.topologyConstraintGroupConfigs[0]'].map((path, index) =>
        cannot(
          `${path}.topologyConstraint.packConstraint.required`,
          index === 0 ? '"zone"' : '"rack"',
          'each group is a native gang, so a level is for one group',
        ),
      ),
    ],
    [
      'a class of the system, whose priority a PodGroup does not take',
      serving('v1alpha2'),
      {},
      { spec: { priorityClassName: 'system-node-critical' } },
      [
        cannot(
          'spec.priorityClassName',
          '"system-node-critical"',
          'a PodGroup takes no priority over 1000000000',
        ),
      ],
    ],
    [
      'required topology where the cluster has no native gangs',
      {},
      {},
      { spec: required('rack') },
      [expect.stringContaining('cannot do this') as unknown as string],
    ],
    [
      'required topology where they are switched off',
      serving('v1alpha2'),
      { gangScheduling: false },
      { spec: required('rack') },
      [expect.stringContaining('cannot do this') as unknown as string],
    ],
  ])('%s', async (_name, served, config, parts, faults) => {
    expect((await verdictOn(served, parts, config)).faults).toEqual(faults);
  });

  test('but not while nobody has looked at a cluster', async () => {
    const backend = made(native);
    const gang = gangOf({ spec: required('rack') });
    expect(backend.validatePodGang(gang).faults).toEqual([]);
    await backend.init(initContext());
    expect(backend.validatePodGang(gang)).toEqual({
      faults: [],
      warnings: [ALONE, 'default-scheduler ignores topology constraints'],
    });
  });
});

describe('what native gangs will not do is said', () => {
  test.each<[string, Served, JsonObject, PodGangParts, string[]]>([
    ['several groups as one: all or nothing, nothing to say', serving('v1alpha2'), {}, {}, []],
    ['several groups, each a gang', serving('v1alpha2'), PER_GROUP, {}, [APART]],
    ['one group', serving('v1alpha2'), PER_GROUP, { groups: [group('a')] }, []],
    [
      'a preferred level',
      serving('v1alpha2'),
      {},
      { spec: pack({ preferred: 'rack' }) },
      ['spec.topologyConstraint.packConstraint.preferred is ignored: a native gang has required levels only'],
    ],
    [
      'a second level for the same Pods',
      serving('v1alpha2'),
      {},
      { groups: [group('a', required('rack'))], spec: required('zone') },
      [
        'spec.topologyConstraint.packConstraint.required is ignored: a native gang has one level, the narrowest given',
      ],
    ],
    [
      'a priority: nothing to say, the Pods get it too',
      serving('v1alpha2'),
      {},
      { spec: { priorityClassName: 'high' } },
      [],
    ],
    [
      'a priority where the gate is off',
      serving('v1alpha2', ['disruptionMode']),
      {},
      { spec: { priorityClassName: 'system-node-critical' } },
      [],
    ],
    [
      'a reservation',
      serving('v1alpha2'),
      {},
      { spec: { reuseReservationRef: { namespace: 'ml', name: 'r' } } },
      ['default-scheduler ignores spec.reuseReservationRef'],
    ],
    ['no native gangs at all', {}, {}, {}, [ALONE]],
    ['native gangs switched off', serving('v1alpha2'), { api: 'none' }, {}, [ALONE]],
  ])('%s', async (_name, served, config, parts, warnings) => {
    expect(await verdictOn(served, parts, config)).toEqual({ faults: [], warnings });
  });
});

describe('what the scheduler says', () => {
  const podGroup = (name: string, ...conditions: Json[]): JsonObject => ({
    kind: 'PodGroup',
    metadata: { name },
    status: { conditions },
  });
  const refusal = (type: string, message?: string): Json =>
    condition(type, 'False', { reason: 'Unschedulable', message });
  const { explain } = made(native) as { explain: (this: void, objects: readonly JsonObject[]) => string };

  test.each<[string, JsonObject[], string | undefined]>([
    ['nothing yet', [podGroup('train')], undefined],
    ['that it is placed', [podGroup('train', condition('PodGroupScheduled', 'True'))], undefined],
    [
      '1.36',
      [
        { kind: 'Workload', metadata: { name: 'train' } },
        podGroup('train', refusal('PodGroupScheduled', 'pod group is\nunschedulable')),
      ],
      'PodGroup train: pod group is unschedulable',
    ],
    [
      '1.37, of two',
      [
        podGroup('train.a', refusal('PodGroupInitiallyScheduled', 'no room')),
        podGroup('train.b', condition('DisruptionTarget', 'False'), refusal('PodGroupInitiallyScheduled')),
      ],
      'PodGroup train.a: no room; PodGroup train.b: Unschedulable',
    ],
    ['a condition of somebody else’s', [podGroup('train', refusal('Other', 'x'))], undefined],
    ['nonsense', [{}, { status: { conditions: 'x' } }], undefined],
  ])('%s', (_name, objects, text) => {
    expect(explain(objects)).toBe(text);
  });
});

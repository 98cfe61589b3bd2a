import { describe, expect, test } from '@jest/globals';
import { own, type Json, type JsonObject } from '../../../../src/json/json.ts';
import { gangOf } from '../../../support/made-backend.ts';
import { group, type PodGangParts } from '../../../support/pod-gangs.ts';
import { recordedSync } from '../../../support/sync-context.ts';
import { kubeOn, serving, type Served, type Version } from './served.ts';

/** `Kind name`, to spec, in the order of creation. */
async function objectsOn(served: Served, parts: PodGangParts = {}, config: JsonObject = {}) {
  const { context, applied } = recordedSync();
  await (await kubeOn(served, config)).syncPodGang(context, gangOf(parts));
  return applied.map(({ resource, name, spec }) => [`${resource.version} ${resource.kind} ${name}`, spec]);
}

const gang = (minCount: number): JsonObject => ({ gang: { minCount } });
const WHOLE = { name: 'gang', schedulingPolicy: gang(3) };
const many = (count: number): Json => Array.from({ length: count }, (_, index) => group(`g${index}`));
const required = (key: string) => ({ topologyConstraint: { packConstraint: { required: key } } });
const ZONE = 'topology.kubernetes.io/zone';

describe('the objects of a gang: leader 1, worker 2', () => {
  test.each<[string, Served, JsonObject, unknown]>([
    [
      '1.36: one Workload, one PodGroup with the sum of the minimums',
      serving('v1alpha2'),
      {},
      [
        ['v1alpha2 Workload train', { podGroupTemplates: [WHOLE] }],
        [
          'v1alpha2 PodGroup train',
          {
            podGroupTemplateRef: { workload: { workloadName: 'train', podGroupTemplateName: 'gang' } },
            schedulingPolicy: gang(3),
          },
        ],
      ],
    ],
    [
      '1.37: the reference to the template has another name',
      serving('v1beta1'),
      {},
      [
        ['v1beta1 Workload train', { podGroupTemplates: [WHOLE] }],
        [
          'v1beta1 PodGroup train',
          { workloadRef: { workloadName: 'train', templateName: 'gang' }, schedulingPolicy: gang(3) },
        ],
      ],
    ],
    [
      '1.35: a Workload with its groups, and no PodGroup',
      serving('v1alpha1'),
      {},
      [['v1alpha1 Workload train', { podGroups: [{ name: 'gang', policy: gang(3) }] }]],
    ],
    [
      '1.36, per group',
      serving('v1alpha2'),
      { groups: 'per-group' },
      [
        [
          'v1alpha2 Workload train',
          {
            podGroupTemplates: [
              { name: 'leader', schedulingPolicy: gang(1) },
              { name: 'worker', schedulingPolicy: gang(2) },
            ],
          },
        ],
        [
          'v1alpha2 PodGroup train.leader',
          {
            podGroupTemplateRef: { workload: { workloadName: 'train', podGroupTemplateName: 'leader' } },
            schedulingPolicy: gang(1),
          },
        ],
        [
          'v1alpha2 PodGroup train.worker',
          {
            podGroupTemplateRef: { workload: { workloadName: 'train', podGroupTemplateName: 'worker' } },
            schedulingPolicy: gang(2),
          },
        ],
      ],
    ],
    [
      '1.35, per group',
      serving('v1alpha1'),
      { groups: 'per-group' },
      [
        [
          'v1alpha1 Workload train',
          {
            podGroups: [
              { name: 'leader', policy: gang(1) },
              { name: 'worker', policy: gang(2) },
            ],
          },
        ],
      ],
    ],
    ['no native gangs', {}, {}, []],
    ['native gangs switched off', serving('v1alpha2'), { gangScheduling: false }, []],
  ])('%s', async (_name, served, config, expected) => {
    expect(await objectsOn(served, {}, config)).toEqual(expected);
  });

  test.each<[string, Served, JsonObject, Json]>([
    ['1.36 gang', serving('v1alpha2'), { disruptionMode: 'gang' }, 'PodGroup'],
    ['1.36 pod', serving('v1alpha2'), { disruptionMode: 'pod' }, 'Pod'],
    ['1.37 gang', serving('v1beta1'), { disruptionMode: 'gang' }, { all: {} }],
    ['1.37 pod', serving('v1alpha3'), { disruptionMode: 'pod' }, { single: {} }],
  ])(
    'disruption mode and priority, in template and PodGroup alike: %s',
    async (_name, served, config, mode) => {
      const objects = await objectsOn(served, { spec: { priorityClassName: 'high' } }, config);
      const terms = { schedulingPolicy: gang(3), disruptionMode: mode, priorityClassName: 'high' };
      expect(objects[0]?.[1]).toEqual({ podGroupTemplates: [{ name: 'gang', ...terms }] });
      expect(objects[1]?.[1]).toMatchObject(terms);
    },
  );

  test.each<[string, JsonObject, string | undefined, Json | undefined]>([
    ['asks for PodGroup', { disruptionMode: 'pod' }, 'PodGroup', 'PodGroup'],
    ['asks for Pod', { disruptionMode: 'gang' }, 'Pod', 'Pod'],
    ['asks, and the profile says nothing', {}, 'PodGroup', 'PodGroup'],
    ['says nothing', { disruptionMode: 'gang' }, undefined, 'PodGroup'],
    ['says what means nothing', { disruptionMode: 'gang' }, 'All', 'PodGroup'],
    ['says nothing, nor does the profile', {}, undefined, undefined],
  ])('disruption mode of a gang that %s', async (_what, config, mode, expected) => {
    const parts = mode === undefined ? {} : { annotations: { 'muster.dev/disruption-mode': mode } };
    const [workload, podGroup] = await objectsOn(serving('v1alpha2'), parts, config);
    const terms = { schedulingPolicy: gang(3), ...(expected !== undefined && { disruptionMode: expected }) };
    expect(workload?.[1]).toEqual({ podGroupTemplates: [{ name: 'gang', ...terms }] });
    expect(own(podGroup?.[1] as Json, 'disruptionMode')).toBe(expected);
  });

  test('fields that the API server would drop are not sent', async () => {
    const served = serving('v1alpha2', ['disruptionMode', 'schedulingConstraints']);
    const parts = { spec: { priorityClassName: 'high', ...required(ZONE) } };
    const [workload] = await objectsOn(served, parts, { disruptionMode: 'gang' });
    expect(workload?.[1]).toEqual({ podGroupTemplates: [WHOLE] });
  });

  test('a required level becomes the constraint of the native gang that it is meant for', async () => {
    const constraint = (key: string) => ({ schedulingConstraints: { topology: [{ key }] } });
    expect((await objectsOn(serving('v1alpha2'), { spec: required(ZONE) }))[1]?.[1]).toMatchObject(
      constraint(ZONE),
    );
    const groups = [group('leader'), group('worker', required('rack'))];
    const [workload] = await objectsOn(serving('v1beta1'), { groups }, { groups: 'per-group' });
    expect(workload?.[1]).toEqual({
      podGroupTemplates: [
        { name: 'leader', schedulingPolicy: gang(1) },
        { name: 'worker', schedulingPolicy: gang(1), ...constraint('rack') },
      ],
    });
    // One group: the narrower of two.
    const one = { groups: [group('worker', required('rack'))], spec: required(ZONE) };
    expect((await objectsOn(serving('v1alpha2'), one))[1]?.[1]).toMatchObject(constraint('rack'));
  });

  test('a group without a minimum is bound Pod by Pod', async () => {
    const groups = [group('leader'), group('spare', { minReplicas: 0 })];
    const config = { groups: 'per-group', disruptionMode: 'gang' };
    const objects = await objectsOn(serving('v1alpha2'), { groups }, config);
    expect(objects[2]).toEqual([
      'v1alpha2 PodGroup train.spare',
      {
        podGroupTemplateRef: { workload: { workloadName: 'train', podGroupTemplateName: 'spare' } },
        schedulingPolicy: { basic: {} },
      },
    ]);
    expect((await objectsOn(serving('v1alpha2'), { groups }))[1]?.[1]).toMatchObject({
      schedulingPolicy: gang(1),
    });
  });

  test('more groups than a Workload holds go without one: the scheduler reads PodGroups alone', async () => {
    const config = { groups: 'per-group' };
    const nine = await objectsOn(serving('v1alpha2'), { groups: many(9) }, config);
    expect(nine).toHaveLength(9);
    expect(nine[8]).toEqual(['v1alpha2 PodGroup train.g8', { schedulingPolicy: gang(1) }]);
    expect(await objectsOn(serving('v1alpha2'), { groups: many(8) }, config)).toHaveLength(9);
    expect(await objectsOn(serving('v1alpha2'), { groups: many(9) })).toHaveLength(2);
  });

  test('are found by the gang’s labels', async () => {
    const { context, applied } = recordedSync();
    await (await kubeOn(serving('v1alpha2'))).syncPodGang(context, gangOf({ labels: { team: 'a' } }));
    const labels = { team: 'a', 'grove.io/podgang': 'train' };
    expect(applied.map((object) => object.labels)).toEqual([labels, labels]);
  });
});

describe('1.37, where a gate on one Pod holds up all: what the PodGroup asks for', () => {
  const references = (...names: string[]): Json => names.map((name) => ({ namespace: 'ml', name }));
  const refersTo = (leader: number, worker: number): Json => [
    group('leader', { podReferences: references(...['l-0', 'l-1'].slice(0, leader)) }),
    group('worker', {
      minReplicas: 2,
      podReferences: references(...['w-0', 'w-1', 'w-2', 'w-3'].slice(0, worker)),
    }),
  ];
  const ALL = ['l-0', 'w-0', 'w-1', 'w-2', 'w-3'];
  const asked = async (
    version: Version,
    groups: Json,
    nodeName: string,
    config: JsonObject = {},
    names = ALL,
  ) => {
    const pods = names.map((name) => ({ name, group: 'worker', gates: [], nodeName }));
    const { context, applied } = recordedSync({ pods });
    await (await kubeOn(serving(version), config)).syncPodGang(context, gangOf({ groups }));
    const [workload, ...podGroups] = applied.map(({ spec }) => spec);
    expect(JSON.stringify(workload)).not.toContain('"minCount":5');
    return podGroups.map((spec) => own(own(spec, 'schedulingPolicy'), 'gang'));
  };

  test.each<[string, Version, Json, string, Json]>([
    ['nothing is referred to yet: the minimums', 'v1beta1', refersTo(0, 0), '', { minCount: 3 }],
    ['all that are let go', 'v1beta1', refersTo(1, 4), '', { minCount: 5 }],
    ['a group that lacks some: its minimum', 'v1beta1', refersTo(0, 4), '', { minCount: 5 }],
    ['one is bound: the minimums', 'v1beta1', refersTo(1, 4), 'node-1', { minCount: 3 }],
    ['1.36, where those beyond wait: the minimums', 'v1alpha2', refersTo(1, 4), '', { minCount: 3 }],
  ])('%s', async (_what, version, groups, nodeName, minCount) => {
    expect(await asked(version, groups, nodeName)).toEqual([minCount]);
  });

  test('one group, or a PodGroup for each: the minimum, which any of its Pods make up', async () => {
    const one = [group('worker', { minReplicas: 2, podReferences: references('w-0', 'w-1', 'w-2') })];
    expect(await asked('v1beta1', one, '')).toEqual([{ minCount: 2 }]);
    expect(await asked('v1beta1', refersTo(1, 4), '', { groups: 'per-group' })).toEqual([
      { minCount: 1 },
      { minCount: 2 },
    ]);
  });

  test('a Pod that has ended, and that the group still refers to, is none of them', async () => {
    expect(await asked('v1beta1', refersTo(1, 4), '', {}, ['l-0', 'w-2', 'w-3'])).toEqual([{ minCount: 3 }]);
    expect(await asked('v1beta1', refersTo(1, 4), '', {}, ['l-0', 'w-1', 'w-2', 'w-3'])).toEqual([
      { minCount: 4 },
    ]);
  });

  test('a gang without a minimum has none', async () => {
    const groups = ['leader', 'worker'].map((name) =>
      group(name, { minReplicas: 0, podReferences: references(`${name}-0`) }),
    );
    expect(await asked('v1beta1', groups, '')).toEqual([undefined]);
  });

  test('it follows binding and references there, and nowhere else', async () => {
    const follows = async (version: Version, groups: Json, config: JsonObject = {}) => {
      const backend = await kubeOn(serving(version), config);
      const gang = gangOf({ groups });
      return [backend.followsBinding?.(gang), backend.followsReferences?.(gang)];
    };
    expect(await follows('v1beta1', refersTo(0, 0))).toEqual([true, true]);
    expect(await follows('v1alpha2', refersTo(0, 0))).toEqual([false, false]);
    expect(await follows('v1beta1', [group('worker')])).toEqual([false, false]);
    expect(await follows('v1beta1', refersTo(0, 0), { groups: 'per-group' })).toEqual([false, false]);
  });
});

import { describe, expect, test } from '@jest/globals';
import { readBinding } from '../../../../src/fleet/assign/binding.ts';
import { replicasThatFit, setsThatFit } from '../../../../src/fleet/assign/estimate.ts';
import { readMemberCluster } from '../../../../src/fleet/assign/member.ts';
import { selectGroups, scoreOf, select } from '../../../../src/fleet/assign/select.ts';
import { strategiesOf } from '../../../../src/fleet/assign/strategies.ts';
import { defaultStrategy, isForOneCluster } from '../../../../src/fleet/assign/default-strategy.ts';
import {
  AGGREGATED,
  binding,
  bindingOf,
  candidate,
  cluster,
  divided,
  DYNAMIC,
  fixed,
  had,
  memberOf,
  placed,
  preferred,
  room,
  rooms,
  shown,
  tryRead,
} from './small-fleet.ts';

const spread = (field: string, min: number, max: number) => ({
  spreadByField: field,
  minGroups: min,
  maxGroups: max,
});

describe('clusters that are selected', () => {
  const all = preferred(
    candidate('m4', 60, 50),
    candidate('m2', 40, 60),
    candidate('m3', 30, 80),
    candidate('m1', 20, 40),
  );
  test.each([
    ['no strategy', {}, 100, 1, 'm4 m2'],
    ['duplicated', {}, 120, 1, 'm4 m2'],
    ['static weights', fixed({ m1: 1 }), 120, 1, 'm4 m2 m3 m1'],
    ['weights without a word', divided('Weighted'), 120, 1, 'm4 m2 m3 m1'],
    ['divided', DYNAMIC, 100, 1, 'm4 m2'],
    ['divided, the last is exchanged', AGGREGATED, 120, 1, 'm4 m3'],
    ['not enough', AGGREGATED, 200, 1, 'no enough resource when selecting 2 clusters'],
    ['too few', AGGREGATED, 1, 7, 'the number of feasible clusters is less than spreadConstraint.MinGroups'],
  ])('%s', (_, scheduling, need, min, expected) => {
    const wanted = bindingOf({
      placement: { ...scheduling, spreadConstraints: [spread('cluster', min, 2)] },
    });
    const names = () =>
      select(wanted, all, need)
        .map(({ name }) => name)
        .join(' ');
    if (expected.includes('m4')) expect(names()).toBe(expected);
    else expect(names).toThrow(expected);
  });

  test('only clusters and regions are known', () => {
    const wanted = bindingOf({ placement: { ...AGGREGATED, spreadConstraints: [spread('zone', 1, 2)] } });
    expect(() => select(wanted, all, 1)).toThrow('just support cluster and region spread constraint');
  });

  const scored = (scores: readonly number[], free: readonly number[]) =>
    scores.map((score, index) => candidate(`m${index}`, score, free[index] ?? 0));
  test.each([
    [[100, 100, 0, 0, 0], [30, 30, 30, 10, 10], 50_100],
    [[100, 100, 100, 100, 100], [10, 10, 10, 5, 5], 40_100],
    [[100, 100, 0, 0, 0], [10, 10, 10, 10, 5], 45_040],
  ])('a region is as good as its room for a share: %j %j', (scores, free, expected) => {
    const wanted = bindingOf({ replicas: 100, placement: DYNAMIC });
    expect(scoreOf(wanted, scored(scores, free), 2, 0)).toBe(expected);
  });

  test('a region for copies is as good as the clusters that can hold all', () => {
    const wanted = bindingOf({ replicas: 50, placement: {} });
    expect(scoreOf(wanted, scored([100, 100, 100], [60, 70, 40]), 2, 0)).toBe(2100);
    expect(scoreOf(wanted, scored([100], [40]), 2, 0)).toBe(0);
  });

  test('the regions that come to most', () => {
    const groups = [
      ['R1', 1, 60],
      ['R2', 1, 50],
      ['R3', 1, 40],
      ['R4', 3, 30],
      ['R5', 3, 20],
      ['R6', 3, 10],
    ].map(([name, clusters, score]) => ({
      name: String(name),
      clusters: Number(clusters),
      score: Number(score),
    }));
    expect(selectGroups(groups, { min: 1, max: 3, clusters: 6 }).join()).toBe('R1,R4,R5');
    expect(selectGroups(groups, { min: 1, max: 1, clusters: 6 })).toEqual([]);
    expect(selectGroups(groups.slice(0, 2), { min: 2, max: 2, clusters: 2 }).join()).toBe('R1,R2');
    expect(selectGroups(groups.slice(0, 2), { min: 1, max: 2, clusters: 1 }).join()).toBe('R1');
  });

  describe('by region', () => {
    const fleet = ['east', 'east', 'west', 'west', 'north'].map((region, index) =>
      cluster(`m${index + 1}`, { cpu: 10 + index, pods: 100 }, { spec: { region } }),
    );
    const inRegions = (regions: number, clusters: [number, number], replicas = 20) =>
      shown(
        placed(
          binding({
            replicas,
            placement: {
              ...AGGREGATED,
              spreadConstraints: [spread('region', regions, regions), spread('cluster', ...clusters)],
            },
          }),
          fleet,
        ),
      );
    test('the best cluster of each, then the best of the rest', () => {
      expect(inRegions(2, [2, 3])).toBe('m3:10 m4:10');
      expect(inRegions(2, [2, 2], 24)).toBe('m2:11 m4:13');
    });
    test('too few regions, too few clusters in them', () => {
      expect(inRegions(4, [4, 4])).toContain(
        'the number of feasible region is less than spreadConstraint.MinGroups',
      );
      expect(inRegions(1, [3, 3])).toContain(
        'the number of clusters is less than the cluster spreadConstraint.MinGroups',
      );
    });
  });
});

describe('room', () => {
  const requests = new Map([
    ['cpu', 500],
    ['memory', 2 ** 30],
  ]);
  const summary = (more: object = {}) =>
    memberOf(
      cluster(
        'm',
        {},
        {
          status: {
            resourceSummary: {
              allocatable: { cpu: 4, memory: '8Gi', pods: 100 },
              allocated: { cpu: 1, memory: '2Gi', pods: 20 },
              ...more,
            },
          },
        },
      ),
    );
  test('is what is allocatable and not taken', () => {
    expect(replicasThatFit(summary(), requests, 'none')).toBe(6);
    expect(
      replicasThatFit(summary({ allocating: { cpu: 1, memory: '2Gi', pods: 2 } }), requests, 'none'),
    ).toBe(4);
    expect(replicasThatFit(summary({ allocated: { memory: '7.5Gi' } }), requests, 'none')).toBe(0);
    expect(replicasThatFit(summary({ allocated: { pods: 100 } }), requests, 'none')).toBe(0);
    expect(replicasThatFit(summary({ allocated: { cpu: 9 } }), requests, 'none')).toBe(0);
    expect(replicasThatFit(summary(), undefined, 'none')).toBe(80);
    expect(replicasThatFit(summary(), new Map([['nvidia.com/gpu', 1]]), 'none')).toBe(0);
    expect(
      replicasThatFit(memberOf(cluster('m', {}, { status: { resourceSummary: null } })), requests, 'none'),
    ).toBe(0);
  });

  const models = memberOf(
    cluster(
      'm',
      {},
      {
        spec: {
          resourceModels: [0, 1, 2].map((grade) => ({
            grade,
            ranges: [{ name: 'cpu', min: grade, max: grade + 1 }],
          })),
        },
        status: {
          resourceSummary: {
            allocatable: { cpu: 100, 'nvidia.com/gpu': 3, pods: 1000 },
            allocatableModelings: [0, 1, 2].map((grade) => ({ grade, count: 1 })),
          },
        },
      },
    ),
  );
  test('is on nodes, where the cluster counts them', () => {
    expect(replicasThatFit(models, new Map([['cpu', 1500]]), 'none')).toBe(1);
    expect(replicasThatFit(models, new Map([['cpu', 3000]]), 'none')).toBe(0);
    expect(replicasThatFit(models, new Map(), 'none')).toBe(330);
  });
  test('what no model names is not there for Karmada, and in the summary for a gang', () => {
    const gpu = new Map([
      ['cpu', 500],
      ['nvidia.com/gpu', 1],
    ]);
    expect(replicasThatFit(models, gpu, 'none')).toBe(0);
    expect(replicasThatFit(models, gpu, 'summary')).toBe(3);
  });

  const part = (replicas: number, asks: Record<string, number>) => ({
    name: 'c',
    replicas,
    requests: new Map(Object.entries(asks)),
  });
  const nodes = (...sizes: readonly Record<string, number>[]) =>
    memberOf(
      cluster(
        'm',
        {},
        {
          spec: {
            resourceModels: sizes.map((size, grade) => ({
              grade,
              ranges: Object.entries(size).map(([name, min]) => ({ name, min })),
            })),
          },
          status: {
            resourceSummary: {
              allocatable: { cpu: 1000, memory: '1000Gi', pods: 1000 },
              allocatableModelings: sizes.map((_, grade) => ({ grade, count: 1 })),
            },
          },
        },
      ),
    );
  const GI = 2 ** 30;
  test('for sets of all components', () => {
    const flink = [part(1, { cpu: 1000, memory: 2 * GI }), part(2, { cpu: 2000, memory: 2 * GI })];
    const free = { allocatable: { cpu: 10, memory: '8Gi', pods: 80 }, allocated: { memory: '2Gi' } };
    expect(setsThatFit(summary(free), flink, 'none')).toBe(1);
    expect(
      setsThatFit(
        summary({ allocatable: { cpu: 10, pods: 3 }, allocated: {} }),
        [part(3, { cpu: 1 })],
        'none',
      ),
    ).toBe(1);
    const gpus = { allocatable: { 'nvidia.com/gpu': 8, cpu: 40, memory: '64Gi', pods: 20 }, allocated: {} };
    expect(
      setsThatFit(summary(gpus), [part(2, { cpu: 4000, memory: 8 * GI, 'nvidia.com/gpu': 1 })], 'none'),
    ).toBe(4);
    expect(setsThatFit(summary({ allocatable: { pods: 10 }, allocated: {} }), [], 'none')).toBe(10);
    expect(setsThatFit(memberOf(cluster('m', {})), flink, 'none')).toBe(0);
  });
  test('for sets, node by node', () => {
    expect(setsThatFit(nodes({ cpu: 2 }, { cpu: 2 }), [part(3, { cpu: 1000 })], 'none')).toBe(1);
    const three = nodes({ cpu: 1, memory: 2 * GI }, { cpu: 4, memory: 8 * GI }, { cpu: 8, memory: 16 * GI });
    expect(
      setsThatFit(three, [part(2, { cpu: 500, memory: GI }), part(1, { cpu: 2000, memory: 4 * GI })], 'none'),
    ).toBe(4);
    expect(
      setsThatFit(nodes({ cpu: 1 }, { cpu: 1 }, { cpu: 1 }, { cpu: 1 }), [part(1, { cpu: 2000 })], 'none'),
    ).toBe(0);
  });
});

test.each([
  ['no placement', undefined, 2, false],
  ['no constraint', [], 2, false],
  ['one region', [spread('region', 1, 1)], 2, false],
  ['two clusters', [spread('cluster', 2, 2)], 2, false],
  ['one cluster', [spread('cluster', 1, 1)], 2, true],
  ['one cluster, one template', [spread('cluster', 1, 1)], 1, true],
  ['one cluster, no template', [spread('cluster', 1, 1)], 0, false],
  ['one cluster of one region', [spread('region', 1, 1), spread('cluster', 1, 1)], 2, true],
] as const)(
  'templates are counted in sets where all go to one cluster: %s',
  (_, constraints, count, expected) => {
    const components = ['a', 'b'].slice(0, count).map((name) => ({ name, replicas: 1 }));
    const placement = constraints === undefined ? null : { spreadConstraints: constraints };
    expect(isForOneCluster(bindingOf({ components, placement }))).toBe(expected);
  },
);

describe('clusters that are left out', () => {
  const why = (spec: object, one: object, more: Parameters<typeof cluster>[2] = {}) =>
    placed(binding({ replicas: 1, placement: {}, ...spec }), [
      cluster('m1', { cpu: 9, pods: 9, ...one }, more),
      room('m2', 9),
    ])
      .leftOut.map(({ name, why: reason }) => `${name}: ${reason}`)
      .join();
  const tainted = { spec: { taints: [{ key: 'maintenance', effect: 'NoSchedule' }] } };
  test.each([
    [
      'a kind that it does not serve',
      {},
      { status: { apiEnablements: [], resourceSummary: { allocatable: { cpu: 9, pods: 9 } } } },
      'm1: cluster(s) did not have the API resource',
    ],
    ['a taint', {}, tainted, 'm1: cluster(s) had untolerated taint {maintenance:NoSchedule}'],
    [
      'a taint with a value',
      {},
      { spec: { taints: [{ key: 'a', value: 'b', effect: 'NoExecute' }] } },
      'm1: cluster(s) had untolerated taint {a=b:NoExecute}',
    ],
    [
      'a taint with what a terminal would obey',
      {},
      { spec: { taints: [{ key: '\u001b[2J', value: '\u2028', effect: 'NoExecute' }] } },
      'm1: cluster(s) had untolerated taint {\\u{1b}[2J=\\u{2028}:NoExecute}',
    ],
    ['a taint of no matter', {}, { spec: { taints: [{ key: 'a', effect: 'PreferNoSchedule' }] } }, ''],
    [
      'a taint that is tolerated',
      { placement: { clusterTolerations: [{ key: 'maintenance', operator: 'Exists' }] } },
      tainted,
      '',
    ],
    [
      'another name',
      { placement: { clusterAffinity: { clusterNames: ['m2'] } } },
      {},
      'm1: cluster(s) did not match the placement cluster affinity constraint',
    ],
    [
      'no region',
      { placement: { ...AGGREGATED, spreadConstraints: [spread('region', 1, 1), spread('cluster', 1, 1)] } },
      {},
      'm1: cluster(s) did not have region property,m2: cluster(s) did not have region property',
    ],
    [
      'eviction',
      { gracefulEvictionTasks: [{ fromCluster: 'm1' }] },
      {},
      'm1: cluster(s) is in the process of eviction',
    ],
  ])('%s', (_, spec, more, expected) => {
    expect(why(spec, {}, more)).toBe(expected);
  });

  test('what is there already stays in spite of a taint, and of a kind that is missing', () => {
    const there = { clusters: had({ m1: 1 }) };
    expect(
      why(
        there,
        {},
        { ...tainted, status: { apiEnablements: [], resourceSummary: { allocatable: { cpu: 9, pods: 9 } } } },
      ),
    ).toBe('');
  });

  test('a cluster that is being deleted', () => {
    const gone = {
      ...cluster('m1', { cpu: 1, pods: 1 }),
      metadata: { name: 'm1', deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    expect(placed(binding({ replicas: 1, placement: {} }), [gone]).message).toBe(
      '0/1 clusters are available: no cluster exists.',
    );
  });

  test('sums up what keeps a workload from all', () => {
    const fleet = [
      cluster('m1', {}, tainted),
      cluster('m2', {}, tainted),
      cluster('m3', {}, { status: { apiEnablements: [] } }),
    ];
    expect(shown(placed(binding({ replicas: 1, placement: {} }), fleet))).toBe(
      'NoClusterFit: 0/3 clusters are available: 1 cluster(s) did not have the API resource, 2 cluster(s) had untolerated taint {maintenance:NoSchedule}.',
    );
  });

  test.each([
    [{ labelSelector: { matchLabels: { gpu: 'yes' } } }, 'm1'],
    [{ labelSelector: { matchExpressions: [{ key: 'gpu', operator: 'DoesNotExist' }] } }, 'm2'],
    [{ fieldSelector: { matchExpressions: [{ key: 'provider', operator: 'In', values: ['p'] }] } }, 'm1'],
    [{ fieldSelector: { matchExpressions: [{ key: 'region', operator: 'NotIn', values: ['r'] }] } }, 'm2'],
    [{ fieldSelector: { matchExpressions: [{ key: 'zone', operator: 'In', values: ['z2'] }] } }, 'm1'],
    [{ fieldSelector: { matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['z2'] }] } }, 'm2'],
    [{ fieldSelector: { matchExpressions: [{ key: 'zone', operator: 'Exists' }] } }, 'm1'],
    [{ fieldSelector: { matchExpressions: [{ key: 'zone', operator: 'DoesNotExist' }] } }, 'm2'],
    [{ fieldSelector: { matchExpressions: [{ key: 'zone', operator: 'Gt', values: ['z'] }] } }, ''],
    [{ exclude: ['m1'] }, 'm2'],
  ])('affinity %j takes %s', (clusterAffinity, expected) => {
    const m1 = cluster(
      'm1',
      {},
      { labels: { gpu: 'yes' }, spec: { provider: 'p', region: 'r', zones: ['z1', 'z2'] } },
    );
    const found = placed(binding({ replicas: 1, placement: { clusterAffinity } }), [m1, cluster('m2')]);
    expect(found.clusters.map(({ name }) => name).join()).toBe(expected);
  });
});

describe('what cannot be counted', () => {
  const faults = (spec: object, more?: { annotations?: Record<string, unknown> }) =>
    tryRead(binding({ replicas: 4, ...spec }, more), readBinding).faults.map(
      ({ field, message }) => `${field}: ${message}`,
    );
  const leastOf = (text: string, spec: object = {}) =>
    faults(spec, { annotations: { 'muster.dev/min-available': text } });
  const AT = 'metadata.annotations["muster.dev/min-available"]';
  const two = { components: ['a', 'b'].map((name) => ({ name, replicas: 2 })) };
  test.each([
    [faults({ replicas: -1 }), 'spec.replicas: -1 must be from 0 to 2147483647; correct the workload'],
    [
      faults({ replicas: 1e12 }),
      'spec.replicas: 1000000000000 must be from 0 to 2147483647; correct the workload',
    ],
    [faults({ replicas: 1.5 }), 'spec.replicas: 1.5 is no integer'],
    [
      faults({ components: [{ replicas: 1 }] }),
      'spec.components[0].name: must not be empty; name the template',
    ],
    [
      faults({ components: ['a', 'a'].map((name) => ({ name, replicas: 1 })) }),
      'spec.components: two are named "a"; give each a name of its own',
    ],
    [
      faults({ replicaRequirements: { resourceRequest: { cpu: 'much' } } }),
      'spec.replicaRequirements.resourceRequest.cpu: "much" is no quantity; write it as 500m, 2 or 12Gi',
    ],
    [
      faults({ placement: { clusterAffinity: { clusterNames: 'm1' } } }),
      'spec.placement.clusterAffinity.clusterNames: "m1" must be a list; correct it',
    ],
    [
      faults({ placement: { clusterAffinities: [{ affinityName: 'a', exclude: [1] }] } }),
      'spec.placement.clusterAffinities[0].exclude[0]: 1 must be a string; correct it',
    ],
    [
      faults({ placement: { replicaScheduling: 'Divided' } }),
      'spec.placement.replicaScheduling: "Divided" must be an object; correct it',
    ],
    [faults({ components: { a: 1 } }), 'spec.components: an object must be a list; correct it'],
    [leastOf('0'), undefined],
    [leastOf('some'), `${AT}: "some" is not understood; write it as 8`],
    [leastOf('3', two), `${AT}: "3" is not understood; write it as a=1,b=1`],
    [
      leastOf('3', { components: ['a\u001b', '\ud800'].map((name) => ({ name, replicas: 2 })) }),
      `${AT}: "3" is not understood; write it as a\\u{1b}=1,\\u{d800}=1`,
    ],
    [leastOf('a=-1', two), `${AT}: "a=-1" is not understood; write it as a=1,b=1`],
    [leastOf('a=0,b=2', two), undefined],
    [
      faults(
        { placement: { replicaScheduling: { customSchedulingStrategy: 'gang-divided' } } },
        { annotations: { 'muster.dev/custom-scheduling-strategy': 'default' } },
      ),
      'spec.placement.replicaScheduling.customSchedulingStrategy: is "gang-divided", but annotation muster.dev/custom-scheduling-strategy says "default"; name one strategy',
    ],
  ])('%j', (found, expected) => {
    expect(found).toEqual(expected === undefined ? [] : [expected]);
  });

  test('a cluster', () => {
    const odd = cluster('m', { cpu: 'much' });
    expect(tryRead(odd, readMemberCluster).faults).toEqual([
      {
        object: 'it',
        field: 'status.resourceSummary.allocatable.cpu',
        message: '"much" is no quantity; write it as 500m, 2 or 12Gi',
      },
    ]);
  });
});

describe('strategies', () => {
  test('one that nobody knows', () => {
    expect(shown(placed(binding({ replicas: 1 }), rooms(1), 'gang'))).toBe(
      'SchedulerError: unknown strategy "gang": there are default, gang-divided, gang-no-divided',
    );
  });
  test('the document’s field and the annotation name one; default is as none', () => {
    const field = { placement: { replicaScheduling: { customSchedulingStrategy: 'gang-divided' } } };
    expect(bindingOf(field).strategy).toBe('gang-divided');
    const annotations = { 'muster.dev/custom-scheduling-strategy': 'gang-no-divided' };
    expect(bindingOf({}, { annotations }).strategy).toBe('gang-no-divided');
    const spec = { replicas: 12, placement: AGGREGATED };
    expect(placed(binding(spec), rooms(6, 8))).toEqual(placed(binding(spec), rooms(6, 8), 'default'));
  });
  test('one that two plugins claim', () => {
    expect(() => strategiesOf([defaultStrategy, { ...defaultStrategy, name: 'mine' }])).toThrow(
      'strategies are claimed twice: "default" by default and mine',
    );
  });
});

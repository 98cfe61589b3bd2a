import { describe, expect, test } from '@jest/globals';
import { divide } from '../../../../src/index.ts';
import {
  AGGREGATED,
  binding,
  cluster,
  divided,
  DYNAMIC,
  fixed,
  had,
  placed,
  rooms,
  shown,
} from './small-fleet.ts';

const seats = (n: number, votes: Readonly<Record<string, number>>, uid = ''): string =>
  [
    ...divide(
      n,
      Object.entries(votes).map(([name, count]) => ({ name, votes: count })),
      uid,
    ),
  ]
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name}${count}`)
    .sort()
    .join(' ');

describe('Webster', () => {
  test.each([
    ['9', 5, { a: 170, b: 110, c: 60 }, 'a2 b2 c1'],
    ['9', 6, { a: 170, b: 110, c: 60 }, 'a3 b2 c1'],
    ['11', 1, { A: 2, B: 1 }, 'A1'],
    ['11', 2, { A: 2, B: 1 }, 'A1 B1'],
    ['11', 3, { A: 2, B: 1 }, 'A2 B1'],
    ...['A1', 'A1 B1', 'A2 B1', 'A2 B1 C1', 'A2 B2 C1', 'A2 B2 C1 D1', 'A3 B2 C1 D1', 'A3 B3 C1 D1'].map(
      (expected, index) =>
        ['13', index + 1, { A: 100_000, B: 80_000, C: 30_000, D: 20_000 }, expected] as const,
    ),
  ] as const)('vector %s: %d seats', (_, n, votes, expected) => {
    expect(seats(n, votes)).toBe(expected);
  });

  test('vector 12: a tie goes by name, upwards or downwards by the workload', () => {
    expect(seats(5, { A: 1, B: 1 }, 'd43fdeeb-d750-4e2b-bee3-64eb94534f4c')).toBe('A2 B3');
    expect(seats(5, { A: 1, B: 1 }, '4858ca61-3ff8-4095-8267-f3d059d8074c')).toBe('A3 B2');
    expect(seats(5, { A: 1, B: 1 })).toBe('A3 B2');
  });

  test.each([
    ['10', 6, { a: [1, 1], b: [2, 2], c: [3, 3] }, 'a2 b4 c6'],
    ['10', 3, { a: [1, 1], b: [2, 2], c: [3, 3] }, 'a2 b3 c4'],
    ['10', 2, { a: [1, 1], b: [2, 2], c: [3, 3] }, 'a1 b3 c4'],
    ['14', 1, { A: [3, 1], B: [1, 0] }, 'A1 B1'],
    ['14', 2, { New: [1, 0], Old: [1, 1] }, 'New2 Old1'],
  ] as const)('vector %s: %d seats beside those that are there before', (_, n, given, expected) => {
    const among = Object.entries(given).map(([name, [votes, had]]) => ({ name, votes, seats: had }));
    const found = [...divide(n, among, '')].map(([name, count]) => `${name}${count}`);
    expect(found.sort().join(' ')).toBe(expected);
  });

  test('nobody votes', () => {
    expect(seats(5, {})).toBe('');
  });
});

describe('the default strategy', () => {
  test.each([
    ['1 dynamic', { replicas: 12, placement: DYNAMIC }, [18, 12, 6], 'm1:6 m2:4 m3:2'],
    ['2 dynamic', { replicas: 12, placement: DYNAMIC }, [20, 12, 6], 'm1:6 m2:4 m3:2'],
    ['3 dynamic', { replicas: 12, placement: DYNAMIC }, [6, 12, 6], 'm1:3 m2:6 m3:3'],
    ['4 aggregated', { replicas: 12, placement: AGGREGATED }, [6, 12, 6], 'm2:12'],
    ['4 aggregated', { replicas: 12, placement: AGGREGATED }, [6, 6, 6], 'm1:6 m2:6'],
    ['5 static', { replicas: 12, placement: fixed({ m1: 3, m2: 2, m3: 1 }) }, [0, 0, 0], 'm1:6 m2:4 m3:2'],
    ['5 static', { replicas: 13, placement: fixed({ m1: 3, m2: 2, m3: 1 }) }, [0, 0, 0], 'm1:7 m2:4 m3:2'],
    ['5 static', { replicas: 14, placement: fixed({ m1: 3, m2: 2, m3: 1 }) }, [0, 0, 0], 'm1:7 m2:5 m3:2'],
    ['5 without weights', { replicas: 12, placement: divided('Weighted') }, [0, 0, 0], 'm1:4 m2:4 m3:4'],
    ['6 no rule takes it', { replicas: 2, placement: fixed({ m1: 1 }) }, [0, 0], 'm1:2'],
    [
      '7 static',
      { replicas: 7, placement: fixed({ m1: 2, m2: 1, m3: 1, m4: 1 }) },
      [0, 0, 0, 0],
      'm1:3 m2:2 m3:1 m4:1',
    ],
    [
      '7 static',
      { replicas: 8, placement: fixed({ m1: 2, m2: 1, m3: 1, m4: 1 }) },
      [0, 0, 0, 0],
      'm1:3 m2:2 m3:2 m4:1',
    ],
    [
      '7 static',
      { replicas: 9, placement: fixed({ m1: 2, m2: 1, m3: 1, m4: 1 }) },
      [0, 0, 0, 0],
      'm1:3 m2:2 m3:2 m4:2',
    ],
    ['8 static', { replicas: 3, placement: fixed({ m1: 1, m2: 1 }) }, [0, 0], 'm1:2 m2:1'],
    ['8 static', { replicas: 5, placement: fixed({ m1: 1, m2: 1, m3: 1 }) }, [0, 0, 0], 'm1:2 m2:2 m3:1'],
    [
      '8 static',
      { replicas: 6, placement: fixed({ m1: 1, m2: 1, m3: 1, m4: 1 }) },
      [0, 0, 0, 0],
      'm1:2 m2:2 m3:1 m4:1',
    ],
    [
      '8 static, other weights: what it had is forgotten',
      {
        replicas: 6,
        placement: fixed({ m1: 2, m2: 1, m3: 1, m4: 1 }),
        clusters: had({ m1: 2, m2: 2, m3: 1, m4: 1 }),
      },
      [0, 0, 0, 0],
      'm1:3 m2:1 m3:1 m4:1',
    ],
    [
      '15 shrinks',
      { replicas: 6, placement: DYNAMIC, clusters: had({ m1: 2, m2: 4, m3: 6 }) },
      [1, 1, 1],
      'm1:1 m2:2 m3:3',
    ],
    [
      '15 grows',
      { replicas: 24, placement: DYNAMIC, clusters: had({ m1: 2, m2: 4, m3: 6 }) },
      [10, 10, 10],
      'm1:6 m2:8 m3:10',
    ],
    [
      '15 grows too much',
      { replicas: 24, placement: DYNAMIC, clusters: had({ m1: 2, m2: 4, m3: 6 }) },
      [1, 1, 1],
      'Unschedulable: failed to assign replicas: failed to scale up: Clusters available replicas 3 are not enough to schedule.',
    ],
    [
      '16 shrinks',
      { replicas: 6, placement: AGGREGATED, clusters: had({ m1: 4, m2: 8 }) },
      [100, 100],
      'm2:6',
    ],
    [
      '16 shrinks',
      { replicas: 8, placement: AGGREGATED, clusters: had({ m1: 4, m2: 8 }) },
      [100, 100],
      'm2:8',
    ],
    [
      '17 grows',
      { replicas: 24, placement: AGGREGATED, clusters: had({ m1: 4, m2: 8 }) },
      [4, 6, 8],
      'm1:7 m2:12 m3:5',
    ],
    [
      '17 grows',
      { replicas: 24, placement: AGGREGATED, clusters: had({ m1: 4, m2: 8 }) },
      [6, 6, 20],
      'm1:10 m2:14',
    ],
    [
      '17 grows too much',
      { replicas: 24, placement: AGGREGATED, clusters: had({ m1: 4, m2: 8 }) },
      [1, 1, 1],
      'Unschedulable: failed to assign replicas: failed to scale up: Clusters available replicas 3 are not enough to schedule.',
    ],
    ['19 first', { replicas: 12, placement: DYNAMIC }, [6, 8, 10], 'm1:3 m2:4 m3:5'],
    ['19 first', { replicas: 12, placement: DYNAMIC }, [8, 8, 10], 'm1:4 m2:4 m3:4'],
    [
      '19 first',
      { replicas: 12, placement: DYNAMIC },
      [3, 3, 3],
      'Unschedulable: failed to assign replicas: failed to scale up: Clusters available replicas 9 are not enough to schedule.',
    ],
    ['19 first', { replicas: 12, placement: AGGREGATED }, [6, 8, 10], 'm2:5 m3:7'],
    ['19 first', { replicas: 12, placement: AGGREGATED }, [12, 8, 10], 'm1:12'],
    ['22 duplicated', { replicas: 2 }, [0, 0], 'm1:2 m2:2'],
    ['22 no workload', { replicas: 0, replicaRequirements: null }, [0, 0], 'm1:0 m2:0'],
    ['22 no clusters', { replicas: 2 }, [], 'NoClusterFit: 0/0 clusters are available: no cluster exists.'],
  ] as const)('vector %s', (_, spec, free, expected) => {
    expect(shown(placed(binding({ placement: {}, ...spec }), rooms(...free)))).toBe(expected);
  });

  test('vector 6: the heaviest of the rules that take a cluster', () => {
    const rules = {
      staticWeightList: [
        { targetCluster: { clusterNames: ['m1'] }, weight: 1 },
        { targetCluster: { clusterNames: ['m1'] }, weight: 2 },
        { targetCluster: { clusterNames: ['m2'] }, weight: 1 },
      ],
    };
    expect(shown(placed(binding({ replicas: 3, placement: divided('Weighted', rules) }), rooms(0, 0)))).toBe(
      'm1:2 m2:1',
    );
  });

  test('vector 18: a cluster that is no candidate any more is made up for', () => {
    const spec = { replicas: 24, placement: { ...AGGREGATED, clusterAffinity: { exclude: ['m2'] } } };
    const found = placed(binding({ ...spec, clusters: had({ m1: 4, m2: 8 }) }), rooms(4, 0, 8, 12));
    expect(shown(found)).toBe('m1:7 m3:7 m4:10');
    expect(found.leftOut).toEqual([
      { name: 'm2', why: 'cluster(s) did not match the placement cluster affinity constraint' },
    ]);
  });

  test('vector 20: more than the candidates have together with what they hold', () => {
    const spec = { replicas: 12, placement: { ...DYNAMIC, clusterAffinity: { exclude: ['m3'] } } };
    expect(shown(placed(binding({ ...spec, clusters: had({ m1: 6, m3: 6 }) }), rooms(3, 3, 0)))).toBe(
      'm1:9 m2:3',
    );
  });

  describe('vector 21: overflow', () => {
    const group = {
      affinityName: 'own',
      clusterNames: ['m1'],
      overflowAffinities: [{ clusterNames: ['m2'] }],
    };
    const over = (replicas: number, free: readonly number[], clusters: object[] = []) =>
      shown(
        placed(
          binding({ replicas, clusters, placement: { ...DYNAMIC, clusterAffinities: [group] } }),
          rooms(...free),
        ),
      );
    test('one tier after the other', () => {
      expect(over(5, [10, 10])).toBe('m1:5');
      expect(over(5, [2, 10])).toBe('m1:2 m2:3');
      expect(over(8, [2, 10], had({ m1: 3 }))).toBe('m1:5 m2:3');
    });
    test('all of them are full', () => {
      expect(over(10, [2, 2])).toBe(
        'Unschedulable: failed to assign replicas: Clusters available replicas are not enough to schedule.',
      );
    });
  });

  test('S7: divided and aggregated, named or not: the same', () => {
    const nginx = (more: object) => {
      const { replicaScheduling } = AGGREGATED as { replicaScheduling: object };
      return placed(
        binding({ replicas: 12, placement: { replicaScheduling: { ...replicaScheduling, ...more } } }),
        rooms(6, 8, 10),
      );
    };
    expect(nginx({ customSchedulingStrategy: 'default' })).toEqual(nginx({}));
    expect(shown(nginx({}))).toBe('m2:5 m3:7');
  });

  test('Fresh forgets what is placed', () => {
    const spec = { replicas: 8, placement: AGGREGATED, clusters: had({ m1: 4, m2: 4 }) };
    const told = binding(
      { ...spec, rescheduleTriggeredAt: '2026-01-02T00:00:00Z' },
      { status: { lastScheduledTime: '2026-01-01T00:00:00Z' } },
    );
    expect(shown(placed(told, rooms(0, 4)))).toBe('m2:8');
    expect(shown(placed(binding(spec), rooms(0, 4)))).toBe('m1:4 m2:4');
    // Never placed: there is nothing to forget.
    expect(
      shown(placed(binding({ ...spec, rescheduleTriggeredAt: '2026-01-02T00:00:00Z' }), rooms(0, 4))),
    ).toBe('m1:4 m2:4');
  });

  test('a way to divide that nobody knows', () => {
    expect(shown(placed(binding({ replicas: 1, placement: divided('Sideways') }), rooms(1)))).toBe(
      'SchedulerError: failed to assign replicas: unsupported replica scheduling strategy, replicaSchedulingType: Divided, replicaDivisionPreference: Sideways, please try another scheduling strategy',
    );
  });

  test('several groups of affinities: the first that holds it, from the one that it is in', () => {
    const groups = {
      ...AGGREGATED,
      clusterAffinities: [
        { affinityName: 'near', clusterNames: ['m1'] },
        { affinityName: 'far', clusterNames: ['m2'] },
      ],
    };
    const spec = { replicas: 4, placement: groups };
    const first = placed(binding(spec), rooms(2, 4));
    expect([shown(first), first.affinityName]).toEqual(['m2:4', 'far']);
    expect(shown(placed(binding(spec), rooms(4, 4)))).toBe('m1:4');
    expect(
      shown(placed(binding(spec, { status: { schedulerObservingAffinityName: 'far' } }), rooms(4, 4))),
    ).toBe('m2:4');
    expect(shown(placed(binding(spec), rooms(1, 2)))).toBe(
      'Unschedulable: failed to assign replicas: failed to scale up: Clusters available replicas 1 are not enough to schedule.',
    );
  });

  test('several templates go whole to the clusters that are selected', () => {
    const components = [
      { name: 'jobmanager', replicas: 1, replicaRequirements: { resourceRequest: { cpu: '1' } } },
      { name: 'taskmanager', replicas: 4, replicaRequirements: { resourceRequest: { cpu: '2' } } },
    ];
    const one = { spreadConstraints: [{ spreadByField: 'cluster', minGroups: 1, maxGroups: 1 }] };
    const fleet = [cluster('m1', { cpu: 9, pods: 9 }), cluster('m2', { cpu: 20, pods: 9 })];
    const flink = (placement: object) =>
      placed(binding({ replicaRequirements: null, components, placement }), fleet).clusters;
    expect(flink({ ...AGGREGATED, ...one })).toEqual([
      {
        name: 'm1',
        replicas: 0,
        components: [
          { name: 'jobmanager', replicas: 1 },
          { name: 'taskmanager', replicas: 4 },
        ],
      },
    ]);
    expect(flink(AGGREGATED)).toEqual([
      { name: 'm1', replicas: 0 },
      { name: 'm2', replicas: 0 },
    ]);
  });
});

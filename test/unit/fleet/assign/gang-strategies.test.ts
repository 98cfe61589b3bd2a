import { describe, expect, test } from '@jest/globals';
import { AGGREGATED, binding, cluster, had, placed, room, rooms, shown } from './small-fleet.ts';

const least = (value: number | string) => ({ annotations: { 'muster.dev/min-available': String(value) } });

describe('one template', () => {
  test.each([
    ['G1', 'gang-divided', 12, 8, [6, 8, 10], 'm2:5 m3:7'],
    ['G2', 'gang-divided', 30, 20, [6, 8, 10], 'm1:6 m2:8 m3:10'],
    [
      'G3',
      'gang-divided',
      30,
      25,
      [6, 8, 10],
      'no: the clusters hold 24 replicas together, of which 25 are needed at least',
    ],
    ['G4', 'gang-divided', 10, 10, [6, 8, 10], 'm3:10'],
    [
      'G5',
      'gang-divided',
      12,
      12,
      [3, 3, 3],
      'no: the clusters hold 9 replicas together, of which 12 are needed at least',
    ],
    ['G6', 'gang-divided', 12, 9, [3, 3, 3], 'm1:3 m2:3 m3:3'],
    ['G7', 'gang-divided', 4, 4, [3, 3, 3], 'm1:2 m2:2'],
    ['G8', 'gang-divided', 4, 2, [1, 1, 1, 1], 'm1:1 m2:1 m3:1 m4:1'],
    [
      'G9',
      'gang-divided',
      4,
      3,
      [1, 1],
      'no: the clusters hold 2 replicas together, of which 3 are needed at least',
    ],
    ['G10', 'gang-no-divided', 12, 8, [6, 8, 10], 'm3:10'],
    ['G11', 'gang-no-divided', 8, 8, [6, 8, 10], 'm3:8'],
    [
      'G12',
      'gang-no-divided',
      12,
      12,
      [6, 8, 10],
      'no: the clusters hold 24 replicas together and 10 at most in one, of which 12 are needed at least',
    ],
    ['G13', 'gang-no-divided', 30, 10, [6, 8, 10], 'm3:10'],
  ] as const)('%s: %s of %d, at least %d', (_, strategy, replicas, needed, free, expected) => {
    const found = placed(binding({ replicas, placement: {} }, least(needed)), rooms(...free), strategy);
    expect(
      shown(found).replace(
        /^Unschedulable: failed to assign replicas: no available scheduling results/,
        'no',
      ),
    ).toBe(expected);
  });

  test('G14: it stays where it is, though another has more room', () => {
    const spec = { replicas: 8, placement: {}, clusters: had({ m2: 8 }) };
    expect(shown(placed(binding(spec, least(8)), rooms(6, 0, 10), 'gang-no-divided'))).toBe('m2:8');
  });

  test('without a word about the least, all are needed', () => {
    expect(placed(binding({ replicas: 4, placement: {} }), rooms(3), 'gang-divided').reason).toBe(
      'Unschedulable',
    );
  });

  test('it grows towards all of its replicas without moving what runs', () => {
    const grows = (strategy: string, clusters: Record<string, number>, ...free: number[]) =>
      shown(
        placed(
          binding({ replicas: 12, placement: {}, clusters: had(clusters) }, least(8)),
          rooms(...free),
          strategy,
        ),
      );
    expect(grows('gang-divided', { m1: 8 }, 0, 2)).toBe('m1:8 m2:2');
    expect(grows('gang-divided', { m1: 8 }, 4, 20)).toBe('m1:12');
    expect(grows('gang-no-divided', { m1: 8 }, 1, 20)).toBe('m1:9');
    expect(grows('gang-no-divided', { m1: 8 }, 0, 20)).toBe('m1:8');
  });

  test('it shrinks where its workload does', () => {
    const spec = { replicas: 6, placement: {}, clusters: had({ m1: 8, m2: 4 }) };
    expect(shown(placed(binding(spec, least(4)), rooms(0, 0), 'gang-divided'))).toBe('m1:6');
  });

  test('told to be placed anew, it goes where there is most room', () => {
    const told = binding(
      {
        replicas: 12,
        placement: {},
        clusters: had({ m1: 8 }),
        rescheduleTriggeredAt: '2026-01-02T00:00:00Z',
      },
      { ...least(8), status: { lastScheduledTime: '2026-01-01T00:00:00Z' } },
    );
    expect(shown(placed(told, rooms(1, 20), 'gang-no-divided'))).toBe('m2:12');
  });

  test('its only template may be listed as a component', () => {
    const component = {
      name: 'worker',
      replicas: 12,
      replicaRequirements: { resourceRequest: { cpu: '1' } },
    };
    const spec = { replicas: 0, replicaRequirements: null, components: [component], placement: {} };
    expect(placed(binding(spec, least('worker=8')), rooms(6, 4), 'gang-divided').clusters).toEqual([
      { name: 'm1', replicas: 6, components: [{ name: 'worker', replicas: 6 }] },
      { name: 'm2', replicas: 4, components: [{ name: 'worker', replicas: 4 }] },
    ]);
  });

  test('a spread constraint has to be met by the least, not by all', () => {
    const placement = {
      ...AGGREGATED,
      spreadConstraints: [{ spreadByField: 'cluster', minGroups: 1, maxGroups: 2 }],
    };
    expect(
      shown(placed(binding({ replicas: 12, placement }, least(8)), rooms(5, 4, 3), 'gang-divided')),
    ).toBe('m1:5 m2:4');
  });
});

describe('a minimum of 0', () => {
  const tasks = (text: string) =>
    binding(
      {
        replicaRequirements: null,
        components: Object.entries({ master: 1, worker: 4, eval: 8 }).map(([name, replicas]) => ({
          name,
          replicas,
          replicaRequirements: { resourceRequest: { cpu: '1' } },
        })),
        placement: {},
      },
      least(text),
    );

  test.each([
    [
      'master=1,worker=2,eval=0',
      2,
      'no cluster holds the least of all templates (master 1, worker 2, eval 0)',
    ],
    ['master=1,worker=2,eval=0', 3, 'm1 had room for master 1, worker 2, eval 0'],
    ['master=1,worker=2,eval=0', 10, 'm1 had room for master 1, worker 4, eval 5'],
    [
      'master=0,worker=0,eval=0',
      0,
      'no cluster holds the least of all templates (master 1, worker 0, eval 0)',
    ],
    ['master=0,worker=0,eval=0', 1, 'm1 had room for master 1, worker 0, eval 0'],
  ])('%s with %d CPUs: %s', (text, cpu, expected) => {
    const { message } = placed(tasks(text), [cluster('m1', { cpu, pods: 100 })], 'gang-divided');
    expect(message.replace('"m1"', 'm1')).toContain(expected);
  });

  test.each(['gang-divided', 'gang-no-divided'])(
    '%s of one template waits for its first replica',
    (strategy) => {
      const found = (...free: number[]) =>
        shown(placed(binding({ replicas: 4, placement: {} }, least(0)), rooms(...free), strategy));
      expect(found(0)).toMatch(/^Unschedulable: .*of which 1 are needed at least$/);
      expect(found(1)).toBe('m1:1');
      expect(found(9)).toBe('m1:4');
    },
  );

  test('a workload that was scaled below its minimum needs all that are left', () => {
    const found = (free: number) =>
      shown(placed(binding({ replicas: 3, placement: {} }, least(8)), rooms(free), 'gang-divided'));
    expect([found(3), found(2)]).toEqual(['m1:3', expect.stringMatching(/of which 3 are needed at least$/)]);
    expect(shown(placed(binding({ replicas: 0, placement: {} }, least(8)), rooms(1), 'gang-divided'))).toBe(
      '',
    );
  });
});

describe('several templates', () => {
  const components = [
    { name: 'master', replicas: 1, replicaRequirements: { resourceRequest: { cpu: '1' } } },
    {
      name: 'worker',
      replicas: 4,
      replicaRequirements: { resourceRequest: { cpu: '8', 'nvidia.com/gpu': '4' } },
    },
  ];
  const job = (more: object = {}) =>
    binding({ replicaRequirements: null, components, placement: {}, ...more }, least('master=1,worker=2'));
  const gpus = (name: string, cpu: number, gpu: number, pods = 100) =>
    cluster(name, { cpu, 'nvidia.com/gpu': gpu, pods });
  /** ` for 1+3` where not all of it had room. */
  const roomText = (message: string): string => {
    const [, ...counts] = /had room for master (\d+), worker (\d+) and not for all/.exec(message) ?? [];
    return counts.length === 0 ? '' : ` for ${counts.join('+')}`;
  };
  const workers = (found: ReturnType<typeof placed>) =>
    found.clusters
      .map(({ name, components: parts }) => `${name} ${parts?.map((one) => one.replicas).join('+')}`)
      .join() + roomText(found.message);

  test.each([
    [40, 16, 100, 'm1 1+4'],
    [28, 12, 100, 'm1 1+4 for 1+3'],
    [20, 8, 100, 'm1 1+4 for 1+2'],
    [16, 8, 100, ''],
    [40, 16, 2, ''],
  ])('G15: %d cpu, %d gpu, %d Pods', (cpu, gpu, pods, expected) => {
    for (const strategy of ['gang-divided', 'gang-no-divided'])
      expect(workers(placed(job(), [gpus('m1', cpu, gpu, pods)], strategy))).toBe(expected);
  });

  test('S6: the strategy that a policy names in its own field; where all is too fragmented it waits', () => {
    const named = job({ placement: { replicaScheduling: { customSchedulingStrategy: 'gang-divided' } } });
    const whole = placed(named, [gpus('m1', 12, 6), gpus('m2', 20, 8)]);
    expect([whole.strategy, workers(whole)]).toEqual(['gang-divided', 'm2 1+4 for 1+2']);
    // Twice as much as the least needs, in four clusters.
    const pieces = ['m1', 'm2', 'm3', 'm4'].map((name) => gpus(name, 10, 4));
    expect(shown(placed(named, pieces))).toMatch(/^Unschedulable: .*no available scheduling results/);
  });

  test('G15: whoever takes all of it is best', () => {
    const fleet = [gpus('m1', 20, 8), gpus('m2', 28, 12), gpus('m3', 40, 16), gpus('m4', 33, 16)];
    expect(workers(placed(job(), fleet, 'gang-divided'))).toBe('m3 1+4');
    expect(workers(placed(job(), fleet.slice(0, 2), 'gang-divided'))).toBe('m2 1+4 for 1+3');
  });

  test('it stays where it is', () => {
    const there = [
      {
        name: 'm1',
        components: [
          { name: 'master', replicas: 1 },
          { name: 'worker', replicas: 2 },
        ],
      },
    ];
    expect(
      workers(placed(job({ clusters: there }), [gpus('m1', 8, 4), gpus('m2', 40, 16)], 'gang-divided')),
    ).toBe('m1 1+4 for 1+3');
    expect(
      workers(placed(job({ clusters: there }), [gpus('m1', 0, 0), gpus('m2', 40, 16)], 'gang-divided')),
    ).toBe('m1 1+4 for 1+2');
  });

  test('the binding says what the cluster gets: all of it, however little of it had room', () => {
    const worker = { name: 'worker', replicas: 100, replicaRequirements: { resourceRequest: { cpu: '1' } } };
    const wide = job({ components: [components[0], worker] });
    const found = placed(wide, [room('m1', 4)], 'gang-divided');
    expect(workers(found)).toBe('m1 1+100 for 1+3');
    expect(found.message).toBe(
      'Binding has been scheduled successfully. Cluster "m1" had room for master 1, worker 3 and not for all (master 1, worker 100); Karmada sends several templates whole, and the rest waits there.',
    );
  });

  test('nobody holds the least of each', () => {
    expect(shown(placed(job(), [gpus('m1', 9, 4), room('m2', 100)], 'gang-divided'))).toBe(
      'Unschedulable: failed to assign replicas: no available scheduling results: no cluster holds the least of all templates (master 1, worker 2)',
    );
  });

  test('models of nodes count for what they name, the summary for the rest', () => {
    const models = {
      spec: { resourceModels: [{ grade: 0, ranges: [{ name: 'cpu', min: '8', max: '16' }] }] },
      status: {
        resourceSummary: {
          allocatable: { cpu: 100, 'nvidia.com/gpu': 12, pods: 100 },
          allocatableModelings: [{ grade: 0, count: 4 }],
        },
      },
    };
    // Nine nodes' worth of CPU in sum, but only four nodes that take a worker each, and one of them the master.
    expect(workers(placed(job(), [cluster('m1', {}, models)], 'gang-divided'))).toBe('m1 1+4 for 1+3');
  });
});

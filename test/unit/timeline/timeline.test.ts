import { describe, expect, test } from '@jest/globals';
import { at, condition, event, gang, pod, released, timeline, told } from './objects.ts';

const WORKERS = ['worker-0', 'worker-1'];
const RUNS = { bound: 21, started: 25, ready: 30 };

describe('the life of a gang', () => {
  test('that runs, from its creation to its last Pod being ready', () => {
    const life = timeline({
      gang: gang({ initialized: 20, referenced: 19 }),
      pods: [pod('worker-0', { created: 5, ...RUNS }), pod('worker-1', { created: 12, ...RUNS, ready: 33 })],
      objects: [{ kind: 'PodGroup', metadata: { name: 'train', uid: 'group', creationTimestamp: at(1) } }],
      events: [released(20, ...WORKERS)],
    });
    expect(told(life)).toEqual([
      '0 created 1',
      '1 objects 1',
      '5 first-pod 1 worker-0',
      '12 last-pod 1 worker-1',
      '12 complete 1',
      '19 referenced 1',
      '20 initialized 1',
      '20 gates-off 1 worker-0,worker-1',
      '21 bound 1 worker-0,worker-1',
      '25 started 1 worker-0,worker-1',
      '30 ready 1 worker-0',
      '33 ready 1 worker-1',
    ]);
    expect(life.waiting).toBeUndefined();
    expect(life.unknown).toEqual([]);
    expect(life.steps.map(({ waitedFor, says }) => [waitedFor, says].join(' | '))).toEqual([
      ' | ',
      "the scheduler's objects | PodGroup train",
      'whoever creates its Pods | ',
      'Pods: worker 1/2 | ',
      ' | ',
      'the references to its Pods | ',
      "the references, and the scheduler's objects | ",
      'Muster, to take the gates off | ',
      'the scheduler | ',
      'the kubelet: images and containers | ',
      'the Pods to be ready | ',
      'the Pods to be ready | ',
    ]);
  });

  test('whose Pod is replaced joins it, and whose Pods are all replaced is a next generation', () => {
    const one = timeline({
      gang: gang({ initialized: 20 }),
      pods: [pod('worker-0', { created: 5, ...RUNS }), pod('worker-2', { created: 100, gated: true })],
      events: [released(20, ...WORKERS)],
    });
    expect(told(one)).toContain('100 joined 1 worker-2');
    const all = timeline({
      gang: gang({ initialized: 20 }),
      pods: [
        pod('worker-0', { created: 5, ...RUNS, evicted: 80 }),
        pod('worker-1', { created: 6, ...RUNS, deleted: 90 }),
        pod('worker-2', { created: 100, gated: true }),
      ],
      events: [released(20, ...WORKERS)],
    });
    expect(told(all).slice(-3)).toEqual([
      '80 evicted 1 worker-0',
      '90 deleted 1 worker-1',
      '100 first-pod 2 worker-2',
    ]);
    expect(all.waiting).toEqual({ since: at(100), generation: 2, for: 'Pods: worker 1/2' });
  });

  test('a restart that the workload counts is a next generation, although a Pod of the one before is left', () => {
    const life = timeline({
      gang: gang({ initialized: 20 }),
      pods: [
        pod('worker-0', { created: 5, ...RUNS, attempt: '0' }),
        pod('worker-1', { created: 60, gated: true, attempt: '1' }),
      ],
    });
    expect(told(life)).toContain('60 first-pod 2 worker-1');
  });

  test('Pods that are gone are known by their Events', () => {
    const about = (name: string) => ({ kind: 'Pod', name, uid: `old-${name}` });
    const life = timeline({
      gang: gang({ initialized: 20 }),
      pods: [pod('worker-0', { created: 100, gated: true })],
      events: [
        released(20, ...WORKERS),
        event(21, 'Scheduled', 'assigned', about('worker-0')),
        event(22, 'Scheduled', 'assigned', about('worker-1')),
        event(50, 'Preempted', 'by ml/other', about('worker-1')),
        event(50, 'Preempted', 'by ml/other', about('stranger')),
      ],
    });
    expect(told(life).filter((line) => !/initialized|created/.test(line))).toEqual([
      '20 gates-off 1 worker-0,worker-1',
      '21 bound 1 worker-0',
      '22 bound 1 worker-1',
      '50 evicted 1 worker-1',
      '100 first-pod 2 worker-0',
    ]);
    expect(life.unknown).toEqual(['when generation 1 was complete: some of its Pods are gone']);
  });
});

describe('gates', () => {
  test.each<[string, Parameters<typeof timeline>[0], readonly string[]]>([
    [
      'differ by Pod',
      { events: [released(20, 'worker-0'), released(26, 'worker-1')] },
      ['20 worker-0', '26 worker-1'],
    ],
    [
      'are told by an Event that names the first Pods alone',
      { events: [event(20, 'GatesRemoved', 'released 9 Pods to the scheduler: worker-7 and 8 more Pods')] },
      ['20 worker-0,worker-1'],
    ],
    [
      'came off before their Event was written',
      { events: [released(29, ...WORKERS)] },
      ['28 worker-0,worker-1'],
    ],
    ['are not known without an Event', {}, []],
  ])('%s', (_what, given, expected) => {
    const life = timeline({
      gang: gang({ initialized: 20 }),
      pods: WORKERS.map((name) => pod(name, { created: 5, bound: 28 })),
      ...given,
    });
    expect(
      told(life).flatMap((line) => /^(\d+) gates-off 1 (.*)/.exec(line)?.slice(1).join(' ') ?? []),
    ).toEqual(expected);
    expect(life.unknown.some((one) => one.startsWith('when the gates of'))).toBe(expected.length === 0);
  });

  test('came off at once where the Pods were bound within the same second', () => {
    const life = timeline({
      gang: gang({ initialized: 20 }),
      pods: WORKERS.map((name) => pod(name, { created: 5, bound: 21 })),
    });
    expect(told(life)).toContain('21 gates-off 1 worker-0,worker-1');
  });

  test('of a gang that waits for another wait for that', () => {
    const life = timeline({
      gang: gang({ initialized: 20 }),
      pods: WORKERS.map((name) => pod(name, { created: 5, base: 'base', bound: 50 })),
      events: [released(49, ...WORKERS)],
    });
    expect(life.steps.find(({ step }) => step === 'gates-off')?.waitedFor).toBe(
      'the base gang base to be scheduled',
    );
  });
});

describe('refusals of the scheduler', () => {
  const NOTE = '0/1 nodes are available: 1 Insufficient cpu.';

  test('are one where the words are the same, and are what binding waited for', () => {
    const life = timeline({
      gang: gang({ initialized: 20 }),
      pods: WORKERS.map((name) => pod(name, { created: 5, bound: 60 })),
      events: [
        released(20, ...WORKERS),
        ...WORKERS.map((name) => event(22, 'FailedScheduling', NOTE, { kind: 'Pod', name })),
        {
          ...event(30, 'FailedScheduling', `${NOTE}\n`, { kind: 'Pod', name: 'worker-0' }),
          series: { count: 4, lastObservedTime: at(50) },
        },
      ],
    });
    expect(life.steps.find(({ step }) => step === 'refused')).toEqual({
      at: at(22),
      step: 'refused',
      generation: 1,
      pods: WORKERS,
      waitedFor: 'the scheduler',
      says: `${NOTE} (4 times)`,
    });
    expect(life.steps.find(({ step }) => step === 'bound')?.waitedFor).toBe(
      'the scheduler, which refused before',
    );
  });

  test('are read from the condition, and their time from managedFields, where no Event is left', () => {
    const life = timeline({
      gang: gang({ initialized: 20 }),
      pods: [
        pod('worker-0', {
          created: 5,
          conditions: [condition('PodScheduled', 'False', 5, NOTE)],
          managedFields: [
            {
              time: at(40),
              fieldsV1: { 'f:status': { 'f:conditions': { 'k:{"type":"PodScheduled"}': {} } } },
            },
          ],
        }),
        pod('worker-1', { created: 5 }),
      ],
    });
    expect(told(life)).toContain('40 refused 1 worker-0');
    expect(life.waiting?.for).toBe(`the scheduler, to bind worker-0, worker-1: ${NOTE}`);
  });

  test('of schedulers without Events are those that the loop repeats', () => {
    const life = timeline({
      gang: gang({ initialized: 20 }),
      pods: WORKERS.map((name) => pod(name, { created: 5 })),
      events: [released(20, ...WORKERS), event(24, 'Unschedulable', 'queue q is closed')],
    });
    expect(told(life)).toContain('24 refused 1');
  });
});

describe('what it waits for now', () => {
  const pods = WORKERS.map((name) => pod(name, { created: 5, gated: true }));
  const initialized = gang({ initialized: 20 });
  const bound = (more: object = {}) => WORKERS.map((name) => pod(name, { created: 5, bound: 21, ...more }));

  test.each<[string, Parameters<typeof timeline>[0]]>([
    ['the PodGang, which does not exist', { gang: undefined, pods }],
    ['Pods: worker 0/2', {}],
    ['Pods: worker 1/2', { pods: pods.slice(0, 1) }],
    ['Muster, to write Initialized', { pods }],
    [
      'no backend',
      { gang: gang({ conditions: [condition('Initialized', 'False', 1, 'no backend')] }), pods },
    ],
    ['Muster, to take the gates off worker-0, worker-1', { gang: initialized, pods }],
    [
      'its base',
      { gang: gang({ initialized: 20, conditions: [condition('Scheduled', 'False', 1, 'its base')] }), pods },
    ],
    [
      'the scheduler, to bind worker-0, worker-1',
      { gang: initialized, pods: WORKERS.map((name) => pod(name, { created: 5 })) },
    ],
    ['the kubelet: images and containers of worker-0, worker-1', { gang: initialized, pods: bound() }],
    ['worker-0, worker-1 to be ready', { gang: initialized, pods: bound({ started: 24 }) }],
  ])('%s', (words, given) => {
    expect(timeline(given).waiting?.for).toBe(words);
  });

  test('is nothing where the Pods are ready, or have succeeded', () => {
    for (const more of [
      { started: 24, ready: 25 },
      { started: 24, ended: 40 },
    ])
      expect(timeline({ gang: initialized, pods: bound(more) }).waiting).toBeUndefined();
  });
});

describe('what is not known any more', () => {
  const HOUR = 3600;
  test.each<[string, Parameters<typeof timeline>[0]]>([
    [
      'the PodGang does not exist: when it was created, complete and Initialized is not known',
      { gang: undefined },
    ],
    [
      'there are no Events of this gang: refusals of the scheduler and evictions are not known',
      { pods: [pod('worker-0', { created: 5, gated: true })] },
    ],
    [
      'there are no Events of this gang any more, an API server keeps them for an hour: refusals of the scheduler and evictions are not known',
      { pods: [pod('worker-0', { created: 5, gated: true })], now: Date.parse(at(HOUR + 1)) },
    ],
    [
      'an API server keeps Events for an hour: earlier refusals and evictions are not known any more',
      { events: [released(20, ...WORKERS)], now: Date.parse(at(HOUR + 1)) },
    ],
    [
      'the Pods of generation 1 are gone, and there may have been more generations since',
      { gang: gang({ initialized: 20 }), pods: [pod('worker-0', { created: 100 })] },
    ],
    [
      'when generation 1 was complete: some of its Pods are gone',
      {
        gang: gang({ initialized: 20 }),
        pods: [pod('worker-0', { created: 5, ...RUNS }), pod('worker-2', { created: 100 })],
      },
    ],
    [
      'the clocks of Muster and the API server differ: Initialized is 3 s before the creation',
      { gang: gang({ initialized: -3 }) },
    ],
    ['you may not read Events', { unread: ['you may not read Events'] }],
  ])('%s', (sentence, given) => {
    expect(timeline(given).unknown).toContain(sentence);
  });

  test('nothing that Events would tell, where they may not be read', () => {
    const pods = [pod('worker-0', { created: 5, ...RUNS })];
    expect(timeline({ pods, events: [] }).unknown.join()).toContain('there are no Events of this gang');
    expect(timeline({ pods, events: [], eventsUnread: 'no right' }).unknown.join()).not.toContain(
      'no Events',
    );
  });

  test('when a container began first, where it has restarted', () => {
    const again = pod('worker-0', { created: 5, ...RUNS }) as {
      status: { containerStatuses: { restartCount: number }[] };
    };
    again.status.containerStatuses[0]!.restartCount = 2;
    expect(timeline({ pods: [again as never] }).unknown).toContain(
      'when containers of worker-0 began first: they have restarted since',
    );
  });
});

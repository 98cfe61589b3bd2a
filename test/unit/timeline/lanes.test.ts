import { expect, test } from '@jest/globals';
import { lanesOf } from '../../../src/timeline/lanes.ts';
import { event, gang, msOf, pod, released, timeline } from './objects.ts';

const spans = (life: ReturnType<typeof timeline>): string[] =>
  lanesOf(life).map(({ name, spans: all }) =>
    [name, ...all.map(({ state, from, to }) => `${state} ${from - msOf(0)}-${to - msOf(0)}`)].join(' '),
  );

test('a gang whose Pods were preempted runs no more, and a Pod that is gone ran since its container started', () => {
  const about = { kind: 'Pod', name: 'worker-0', uid: 'old-worker-0' };
  const life = timeline({
    gang: gang({ initialized: 20, groups: { worker: 1 } }),
    pods: [],
    events: [
      released(20, 'worker-0'),
      event(21, 'Scheduled', 'assigned', about),
      event(25, 'Started', 'started', about),
      event(50, 'Preempted', 'by ml/other', about),
    ],
  });
  expect(spans(life)).toEqual([
    'train gated 0-20000 scheduler 20000-21000 starting 21000-25000 running 25000-50000',
    'worker-0 scheduler 20000-21000 starting 21000-25000 running 25000-50000',
  ]);
});

test('a gang runs no longer than its last Pod', () => {
  const times = { created: 5, bound: 21, started: 25, ready: 30 };
  const life = timeline({
    gang: gang({ initialized: 20, groups: { worker: 1 } }),
    pods: [pod('worker-0', { ...times, evicted: 80 })],
    events: [released(20, 'worker-0')],
  });
  expect(spans(life)[0]).toMatch(/ running 30000-80000$/);
});

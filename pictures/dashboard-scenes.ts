import type { GangDetail } from '../src/dashboard/wire.ts';
import type { GangStatus } from '../src/status/gang-status.ts';
import { timelineSvg } from '../src/timeline/timeline-svg.ts';
import { someGang } from '../test/component/dashboard/some-gangs.ts';
import { at, event, gang, msOf, pod, released, timeline } from '../test/unit/timeline/objects.ts';

/** When the pictures are taken. */
export const SCENE_TIME = msOf(95);

const NO_ROOM = '0/6 nodes are available: 6 Insufficient nvidia.com/gpu';
const RELEASED = ['worker-0', 'worker-1'];

const PODS = RELEASED.map((name, index) =>
  pod(name, {
    created: 4 + index * 8,
    bound: 62,
    started: 68,
    ...(index < 1 && { ready: 80 }),
  }),
);
const EVENTS = [
  released(20, ...RELEASED),
  event(32, 'FailedScheduling', NO_ROOM, { kind: 'Pod', name: 'worker-0' }),
];

const LIFE = timeline({
  gang: gang({ initialized: 20, groups: { worker: 2 } }),
  ...{ pods: PODS, events: EVENTS, now: SCENE_TIME },
});

const TRAIN: GangStatus = {
  ...{ namespace: 'ml', name: 'train', backend: 'kai-scheduler', creationTimestamp: at(0) },
  why: 'ready worker 1/2',
  summary: {
    ...{ namespace: 'ml', name: 'train', backend: 'kai-scheduler', phase: 'Starting', workload: 'job/train' },
    ...{ why: 'ready worker 1/2', initialized: true, gatesLeft: 0 },
    groups: [
      {
        ...{ name: 'worker', minReplicas: 2, expected: 2, present: 2 },
        ...{ referenced: 2, bound: 2, ready: 1, gated: 0 },
      },
    ],
  },
  pods: RELEASED.map((name, index) => ({
    ...{ name, group: 'worker', node: `node-${index + 1}` },
    ...(index < 1
      ? { state: 'running', reason: '' }
      : { state: 'starting', reason: 'on node node-2, not ready yet' }),
  })),
};

export const SCENE_GANGS: readonly GangStatus[] = [
  TRAIN,
  someGang('evaluate-7', { why: 'waiting for Pods: leader 0/1' }),
  someGang('llama-prefill', { why: `the scheduler finds no capacity: ${NO_ROOM}` }),
  someGang('sweep-12', { why: 'the references are being written' }),
  ...['embed-3', 'rerank-1', 'serve-blue', 'serve-green'].map((name) => someGang(name, { phase: 'Running' })),
];

export const SCENE_DETAIL: GangDetail = {
  gang: TRAIN,
  timeline: { ...LIFE, waiting: LIFE.waiting ?? null, svg: timelineSvg(LIFE) },
  objects: [{ ...{ kind: 'PodGroup', name: 'train', created: at(19), phase: 'Running' }, conditions: [] }],
  events: [
    { at: at(32), of: 'Pod/worker-0', warning: true, reason: 'FailedScheduling', note: NO_ROOM, count: 3 },
    {
      ...{ at: at(20), of: 'PodGang/train', warning: false, reason: 'GatesRemoved', count: 1 },
      note: `released 2 Pods to the scheduler: ${RELEASED.join(', ')}`,
    },
  ],
  eventsLeft: 0,
  eventsUnread: null,
};

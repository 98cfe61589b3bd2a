import { describe, expect, test } from '@jest/globals';
import { planGang } from '../../../../src/gang/plan/plan.ts';
import type { GangState, PodRecord } from '../../../../src/gang/records.ts';
import { bound, condition, gang, group, INITIALIZED, NOW, pod, state, written } from './gang-states.ts';

/** The gang, Initialized, which refers to those of these Pods that live. */
const whole = (pods: readonly PodRecord[], initialized = INITIALIZED) => {
  const names = (of: string): string[] =>
    pods.filter((one) => one.group === of && one.deletionTimestamp === undefined).map(({ name }) => name);
  const groups = [group('leader', 1, ...names('leader')), group('workers', 2, ...names('workers'))];
  return gang({ groups, conditions: [initialized] });
};
const said = (reason: string, message: string) => ({ status: 'False', reason, message });
const free = (name: string, podScheduled?: PodRecord['podScheduled'], parts: Partial<PodRecord> = {}) =>
  pod(name, { gates: [], podScheduled, ...parts });
const FITS = said(
  'Schedulable',
  'Pod ml/leader-0 can possibly be assigned to n1, once minAvailable is satisfied',
);
const WAITING = said('Unschedulable', 'pod group is not ready,\n 2 Pending, 3 minAvailable');
const FULL_NODES = said('Unschedulable', '0/2 nodes are unavailable: 2 Insufficient cpu.');
const SAYS = '3/3 tasks in gang unschedulable: pod group is not ready, 2 Pending, 3 minAvailable';

const scheduled = (pods: readonly PodRecord[], schedulerMessage?: string, parts: Partial<GangState> = {}) => {
  const result = planGang(
    state({ gang: whole(pods), pods, backend: { ...state().backend, schedulerMessage }, ...parts }),
  );
  const { reason, message } = written(result, 'Scheduled') ?? {};
  return { reason, message, recheckAfterMs: result.recheckAfterMs };
};
const pods = [free('leader-0', FITS), free('workers-0', WAITING), free('workers-1', FULL_NODES)];

describe('what the scheduler says of a gang', () => {
  test('comes first, and of a Pod what is not in it already', () => {
    expect(scheduled(pods, SAYS)).toMatchObject({
      reason: 'Unschedulable',
      message: `bound leader 0/1, workers 0/2; the scheduler says of the gang: ${SAYS}; of workers-1: 0/2 nodes are unavailable: 2 Insufficient cpu.`,
    });
  });

  test('where it is said of Pods alone: not of one that fits', () => {
    expect(scheduled(pods).message).toBe(
      'bound leader 0/1, workers 0/2; the scheduler says of workers-0: pod group is not ready, 2 Pending, 3 minAvailable',
    );
    const fits = ['leader-0', 'workers-0', 'workers-1'].map((name) => free(name, FITS));
    expect(scheduled(fits)).toMatchObject({
      reason: 'PodsPending',
      message: 'bound leader 0/1, workers 0/2',
    });
  });

  test('is on one line, whatever its own lines', () => {
    expect(scheduled(pods, 'a\n  b\t\r\nc ').message).toContain(
      'of the gang: a b c; of workers-0: pod group',
    );
  });

  test('is nothing while its Pods are gated or missing: it only says that', () => {
    const gated = [...pods.slice(0, 2), pod('workers-1')];
    const foreign = [bound('leader-0'), bound('workers-0'), pod('workers-1', { gates: ['kueue'] })];
    expect(scheduled([bound('leader-0'), bound('workers-0')], 'no room for its minResources')).toMatchObject({
      reason: 'PodsPending',
      message: 'bound workers 1/2',
    });
    expect(scheduled(foreign, SAYS)).toMatchObject({ reason: 'PodsPending', message: 'bound workers 1/2' });
    expect(scheduled(gated, 'waits in queue "q"').message).not.toContain('queue');
  });

  test('does not count at once after the gang was Initialized', () => {
    const at = (ms: number) => {
      const lastTransitionTime = new Date(NOW - ms).toISOString();
      return scheduled(pods, SAYS, {
        gang: whole(pods, condition('Initialized', 'True', { lastTransitionTime })),
      });
    };
    expect(at(1_000)).toMatchObject({ reason: 'PodsPending', recheckAfterMs: 2_000 });
    expect(at(3_000)).toMatchObject({ reason: 'Unschedulable', recheckAfterMs: undefined });
    // A clock that is ahead of ours holds nothing back, and `muster status` has none.
    expect(at(-60_000).reason).toBe('Unschedulable');
  });

  test('does not count at once after a Pod of the minimum came, and always later than one past it', () => {
    const creationTimestamp = new Date(NOW - 1_000).toISOString();
    const rest = [bound('leader-0'), bound('workers-0')];
    const late = free('workers-1', undefined, { creationTimestamp });
    expect(scheduled([...rest, late], SAYS)).toMatchObject({ reason: 'PodsPending', recheckAfterMs: 2_000 });
    const surplus = free('workers-2', undefined, { creationTimestamp });
    const settled = free('workers-1');
    expect(scheduled([...rest, settled, surplus], SAYS).reason).toBe('Unschedulable');
  });

  test('nothing at all, of Pods that were let go: status says so, and no condition does', () => {
    const silent = ['leader-0', 'workers-0', 'workers-1'].map((name) => free(name));
    const why = (all: readonly PodRecord[]) => planGang(state({ gang: whole(all), pods: all })).summary?.why;
    expect(why(silent)).toBe('bound leader 0/1, workers 0/2; no word of the scheduler yet');
    expect(scheduled(silent).message).toBe('bound leader 0/1, workers 0/2');
    expect(why([...silent.slice(0, 2), pod('workers-1')])).toBe('bound leader 0/1, workers 0/2');
    expect(why([...silent.slice(0, 2), free('workers-1', FITS)])).toBe('bound leader 0/1, workers 0/2');
  });
});

test('a gang with Pods that run and are not ready names them, and where: its node may be lost', () => {
  const all = [
    bound('leader-0', { phase: 'Running', ready: true }),
    bound('workers-0', { phase: 'Running', nodeName: 'node-9' }),
    bound('workers-1'),
  ];
  const result = planGang(state({ gang: whole(all), pods: all }));
  expect(written(result, 'Ready')?.message).toBe('ready workers 0/2');
  expect(result.summary?.why).toBe('ready workers 0/2; not ready: workers-0 on node-9');
});

test('a gang that lost Pods names those that are on their way out, and where', () => {
  const lost = bound('workers-1', { deletionTimestamp: 'now', nodeName: 'node-9' });
  const all = [bound('leader-0'), bound('workers-0'), lost];
  const result = planGang(state({ gang: whole(all), pods: all }));
  expect(written(result, 'Unhealthy')?.message).toBe(
    'fewer Pods than the minimum: workers 1/2; being deleted: workers-1 on node-9; 2 Pods are on nodes, and some schedulers evict a gang below its minimum',
  );
});

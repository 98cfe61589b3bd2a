/** Whole lives of gangs: losses, updates, scale, retries, completions and crashes, one generation after the other. */
import { describe, expect, test } from '@jest/globals';
import { planGang } from '../../../../src/gang/plan/plan.ts';
import type { GangState } from '../../../../src/gang/records.ts';
import { searchLength } from '../../../support/length.ts';
import { Random } from '../../../support/random.ts';
import { Life, type Scheduler } from './lives.ts';
import type { Kind } from './world.ts';

const KINDS: readonly Kind[] = [
  { kind: 'job', groups: { main: 3 }, completions: 7 },
  { kind: 'job', groups: { main: 4 }, completions: 4 },
  { kind: 'statefulset', groups: { main: 4 } },
  { kind: 'written', groups: { leader: 1, workers: 3 } },
];
const SCHEDULERS: readonly Scheduler[] = ['native', 'composite', 'alone'];
const SEEDS = searchLength({ short: 40, long: 1500 });
const STEPS = 250;

/** @throws what went wrong */
function live(seed: number, kind: Kind, scheduler: Scheduler, judge = planGang): Life {
  const random = new Random(seed);
  const life = new Life(random, kind, scheduler, judge);
  life.room = 6;
  for (let step = 0; step < STEPS; step += 1) {
    const dice = random.below(100);
    if (dice < 25) life.control();
    else if (dice < 35) life.maker();
    else if (dice < 45) life.sync();
    else if (dice < 75) life.loop(random.chance(20));
    else if (dice < 85) life.schedule();
    else if (dice < 90) life.kubelet();
    else life.suffer();
  }
  life.comeToRest();
  return life;
}

describe.each(SCHEDULERS)('placed by a scheduler that is %s', (scheduler) => {
  test.each(KINDS)(
    'each generation is whole before it starts, none waits without a word, all come home: %o',
    (kind) => {
      const sum = { generations: 0, bound: 0 };
      for (let seed = 1; seed <= SEEDS; seed += 1) {
        try {
          const { generations, bound } = live(seed, kind, scheduler);
          sum.generations += generations;
          sum.bound += bound;
        } catch (error) {
          throw new Error(`seed ${seed}`, { cause: error });
        }
      }
      // They are about something.
      expect(sum.generations).toBeGreaterThan(SEEDS * 2);
      expect(sum.bound).toBeGreaterThan(SEEDS * 5);
    },
  );
});

describe('the same lives notice a loop that', () => {
  const onState = (change: (state: GangState) => GangState) => (state: GangState) => planGang(change(state));
  const uncounted = onState((state) => ({ ...state, backend: { ...state.backend, countsEnding: false } }));
  test.each<[string, RegExp, typeof planGang]>([
    [
      'lets each Pod of a gang that has formed go by itself',
      /is let go|start/,
      (state) => ({
        ...planGang(state),
        ungate: planGang({
          ...state,
          pods: [
            ...state.pods,
            ...state.pods.slice(0, 1).map((one) => ({
              ...one,
              uid: 'other',
              name: 'other',
              gates: [],
              phase: 'Running',
              deletionTimestamp: undefined,
            })),
          ],
        }).ungate.filter(({ uid }) => uid !== 'other'),
      }),
    ],
    ['forgets that its scheduler counts Pods that end', /while its scheduler counts/, uncounted],
    [
      'says nothing of a Pod that waits beside those that run',
      /without a word/,
      (state) => {
        const right = planGang(state);
        const { summary } = right;
        return summary?.phase === 'Running' ? { ...right, summary: { ...summary, why: '' } } : right;
      },
    ],
  ])('%s', (_what, noticed, judge) => {
    for (let seed = 1; seed <= SEEDS; seed += 1)
      for (const kind of KINDS)
        try {
          live(seed, kind, 'native', judge);
        } catch (error) {
          if (noticed.test(String(error))) return;
        }
    throw new Error(`nobody noticed in ${SEEDS * KINDS.length} lives`);
  });
});

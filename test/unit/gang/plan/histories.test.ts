import { describe, expect, test } from '@jest/globals';
import { RELEASE_ORDERS } from '../../../../src/gang/records.ts';
import { inLength } from '../../../support/length.ts';
import { BROKEN } from './broken-judges.ts';
import { faultFreeEnd, runHistory, type Flavour } from './history.ts';
import type { Judge } from './model-leader.ts';

const FLAVOURS: readonly Flavour[] = [
  { leaders: 1, faults: false, order: 'minimum-first' },
  { leaders: 1, faults: true, order: 'minimum-first' },
  { leaders: 2, faults: true, order: 'minimum-first' },
  { leaders: 1, faults: false, order: 'all-at-once' },
  { leaders: 2, faults: true, order: 'all-at-once' },
  { leaders: 2, faults: true, order: 'optional-groups-last' },
  { leaders: 1, faults: false, order: 'minimum-first', cut: true },
];
const SEEDS = inLength({ short: 25, long: 200 });
/** A broken loop is noticed by the first few, or by one of many. */
const SEEDS_TO_NOTICE = 200;
const STEPS = 600;

/** What goes wrong in one history: an invariant, or an end that faults have changed; '' for nothing. */
function trouble(seed: number, flavour: Flavour, end: unknown, judge?: Judge): string {
  try {
    const outcome = runHistory(seed, STEPS, flavour, judge);
    expect(outcome.end).toEqual(end);
    return '';
  } catch (error) {
    return error instanceof Error && error.constructor.name === 'Broken'
      ? error.message
      : `end: ${String(error)}`;
  }
}

describe('random histories', () => {
  test.each(FLAVOURS)(
    'hold every invariant after every step and end as without faults: %o',
    (flavour) => {
      const end = faultFreeEnd(flavour.order);
      const sum = { steps: 0, references: 0, status: 0, ungate: 0 };
      for (let seed = 1; seed <= SEEDS; seed += 1) {
        try {
          const { steps, writes, end: found } = runHistory(seed, STEPS, flavour);
          expect(found).toEqual(end);
          sum.steps += steps;
          sum.references += writes.references;
          sum.status += writes.status;
          sum.ungate += writes.ungate;
        } catch (error) {
          throw new Error(`seed ${seed}`, { cause: error });
        }
      }
      expect(sum.steps).toBe(SEEDS * STEPS);
      // The histories are about something: gangs form again and again in each of them.
      expect(sum.references).toBeGreaterThan(SEEDS * 4);
      expect(sum.status).toBeGreaterThan(SEEDS * 4);
      // Gangs of a namespace that stands still keep their gates meanwhile.
      expect(sum.ungate).toBeGreaterThan(SEEDS * (flavour.cut === true ? 1 : 2));
    },
    90_000,
  );
});

describe('the same histories notice a loop that', () => {
  const ends = Object.fromEntries(RELEASE_ORDERS.map((order) => [order, faultFreeEnd(order)]));

  test.each(BROKEN.map((broken) => [broken.what, broken] as const))(
    '%s',
    (_what, { judge, noticed, seed: first = 1 }) => {
      const from = inLength({ short: first, long: 1 });
      for (let tried = 0; tried < SEEDS_TO_NOTICE; tried += 1) {
        const seed = ((from - 1 + tried) % SEEDS_TO_NOTICE) + 1;
        for (const flavour of FLAVOURS) {
          const found = trouble(seed, flavour, ends[flavour.order], judge);
          if (noticed.test(found)) return;
        }
      }
      throw new Error(`nobody noticed in ${SEEDS_TO_NOTICE * FLAVOURS.length} histories`);
    },
    60_000,
  );
});

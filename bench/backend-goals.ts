import type { BackendFigures } from './backends.ts';
import { goal, type Goal } from './goals.ts';

const MAX_MORE_MICROS = 10;

/** Holds the figures of the backends against their goals. */
export function judgeBackends({ prepare = [], sync = [] }: BackendFigures): Goal[] {
  return [
    goal(
      'preparing a Pod, the dearest backend, CPU µs beyond gates alone',
      most(prepare.slice(1).map(({ moreCpu }) => moreCpu)),
      { most: MAX_MORE_MICROS },
    ),
    goal(
      "writes to a backend's objects, first pass, each gang and kind, the most",
      most(sync.map(({ first, gangs, kinds }) => first.writes.objects / gangs / kinds.length)),
      { most: 1 },
    ),
    goal(
      "writes to a backend's objects, second pass, all backends",
      sync.length === 0 ? Number.NaN : sync.reduce((sum, { second }) => sum + second.writes.objects, 0),
      { most: 0 },
      0,
    ),
  ];
}

const most = (values: readonly number[]): number => (values.length === 0 ? Number.NaN : Math.max(...values));

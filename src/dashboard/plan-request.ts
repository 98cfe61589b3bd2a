import { VARIANTS, type Variant } from '../preemption/variants.ts';
import { printable } from '../text/printable.ts';

/** What is asked of a plan. */
export interface PlanRequest {
  readonly variant: Variant;
  /** A change that is tried: `minReplicas` by group; empty where the gang is planned as it is. */
  readonly minimums: ReadonlyMap<string, number>;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** The query of the request; a key that is given several times is a list. */
export interface PlanQuery {
  readonly variant?: string | string[];
  readonly minimum?: string | string[];
}

/** Why a request is not understood. */
export interface PlanRefusal {
  readonly status: 400;
  readonly code: string;
  readonly message: string;
  readonly fix: string;
}

const MINIMUM = /^([^=]{1,253})=(\d{1,7})$/;

/** Reads `?variant=kep&minimum=worker=4`. */
export function planAsked({
  variant: given = 'kep',
  minimum = [],
}: PlanQuery): Omit<PlanRequest, 'signal'> | PlanRefusal {
  const variant = VARIANTS.find((one) => one === given);
  if (variant === undefined)
    return {
      status: 400,
      code: 'PLAN_VARIANT',
      message: `variant is ${shown(given)}, and has to be one of ${VARIANTS.join(', ')}`,
      fix: 'Ask with ?variant= and one of these, or without it for kep, as muster plan does.',
    };
  const minimums = new Map<string, number>();
  for (const entry of [minimum].flat()) {
    const [, group, count] = MINIMUM.exec(entry) ?? [];
    if (group === undefined || minimums.has(group))
      return {
        status: 400,
        code: 'PLAN_MINIMUM',
        message: `minimum is ${shown(entry)}, and has to be a group and its minReplicas, each group once`,
        fix: 'Ask with ?minimum=worker=4, again for a further group, or without it for the gang as it is.',
      };
    minimums.set(group, Number(count));
  }
  return { variant, minimums };
}

const shown = (given: string | string[]): string => printable(JSON.stringify(given), 64);

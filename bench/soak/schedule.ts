import { Random } from '../../test/support/random.ts';

/** What a run does to Muster: how often in a full run, and how long one is expected to take (seconds). */
export const DISTURBANCES = {
  'rolling restart': { times: 10, seconds: 70 },
  'leaf rotation': { times: 10, seconds: 5 },
  'CA rotation': { times: 10, seconds: 12 },
  SIGKILL: { times: 2, seconds: 15 },
  'SIGSTOP for 20 s': { times: 2, seconds: 35 },
  'balancer restart': { times: 2, seconds: 10 },
  'API server restart': { times: 2, seconds: 25 },
  overload: { times: 2, seconds: 75 },
  'rollback and upgrade': { times: 1, seconds: 150 },
} as const;

export type Kind = keyof typeof DISTURBANCES;
export const KINDS = Object.keys(DISTURBANCES) as readonly Kind[];

export interface Planned {
  /** Seconds from the start of the load. */
  readonly at: number;
  readonly kind: Kind;
}

/** Before the first disturbance and after the last (seconds). */
const QUIET = 30;

export type Counts = Readonly<Partial<Record<Kind, number>>>;

/** How often each is done in a run of this length: a short run has fewer of each, and of each at least one. */
export function countsFor(seconds: number): Counts {
  const full = KINDS.reduce((sum, kind) => sum + DISTURBANCES[kind].times * DISTURBANCES[kind].seconds, 0);
  const share = Math.min(1, Math.max(0, seconds - 2 * QUIET) / full);
  return Object.fromEntries(
    KINDS.map((kind) => [kind, Math.max(1, Math.floor(DISTURBANCES[kind].times * share))]),
  );
}

/**
 * When what is done: an order by the seed, spread over the time, each one long enough after the one before. Where the
 * time does not suffice, the last ones come after its end.
 */
export function scheduleOf(seed: number, seconds: number, counts: Counts): Planned[] {
  const random = new Random(seed);
  const left = KINDS.flatMap((kind) => Array.from({ length: counts[kind] ?? 0 }, () => kind));
  const order: Kind[] = [];
  while (left.length > 0) order.push(...left.splice(random.below(left.length), 1));
  const busy = order.reduce((sum, kind) => sum + DISTURBANCES[kind].seconds, 0);
  const quiet = Math.min(QUIET, seconds / 10);
  const slack = Math.max(0, seconds - 2 * quiet - busy) / Math.max(1, order.length);
  let at = quiet;
  return order.map((kind) => {
    const planned = { kind, at: Math.round(at + (slack * random.below(100)) / 100) };
    at += slack + DISTURBANCES[kind].seconds;
    return planned;
  });
}

import type { Attempt } from './load.ts';
import type { Kind } from './schedule.ts';

/** Until the balancer has noticed that a replica does not answer: two checks that are half a second apart, and may take as long. */
export const NOTICED_MS = 2_000;

/** A disturbance as it was, in ms of this process's clock. */
export interface Done {
  readonly kind: Kind;
  readonly begun: number;
  readonly ended: number;
}

/**
 * Whom a failed creation is counted to. `Muster`: nothing excuses it, and the goal is none of these. What a process that
 * was killed or stopped had in flight is lost with it, since the API server asks a webhook once; what it would have lost
 * without any webhook is its own.
 */
export type Blamed = 'Muster' | 'SIGKILL' | 'SIGSTOP' | 'balancer' | 'API server';
export const BLAMED: readonly Blamed[] = ['Muster', 'SIGKILL', 'SIGSTOP', 'balancer', 'API server'];

/** After the API server answers again its clients find out one by one, and it reads what it keeps (ms). */
const API_SERVER_SETTLES_MS = 5_000;
const BALANCER_SETTLES_MS = 1_000;

/** For how long a disturbance excuses failures after its end (ms). Until then nothing else is begun, or it would be excused too. */
export const excusesAfterMs = (kind: Kind): number => {
  if (kind === 'API server restart') return API_SERVER_SETTLES_MS;
  return kind === 'balancer restart' ? BALANCER_SETTLES_MS : 0;
};

/** @param done those that are over or under way; the end of the latter is far away */
export function blamed({ begun, ended, failure = '' }: Attempt, done: readonly Done[]): Blamed {
  const byWebhook = failure.includes('failed calling webhook');
  const during = (kind: Kind, forMs: (one: Done) => number): boolean =>
    done.some((one) => one.kind === kind && begun <= forMs(one) && ended >= one.begun);
  const settled = (one: Done): number => one.ended + excusesAfterMs(one.kind);
  if (during('API server restart', settled)) return 'API server';
  if (!byWebhook) return /^no answer|^\d{3} .*\betcdserver: /.test(failure) ? 'API server' : 'Muster';
  const noticed = (one: Done): number => one.begun + NOTICED_MS;
  if (during('SIGKILL', noticed)) return 'SIGKILL';
  if (during('SIGSTOP for 20 s', noticed)) return 'SIGSTOP';
  if (during('balancer restart', settled)) return 'balancer';
  return 'Muster';
}

/** What names and numbers make different is one cause. */
export const causeOf = (failure: string): string =>
  failure
    .replace(/^(\d{3}) .*?failed calling webhook "([^"]+)": failed to call webhook: /, '$1 webhook $2: ')
    .replace(/(Post|Get) "[^"]*": /, '')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'address')
    .replaceAll(/gang-\d+(-\d+)?/g, 'gang')
    .slice(0, 200);

import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

const LOOK_MS = 2000;
/** Of one processor. A machine at rest shows one or two hundredths. */
const AT_REST = 0.1;

/** How many processors compute for somebody else, while nothing of the bench runs yet. */
export async function computingElsewhere(): Promise<number> {
  const [before, since] = [busyMs(), performance.now()];
  await delay(LOOK_MS);
  return (busyMs() - before) / (performance.now() - since);
}

/** Why figures are not for quoting; undefined: they are. */
export const disturbed = (elsewhere: number): string | undefined =>
  elsewhere <= AT_REST
    ? undefined
    : `something else computes on this machine, ${elsewhere.toFixed(2)} of a processor at the start: these figures are not for quoting`;

const busyMs = (): number =>
  cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);

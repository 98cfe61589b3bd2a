import { parentPort } from 'node:worker_threads';
import { MusterError } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import { planVerdict } from '../../preemption/outcome.ts';
import { planOfGang } from '../plan/plan-of-gang.ts';
import { planObject } from '../plan/render-plan.ts';
import { triedWords, withTried } from './gang-change.ts';
import type { PlanAsked, PlanReport } from './gang-plan.ts';

const objects: JsonObject[] = [];

parentPort?.on('message', (message: PlanAsked) => {
  if ('objects' in message) for (const object of message.objects) objects.push(object);
  else parentPort?.postMessage(planned(message));
});

function planned({ gang, tried, ...how }: Exclude<PlanAsked, { objects: unknown }>): PlanReport {
  try {
    const cluster = withTried(objects, gang, tried);
    if (typeof cluster === 'string') return { says: cluster, plan: null };
    const { outcome, warnings } = planOfGang(cluster, gang, how);
    const { key, priority } = outcome.preemptor;
    return {
      says: `gang ${key}${triedWords(tried)} (priority ${priority}) ${planVerdict(outcome)}`,
      plan: planObject(outcome, warnings),
    };
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    // A thread hands an error over without its class.
    const { code, message, fix } = thrown;
    return { fault: { code, message, fix } };
  }
}

import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { snapshotObjects } from '../../controller/preemption/read-cluster.ts';
import type { PlanAnswer } from '../../dashboard/wire.ts';
import { MusterError, type ErrorCode } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Variant } from '../../preemption/variants.ts';
import type { GangStatus } from '../../status/gang-status.ts';
import type { PlanObject } from '../plan/render-plan.ts';
import { printable } from '../../text/printable.ts';
import { snapshotRefused } from '../snapshot/snapshot.ts';
import { triedMinimums, type TriedMinimum } from './gang-change.ts';

/** Objects of a message to the thread: the streams of the page go on between two of them. */
const AT_ONCE = 500;

/** A message to the thread: objects of the cluster, and at the end for which gang. */
export type PlanAsked =
  | { readonly objects: readonly JsonObject[] }
  | {
      readonly gang: Pick<GangStatus, 'namespace' | 'name'>;
      readonly tried: readonly TriedMinimum[];
      readonly variant: Variant;
      readonly exemptNamespaces: readonly string[];
    };

/** The answer of the thread. */
export type PlanReport =
  | { readonly says: string; readonly plan: PlanObject | null }
  | { readonly fault: { readonly code: ErrorCode; readonly message: string; readonly fix: string } };

/**
 * The plan for a gang in the cluster as it is: every kind that a plan depends on is listed, and a thread of its own computes.
 * @throws MusterError CLUSTER_REFUSED with the rights that it takes, CLUSTER_UNREACHABLE, SNAPSHOT_INVALID
 */
export async function gangPlan(
  gang: GangStatus,
  given: {
    readonly client: KubeClient;
    readonly exemptNamespaces: readonly string[];
    readonly variant: Variant;
    readonly minimums: ReadonlyMap<string, number>;
    readonly now: Date;
    readonly signal: AbortSignal;
  },
): Promise<PlanAnswer> {
  const { client, exemptNamespaces, variant, minimums, now, signal } = given;
  const at = now.toISOString();
  const { namespace, name } = gang;
  const nothing = nothingToPlan(gang);
  if (nothing !== undefined) return { at, says: `gang ${namespace}/${name} ${nothing}`, plan: null };
  const tried = triedMinimums(gang, minimums);
  if (typeof tried === 'string')
    return { at, says: `gang ${namespace}/${name} has no group ${printable(tried)}`, plan: null };
  const objects = await snapshotObjects(client, signal).catch((error: unknown) => {
    throw snapshotRefused(error);
  });
  const question = { gang: { namespace, name }, tried, variant, exemptNamespaces };
  const said = await inPlanThread(objects, question, signal);
  if ('fault' in said) throw new MusterError(said.fault.code, said.fault.message, said.fault.fix);
  return { at, ...said };
}

/** Why there is no plan for a gang; undefined where one of its Pods waits for a node. */
function nothingToPlan({ summary, pods }: GangStatus): string | undefined {
  if (summary === undefined) return 'has Pods and no PodGang: nobody knows how many have to start together';
  if (pods.length === 0) return 'has no Pod yet: there is nothing to find a node for';
  if (pods.every(({ node }) => node !== '')) return 'waits for no node: each of its Pods has one';
  return undefined;
}

async function inPlanThread(
  objects: readonly JsonObject[],
  question: PlanAsked,
  signal: AbortSignal,
): Promise<PlanReport> {
  signal.throwIfAborted();
  const file = `./gang-plan-thread.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`;
  const thread = new Worker(new URL(file, import.meta.url));
  const { promise, resolve, reject } = Promise.withResolvers<PlanReport>();
  thread.once('message', resolve);
  thread.once('error', reject);
  thread.once('exit', () => reject(new Error('the plan has ended without an answer')));
  const stop = (): void => void thread.terminate();
  signal.addEventListener('abort', stop, { once: true });
  // It may reject before it is awaited.
  promise.catch(() => undefined);
  try {
    for (let at = 0; at < objects.length && !signal.aborted; at += AT_ONCE) {
      thread.postMessage({ objects: objects.slice(at, at + AT_ONCE) } satisfies PlanAsked);
      await setImmediate();
    }
    thread.postMessage(question);
    return await promise;
  } finally {
    signal.removeEventListener('abort', stop);
    await thread.terminate();
  }
}

import { snapshotObjects } from '../../controller/preemption/read-cluster.ts';
import { isWaiting, waitsForRoom } from '../../controller/preemption/waits-for-room.ts';
import { BY_GANG, type GangView } from '../../controller/watch/gang-view.ts';
import { messageOf } from '../../errors.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isForbidden } from '../../kube/client/errors.ts';
import { SNAPSHOT_RIGHTS } from '../../kube/client/resources.ts';
import { keyOf } from '../../kube/loop/cache.ts';
import { planVerdict, type PlanOutcome } from '../../preemption/outcome.ts';
import { planOfGang } from '../plan/plan-of-gang.ts';

/**
 * The planner's answer in one line, for a gang whose scheduler finds no capacity; undefined for any other gang. Needs lists
 * of the whole cluster; without the right to them the line says so.
 */
export async function roomLine(
  client: KubeClient,
  view: GangView,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  exemptNamespaces: readonly string[],
): Promise<string | undefined> {
  const gang = view.gangs.get(namespace, name);
  const pods = view.pods.byIndex(BY_GANG, keyOf(namespace, name));
  const scheduler = pods.find(isWaiting)?.schedulerName;
  if (gang === undefined || scheduler === undefined || !waitsForRoom(gang, pods, scheduler)) return undefined;
  try {
    const cluster = await snapshotObjects(client, new AbortController().signal);
    return planLine(planOfGang(cluster, { namespace, name }, { variant: 'kep', exemptNamespaces }).outcome);
  } catch (error) {
    const why = isForbidden(error)
      ? `it takes the right to list these in all namespaces: ${SNAPSHOT_RIGHTS.join(', ')}`
      : messageOf(error);
    return `plan: not known: ${why}`;
  }
}

/** A gang that waits although there is capacity waits for another reason. */
export const planLine = (outcome: PlanOutcome): string =>
  outcome.plan.fits
    ? 'plan: there is room for it now: its scheduler has not tried it again yet, or holds it for another reason'
    : `plan: ${planVerdict(outcome)}`;

import { PREEMPTION } from '../api/preemption-terms.ts';
import { ClusterState } from './cluster-state.ts';
import type { InFlight } from './in-flight.ts';
import { judgeFor } from './predicates/predicates.ts';
import { counted, type Preemptor } from './preemptor.ts';
import type { Refusal } from './refusal.ts';
import type { Pod, Snapshot } from './snapshot.ts';
import { costOfPod } from './units.ts';
import type { Variant } from './variants.ts';

/**
 * Why the preemptor's Pods would no longer fit on their nominated nodes once all victims and terminating Pods are gone: the
 * first reason; undefined where they would fit.
 */
export function stillNominated(
  { nominations, victims }: Pick<InFlight, 'nominations' | 'victims'>,
  preemptor: Preemptor,
  snapshot: Snapshot,
): string | undefined {
  const state = new ClusterState(snapshot);
  const uids = new Set(victims.flatMap(({ pods }) => pods.map(({ uid }) => uid)));
  for (const pod of snapshot.pods) if (pod.terminating || uids.has(pod.uid)) state.takeAway(pod);
  const waiting = new Map(preemptor.pods.map((pod) => [pod.uid, pod]));
  const placed: Pod[] = [];
  let clash: string | undefined;
  for (const { uid, node: name } of nominations) {
    const pod = waiting.get(uid);
    // The Pod was bound or deleted since.
    if (pod === undefined) continue;
    const node = state.byName.get(name);
    const rejection = node && judgeFor(pod, state)(node);
    if (node === undefined) clash ??= `node ${name} is gone`;
    else if (rejection !== undefined)
      clash ??= `${pod.key} does not fit on ${name} any more: ${rejection.messages.join(', ')}`;
    else {
      state.put(pod, node);
      placed.push(pod);
    }
  }
  if (preemptor.minimums.every((one) => counted(one, placed) >= one.count)) return undefined;
  return clash ?? 'fewer of its Pods are there than the plan was made for';
}

/**
 * Returns a refusal where a Pod with a lower cost is being preempted on a node that a Pod of the preemptor is nominated for:
 * then no further Pod has to be evicted. Pods that terminate for another reason do not count.
 */
export function preemptionUnderWay(
  preemptor: Preemptor,
  snapshot: Snapshot,
  variant: Variant,
): Refusal | undefined {
  const nodes = new Map(
    preemptor.pods.flatMap((pod) => (pod.nominatedNode === '' ? [] : [[pod.nominatedNode, pod] as const])),
  );
  if (nodes.size === 0) return undefined;
  for (const other of snapshot.pods) {
    const pod = nodes.get(other.nodeName);
    if (pod === undefined || !other.terminating || other.disruption !== PREEMPTION) continue;
    const cost = costOfPod(other, preemptor, snapshot, variant);
    if (cost >= preemptor.priority || preemptor.owns(other)) continue;
    const { namespace, name } = pod;
    return { why: 'RoomBeingMade', pod: { namespace, name }, node: other.nodeName };
  }
  return undefined;
}

import { own, ownString, type JsonObject } from '../../json/json.ts';
import { LABEL_POD_GANG } from '../../api/names.ts';
import type { Preemptor } from '../../preemption/preemptor.ts';
import type { Snapshot } from '../../preemption/snapshot.ts';

interface Nominated {
  /** The objects, with these Pods on their nodes. */
  readonly placed: readonly JsonObject[];
  /** The snapshot of those, without the ones that are of lower priority. */
  readonly without: (snapshot: Snapshot, preemptor: Preemptor) => Snapshot;
}

/** The node that is being cleared for a Pod of another gang, by the Pod's uid. */
function nominationOf(object: JsonObject, gangs: { namespace: string; name: string }): string | undefined {
  if (own(object, 'kind') !== 'Pod' || ownString(own(object, 'spec'), 'nodeName')) return undefined;
  const metadata = own(object, 'metadata');
  const ours =
    ownString(metadata, 'namespace') === gangs.namespace &&
    ownString(own(metadata, 'labels'), LABEL_POD_GANG) === gangs.name;
  return ours ? undefined : ownString(own(object, 'status'), 'nominatedNodeName') || undefined;
}

/** Pods that a node is being cleared for count as if they were there already; those of lower priority do not. */
export function withNominated(
  objects: readonly JsonObject[],
  gang: { namespace: string; name: string },
): Nominated {
  const uids = new Set<string>();
  const placed = objects.map((object) => {
    const node = nominationOf(object, gang);
    if (node === undefined) return object;
    uids.add(ownString(own(object, 'metadata'), 'uid') ?? '');
    return { ...object, spec: { ...(own(object, 'spec') as JsonObject), nodeName: node } };
  });
  const without = (snapshot: Snapshot, { priority }: Preemptor): Snapshot =>
    uids.size === 0
      ? snapshot
      : { ...snapshot, pods: snapshot.pods.filter((pod) => !uids.has(pod.uid) || pod.priority >= priority) };
  return { placed, without };
}

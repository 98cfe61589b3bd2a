import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { printable, quoted } from '../../text/printable.ts';

/**
 * What Volcano says of a gang that it does not place. Its conditions stay for ever: after a success `Unschedulable` is
 * still True beside `Scheduled`, so the phase decides and then the condition that changed last.
 */
export function explainPodGroups(objects: readonly JsonObject[]): string | undefined {
  for (const object of objects) {
    const said = explain(object);
    if (said !== undefined) return printable(said.replaceAll(/\s+/g, ' '), 512);
  }
  return undefined;
}

function explain(podGroup: JsonObject): string | undefined {
  const status = ownObject(podGroup, 'status');
  const phase = ownString(status, 'phase') ?? '';
  // Running is: the minimum is bound. Completed is: all have ended.
  if (phase === 'Running' || phase === 'Completed') return undefined;
  const queue = quoted(ownString(ownObject(podGroup, 'spec'), 'queue') ?? 'default');
  if (phase === '') {
    return `Volcano has not taken up the PodGroup: its queue ${queue} may be missing, or its scheduler is not running`;
  }
  const condition = newest(ownList(status, 'conditions') ?? []);
  const words =
    ownString(condition, 'type') === 'Unschedulable' ? ownString(condition, 'message') : undefined;
  if (phase === 'Pending') {
    // Without minResources Volcano lets every PodGroup in, after a moment, unless its queue is closed.
    const waits =
      ownObject(ownObject(podGroup, 'spec'), 'minResources') === undefined
        ? `the PodGroup waits to be let into queue ${queue}, which may be closed`
        : `the PodGroup waits in queue ${queue}: the queue or the cluster has no room for its minResources, or the queue is closed`;
    return words === undefined ? waits : `${waits}; ${words}`;
  }
  // A closed queue gives the ordinary words and is never named, so it is named here.
  return words === undefined ? undefined : `${words} (queue ${queue})`;
}

/** The condition that is True since last; of two that turned at once the bad news. */
function newest(conditions: readonly Json[]): Json | undefined {
  const changed = (condition: Json): string => ownString(condition, 'lastTransitionTime') ?? '';
  const rank = (condition: Json): string =>
    `${changed(condition)} ${ownString(condition, 'type') === 'Unschedulable' ? 1 : 0}`;
  return conditions
    .filter((condition) => own(condition, 'status') === 'True')
    .reduce<Json | undefined>(
      (best, one) => (best === undefined || rank(one) > rank(best) ? one : best),
      undefined,
    );
}

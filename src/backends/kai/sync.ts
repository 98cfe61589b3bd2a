import { own, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import type { SyncContext } from '../cluster.ts';
import { refuseFaults } from '../sync-guards.ts';
import { NAME, POD_GROUP, podGroupNameOf } from './names.ts';
import { podGroupOf } from './objects.ts';
import { queueOf } from './queue.ts';
import { topologyNameOf } from './topology.ts';
import { faultsForKai, type KaiDefaults } from './validate.ts';

/**
 * Makes the PodGroup of a gang what the gang says.
 * @throws Error where the gang cannot be a PodGroup: it came past admission (Grove's gangs do), or the configuration
 *   has changed since
 */
export async function syncPodGroup(
  context: SyncContext,
  gang: PodGang,
  defaults: KaiDefaults,
  rootMinimum: number,
): Promise<void> {
  const name = podGroupNameOf(gang);
  const live = context
    .owned(POD_GROUP)
    .find((object) => ownString(ownObject(object, 'metadata'), 'name') === name);
  // A gang that has its queue keeps it where the configuration no longer names one.
  const was = queueIn(live);
  const queue = queueOf(gang, defaults.queue ?? was);
  refuseFaults(faultsForKai(gang, { ...defaults, queue }));
  const bound = context.pods.filter((pod) => pod.nodeName !== '').length;
  await context.apply(
    podGroupOf(gang, {
      // None is a fault, which was refused.
      queue: queue ?? '',
      topology: topologyNameOf(gang, defaults.topologyName),
      rootMinimum,
      live,
      bound: bound > 0,
    }),
  );
  if (bound > 0 && was !== undefined && was !== queue) {
    context.warn(
      `${NAME}: the gang stays in queue ${was}, ${bound} of its Pods are bound; to move it to ${queue ?? ''} delete the gang and create it again`,
    );
  }
}

const queueIn = (live: JsonObject | undefined): string | undefined =>
  ownString(own(live, 'spec'), 'queue') || undefined;

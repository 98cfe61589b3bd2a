import { own, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { printable } from '../../text/printable.ts';

/** Phases in which the PodGroup says more than its Pods do. */
const TELLING = ['Failed', 'Unknown'];

/**
 * The phase, where it tells something. Why a gang is not placed stands on its Pods: the PodGroup has no conditions, and
 * its counts take in Pods of other namespaces.
 */
export function explainPodGroups(objects: readonly JsonObject[]): string | undefined {
  for (const object of objects) {
    const status = ownObject(object, 'status');
    const phase = ownString(status, 'phase') ?? '';
    if (!TELLING.includes(phase)) continue;
    const failed = own(status, 'failed');
    const detail = typeof failed === 'number' && failed > 0 ? `, ${failed} of its Pods failed` : '';
    return printable(`the PodGroup is in phase ${phase}${detail}`, 512);
  }
  return undefined;
}

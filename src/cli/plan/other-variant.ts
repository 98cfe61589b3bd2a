import { ownString, type JsonObject } from '../../json/json.ts';
import { variantOfGroups, type Variant } from '../../preemption/variants.ts';

/** That the cluster's scheduler preempts for gangs in a way of its own, which is not the one that is asked for. */
export function otherVariant(cluster: readonly JsonObject[], variant: Variant): string[] {
  for (const object of cluster) {
    if (ownString(object, 'kind') !== 'PodGroup') continue;
    const apiVersion = ownString(object, 'apiVersion') ?? '';
    const own = variantOfGroups(apiVersion);
    if (own === undefined || own === variant) continue;
    return [
      `there are PodGroups of ${apiVersion}, for which kube-scheduler preempts by itself: --variant ${own} tells what it does`,
    ];
  }
  return [];
}

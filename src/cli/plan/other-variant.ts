import { ownString, type JsonObject } from '../../api/json.ts';
import { groupVersionOf } from '../../api/resource.ts';
import type { Variant } from '../../preemption/variants.ts';

/** By the version of PodGroups that a release serves: what its kube-scheduler does. */
const OF_VERSION: Readonly<Record<string, Variant>> = {
  v1alpha2: 'kube-1.36',
  v1alpha3: 'kube-1.37',
  v1beta1: 'kube-1.37',
};

/** That the cluster's scheduler preempts for gangs in a way of its own, which is not the one that is asked for. */
export function otherVariant(cluster: readonly JsonObject[], variant: Variant): string[] {
  for (const object of cluster) {
    if (ownString(object, 'kind') !== 'PodGroup') continue;
    const apiVersion = ownString(object, 'apiVersion') ?? '';
    const { group, version } = groupVersionOf(apiVersion);
    const own = group === 'scheduling.k8s.io' ? OF_VERSION[version] : undefined;
    if (own === undefined || own === variant) continue;
    return [
      `there are PodGroups of ${apiVersion}, for which kube-scheduler preempts by itself: --variant ${own} tells what it does`,
    ];
  }
  return [];
}

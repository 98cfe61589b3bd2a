import type { GangRecord, NamespaceRecord, PodRecord } from '../../gang/records.ts';
import { keyOf, type Indexer, type Store } from '../../kube/loop/cache.ts';

/** Pods by the gang that they claim. */
export const BY_GANG = 'gang';
/** Pods by the gang that has to be scheduled before theirs. */
export const BY_BASE_GANG = 'base-gang';

export const POD_INDEXERS: Readonly<Record<string, Indexer<PodRecord>>> = {
  [BY_GANG]: (pod) => (pod.gang === '' ? undefined : keyOf(pod.namespace, pod.gang)),
  [BY_BASE_GANG]: (pod) => (pod.baseGang === undefined ? undefined : keyOf(pod.namespace, pod.baseGang)),
};

/** Everything that is known of gangs; Pods are indexed by {@link POD_INDEXERS}. */
export interface GangView {
  readonly pods: Store<PodRecord>;
  readonly gangs: Store<GangRecord>;
  readonly namespaces: Store<NamespaceRecord>;
  /** Why nothing may be done in a namespace, since not all of it is known. Absent: all of every one is. */
  readonly standstill?: (namespace: string) => string | undefined;
}

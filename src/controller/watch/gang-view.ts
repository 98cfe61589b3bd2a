import type { GangRecord, NamespaceRecord, PodRecord } from '../../gang/records.ts';
import { keyOf, splitKey, type Indexer, type Store } from '../../kube/loop/cache.ts';
import { ANNOTATION_SCHEDULER_NAME, LABEL_SCHEDULER_NAME } from '../../api/names.ts';
import type { Backend } from '../../backends/backend.ts';
import type { BackendRegistry } from '../../backends/registry.ts';
import { selectForPodGang } from '../../backends/select.ts';
import { isGroveManaged, notSelected, type GangSelectors } from '../../gang/gang-selection.ts';
import type { JsonObject } from '../../json/json.ts';
import { readPodRecord } from '../../gang/read-records.ts';
import type { GangKind } from '../../workloads/kind.ts';
import { storedOriginOf } from '../../workloads/pod-origin.ts';

/** Index of Pods by their gang. */
export const BY_GANG = 'gang';
/** Index of Pods by their base gang, which has to be scheduled first. */
export const BY_BASE_GANG = 'base-gang';

export const POD_INDEXERS: Readonly<Record<string, Indexer<PodRecord>>> = {
  [BY_GANG]: (pod) => (pod.gang === '' ? undefined : keyOf(pod.namespace, pod.gang)),
  [BY_BASE_GANG]: (pod) => (pod.baseGang === undefined ? undefined : keyOf(pod.namespace, pod.baseGang)),
};

/** The caches of gangs and their Pods; Pods are indexed by {@link POD_INDEXERS}. */
export interface GangView {
  readonly pods: Store<PodRecord>;
  readonly gangs: Store<GangRecord>;
  readonly namespaces: Store<NamespaceRecord>;
  /**
   * Returns why work in a namespace is suspended because its cache is incomplete; undefined when it is complete.
   * Absent: all are.
   */
  readonly standstill?: (namespace: string) => string | undefined;
}

/** What selects the backend of a gang. */
export interface BackendContext {
  readonly view: Pick<GangView, 'namespaces'>;
  readonly registry: BackendRegistry;
  readonly selectors: GangSelectors;
}

export const annotationOf = (view: BackendContext['view'], namespace: string): string | undefined =>
  view.namespaces.get('', namespace)?.annotations.get(ANNOTATION_SCHEDULER_NAME);

/** Whether the selectors take the gang; they are not asked about one of Grove's. */
export function isTaken(
  gang: GangRecord,
  { view, selectors }: Pick<BackendContext, 'view' | 'selectors'>,
): boolean {
  const { namespace, labels } = gang;
  const place = view.namespaces.get('', namespace)?.labels;
  return isGroveManaged(gang) || notSelected(selectors, namespace, place, labels) === undefined;
}

/** Returns the gang's backend; undefined when no backend serves it, or when the selectors exclude a gang not of Grove's. */
export function backendOf(gang: GangRecord, context: BackendContext): Backend | undefined {
  if (!isTaken(gang, context)) return undefined;
  const { view, registry } = context;
  const { namespace, labels } = gang;
  const selection = selectForPodGang(
    registry,
    labels.get(LABEL_SCHEDULER_NAME),
    annotationOf(view, namespace),
  );
  return selection.fault === undefined ? selection.resolved.backend : undefined;
}

/** A Pod from the API server as a record, with the workload that makes it a member of its gang. */
export const readMemberPod = (pod: JsonObject, kinds?: readonly GangKind[]): PodRecord => ({
  ...readPodRecord(pod),
  origin: storedOriginOf(pod, kinds),
});

/**
 * This many groups count as one gang in the work queue. Few gangs are larger. Judging a gang takes time in proportion
 * to its groups, and five gangs of 1,500 groups in one namespace would occupy the thread.
 */
const GROUPS = 250;

/** Returns how many keys a gang counts as against its namespace's share of the work queue. */
export const weightIn =
  ({ gangs }: { readonly gangs: Pick<GangView['gangs'], 'get'> }) =>
  (key: string): number => {
    const { namespace, name } = splitKey(key);
    return Math.max(1, Math.ceil((gangs.get(namespace, name)?.spec.groups.length ?? 0) / GROUPS));
  };

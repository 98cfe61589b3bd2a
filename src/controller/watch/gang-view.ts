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

/** What decides which backend a gang is of. */
export interface BackendContext {
  readonly view: Pick<GangView, 'namespaces'>;
  readonly registry: BackendRegistry;
  readonly selectors: GangSelectors;
}

export const annotationOf = (view: BackendContext['view'], namespace: string): string | undefined =>
  view.namespaces.get('', namespace)?.annotations.get(ANNOTATION_SCHEDULER_NAME);

/** The backend of a gang that is Muster's or Grove's; undefined where none serves it, or it was not selected. */
export function backendOf(
  gang: GangRecord,
  { view, registry, selectors }: BackendContext,
): Backend | undefined {
  const { namespace, labels } = gang;
  const inNamespace = view.namespaces.get('', namespace);
  if (!isGroveManaged(gang) && notSelected(selectors, namespace, inNamespace?.labels, labels) !== undefined) {
    return undefined;
  }
  const selection = selectForPodGang(
    registry,
    labels.get(LABEL_SCHEDULER_NAME),
    annotationOf(view, namespace),
  );
  return selection.fault === undefined ? selection.resolved.backend : undefined;
}

/** A Pod as it came from the API server, with the workload by which it is of its gang. */
export const readMemberPod = (pod: JsonObject, kinds?: readonly GangKind[]): PodRecord => ({
  ...readPodRecord(pod),
  origin: storedOriginOf(pod, kinds),
});

/**
 * So many groups count as one gang: a choice, of the size that hardly any gang has. The time of a judgement grows with the
 * groups, and five gangs of 1,500 at work in one namespace would have the thread to themselves.
 */
const GROUPS = 250;

/** As how many gangs one counts among those of its namespace that are worked on. */
export const weightIn =
  ({ gangs }: { readonly gangs: Pick<GangView['gangs'], 'get'> }) =>
  (key: string): number => {
    const { namespace, name } = splitKey(key);
    return Math.max(1, Math.ceil((gangs.get(namespace, name)?.spec.groups.length ?? 0) / GROUPS));
  };

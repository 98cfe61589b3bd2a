import { selectForPodGang } from '../backends/select.ts';
import type { BackendRegistry } from '../backends/registry.ts';
import { isGroveManaged } from '../admission/mutate-pod-gang.ts';
import { LABEL_SCHEDULER_NAME } from '../api/names.ts';
import { notSelected, type GangSelectors } from '../gang/gang-selection.ts';
import type {
  BackendState,
  BaseGang,
  GangRecord,
  GangState,
  NamespaceRecord,
  PodRecord,
} from '../gang/gang-state.ts';
import { keyOf, type Indexer, type Store } from './cache.ts';

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
}

export interface StateContext {
  readonly view: GangView;
  readonly registry: BackendRegistry;
  readonly selectors: GangSelectors;
  readonly synced: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly lastStatusWrite?: number | undefined;
}

/** What is to be judged for one gang, put together from what is known. `muster status` and the loop share it. */
export function stateOf(namespace: string, name: string, context: StateContext): GangState {
  const { view, registry, synced, now, lastStatusWrite } = context;
  const gang = view.gangs.get(namespace, name);
  const pods = view.pods.byIndex(BY_GANG, keyOf(namespace, name));
  const baseGangs = new Map<string, BaseGang | 'missing'>();
  for (const { baseGang } of pods) {
    if (baseGang === undefined || baseGangs.has(baseGang)) continue;
    const base = view.gangs.get(namespace, baseGang);
    baseGangs.set(
      baseGang,
      base === undefined || base.deletionTimestamp !== undefined
        ? 'missing'
        : { gang: base, pods: view.pods.byIndex(BY_GANG, keyOf(namespace, baseGang)) },
    );
  }
  return {
    synced,
    now,
    namespace,
    name,
    gang: gang ?? 'missing',
    pods,
    baseGangs,
    backend: backendState(registry, gang?.labels.get(LABEL_SCHEDULER_NAME)),
    notOurs: notOurs(namespace, gang, context),
    lastStatusWrite,
  };
}

function notOurs(
  namespace: string,
  gang: GangRecord | undefined,
  { view, selectors }: StateContext,
): string | undefined {
  if (gang !== undefined && isGroveManaged(gang))
    return 'the Grove operator writes the references, Initialized and the gates of this gang';
  return notSelected(selectors, namespace, view.namespaces.get('', namespace)?.labels, gang?.labels);
}

/**
 * The gang's backend as the judgement sees it. No backend of today makes objects of its own (their `syncPodGang` does
 * nothing), so there is none to wait for; and none puts one flat count over several groups: kai counts each group by
 * itself, and kube-scheduler without a PodGroup counts nothing, so that holding Pods back would only make a gang
 * slower. `minimum-first` is for the day on which a backend writes such a count.
 */
function backendState(registry: BackendRegistry, label: string | undefined): BackendState {
  const selection = selectForPodGang(registry, label);
  const common = { objectsExist: true, releaseOrder: 'all-at-once' } as const;
  if (selection.fault === undefined) {
    return { name: selection.resolved.backend.name, ready: true, ...common };
  }
  const reason = `it is not enabled (enabled: ${registry.enabled.join(', ')})`;
  return { name: label ?? '', ready: false, reason, ...common };
}

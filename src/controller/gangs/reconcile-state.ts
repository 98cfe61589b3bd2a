import { selectForPodGang } from '../../backends/select.ts';
import type { BackendRegistry } from '../../backends/registry.ts';
import { LABEL_SCHEDULER_NAME } from '../../api/names.ts';
import { isGroveManaged, notSelected, type GangSelectors } from '../../gang/gang-selection.ts';
import type { BackendState, BaseGang, GangRecord, GangState, NotOurs } from '../../gang/records.ts';
import { workloadOf } from '../../gang/gang-workload.ts';
import { publishedBackend } from '../../gang/plan/holds.ts';
import { keyOf } from '../../kube/loop/cache.ts';
import { annotationOf, backendOf, BY_GANG, type GangView } from '../watch/gang-view.ts';
import type { BackendsView } from '../watch/shared.ts';
import { countsWhatIsLeft } from '../../workloads/kinds.ts';

export interface StateContext {
  readonly view: GangView;
  readonly registry: BackendRegistry;
  readonly selectors: GangSelectors;
  readonly synced: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly lastStatusWrite?: number | undefined;
  /** The state of the gangs' scheduler objects; absent: taken from the conditions that the loop wrote into the gang. */
  readonly backends?: BackendsView | undefined;
}

/** Assembles the input of a gang's judgement from the caches. Used by `muster status` and the loop. */
export function stateOf(namespace: string, name: string, context: StateContext): GangState {
  const { view, synced, now, lastStatusWrite } = context;
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
        : {
            gang: base,
            pods: view.pods.byIndex(BY_GANG, keyOf(namespace, baseGang)),
            schedulerName: backendOf(base, context)?.schedulerName || undefined,
          },
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
    backend: backendState(namespace, gang, context),
    notOurs: notOurs(namespace, gang, context),
    memoryExceeded: view.standstill?.(namespace),
    countsWhatIsLeft: leavesOut(gang),
    lastStatusWrite,
  };
}

/** The same state with a newer version of the gang than the view has. */
export const withGang = (state: GangState, gang: GangState['gang'], context: StateContext): GangState => {
  const record = gang === 'missing' ? undefined : gang;
  const { namespace } = state;
  return {
    ...state,
    gang,
    backend: backendState(namespace, record, context),
    notOurs: notOurs(namespace, record, context),
    countsWhatIsLeft: leavesOut(record),
  };
};

const leavesOut = (gang: GangRecord | undefined): boolean =>
  gang !== undefined && countsWhatIsLeft(workloadOf(gang));

function notOurs(
  namespace: string,
  gang: GangRecord | undefined,
  { view, selectors }: StateContext,
): NotOurs | undefined {
  if (gang !== undefined && isGroveManaged(gang))
    return {
      movedBy: 'another operator',
      message: 'the Grove operator writes the references, Initialized and the gates of this gang',
    };
  const message = notSelected(selectors, namespace, view.namespaces.get('', namespace)?.labels, gang?.labels);
  return message === undefined ? undefined : { movedBy: 'nobody', message };
}

/** The state of the gang's backend, as input of the judgement. */
function backendState(
  namespace: string,
  gang: GangRecord | undefined,
  { view, registry, backends }: StateContext,
): BackendState {
  const label = gang?.labels.get(LABEL_SCHEDULER_NAME);
  const selection = selectForPodGang(registry, label, annotationOf(view, namespace));
  if (selection.fault === undefined) {
    const { backend } = selection.resolved;
    if (gang !== undefined && backends !== undefined) return backends.stateOf(gang, backend);
    const releaseOrder = (gang && backend.releaseOrder?.(gang)) ?? 'all-at-once';
    const countsEnding = (gang && backend.countsEnding?.(gang)) ?? false;
    const base = {
      name: backend.name,
      schedulerName: backend.schedulerName || undefined,
      ready: true,
      objectsExist: true,
      releaseOrder,
      countsEnding,
    };
    return gang === undefined ? base : publishedBackend(gang, base);
  }
  const reason = `it is not enabled (enabled: ${registry.enabled.join(', ')})`;
  const name = label ?? annotationOf(view, namespace) ?? '';
  return { name, ready: false, reason, objectsExist: false, releaseOrder: 'all-at-once' };
}

import { ANNOTATION_SCHEDULER_NAME, LABEL_SCHEDULER_NAME } from '../../api/names.ts';
import type { Backend } from '../../backends/backend.ts';
import type { BackendRegistry } from '../../backends/registry.ts';
import { selectForPodGang } from '../../backends/select.ts';
import { isGroveManaged, notSelected, type GangSelectors } from '../../gang/gang-selection.ts';
import type { GangRecord } from '../../gang/records.ts';
import type { GangView } from './gang-view.ts';

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

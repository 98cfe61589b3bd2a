import { LABEL_MANAGED_BY, MANAGED_BY_GROVE } from '../api/names.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { EVERYTHING, takesEverything, unmetRequirement, type LabelSelector } from '../k8s/label-selector.ts';

/** Selects the gangs that are Muster's, as `controllers.podGang` of the configuration says. */
export interface GangSelectors {
  /** Matches the labels of the gang's Namespace. */
  readonly namespaceSelector: LabelSelector;
  /** Matches the labels of the PodGang. */
  readonly objectSelector: LabelSelector;
}

export const EVERY_GANG: GangSelectors = { namespaceSelector: EVERYTHING, objectSelector: EVERYTHING };

type Labels = ReadonlyMap<string, string>;

/**
 * Why a gang is not selected; undefined where it is.
 * @param namespaceLabels undefined where the Namespace is not known (yet): then only an empty selector matches
 * @param gangLabels undefined where there is no PodGang: then the Namespace alone decides
 */
export function notSelected(
  { namespaceSelector, objectSelector }: GangSelectors,
  namespace: string,
  namespaceLabels: Labels | undefined,
  gangLabels: Labels | undefined,
): string | undefined {
  if (!takesEverything(namespaceSelector)) {
    const unmet =
      namespaceLabels === undefined ? 'is not known' : unmetRequirement(namespaceSelector, namespaceLabels);
    if (unmet !== undefined)
      return `not selected by controllers.podGang.namespaceSelector: Namespace ${namespace} ${unmet}`;
  }
  const unmet = gangLabels === undefined ? undefined : unmetRequirement(objectSelector, gangLabels);
  return unmet === undefined
    ? undefined
    : `not selected by controllers.podGang.objectSelector: the PodGang ${unmet}`;
}

/** A PodGang whose references, Initialized and gates are the Grove operator's, not Muster's. */
export const isGroveManaged = (gang: Pick<PodGang, 'labels'>): boolean =>
  gang.labels.get(LABEL_MANAGED_BY) === MANAGED_BY_GROVE;

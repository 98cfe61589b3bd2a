import { MUSTER_PREFIX } from '../api/names.ts';
import { fault, keyed, type Fault } from '../api/fault.ts';
import { isLabelKey } from '../k8s/name-syntax.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { printable, quoted } from '../text/printable.ts';
import { parseQuantity } from '../k8s/quantity.ts';
import { NO_FINDINGS } from '../preparers/preparer.ts';
import type { PodGangVerdict } from './backend.ts';

/**
 * Annotation on a PodGang: the resources of all its minimums together, `cpu=3,memory=12Gi`. A PodGang has no containers, and
 * its Pods appear after the objects that carry the sum, so the author of the Pods has to state it.
 */
const ANNOTATION_MIN_RESOURCES = `${MUSTER_PREFIX}min-resources`;

/** Above the number of resource kinds of any node. */
const MAX_ENTRIES = 64;

/** Rejects signs: an amount cannot be negative. */
const isAmount = (quantity: string): boolean =>
  !/^[+-]/.test(quantity) && parseQuantity(quantity) !== undefined;

export interface MinResources {
  /** `minResources` of a PodGroup; undefined when nothing is requested. */
  readonly resources: Readonly<Record<string, string>> | undefined;
  readonly faults: readonly Fault[];
}

/** Reads {@link ANNOTATION_MIN_RESOURCES}. Wrong entries become faults, and `resources` is undefined then. */
export function minResourcesOf(gang: Pick<PodGang, 'annotations'>): MinResources {
  const text = gang.annotations.get(ANNOTATION_MIN_RESOURCES)?.trim() ?? '';
  if (text === '') return { resources: undefined, faults: [] };
  const resources = new Map<string, string>();
  const wrong: string[] = [];
  const entries = text.split(',', MAX_ENTRIES + 1);
  if (entries.length > MAX_ENTRIES) wrong.push(`more than ${MAX_ENTRIES} resources`);
  for (const entry of entries.slice(0, MAX_ENTRIES)) {
    const [name = '', quantity = '', ...rest] = entry.split('=').map((part) => part.trim());
    if (rest.length > 0 || !isLabelKey(name) || quantity.length > 32 || !isAmount(quantity)) {
      wrong.push(`${quoted(entry.trim())} is not resource=quantity`);
    } else if (resources.has(name)) wrong.push(`${printable(name, 63)} is given twice`);
    else resources.set(name, quantity);
  }
  if (wrong.length === 0) return { resources: Object.fromEntries(resources), faults: [] };
  const field = keyed('metadata.annotations', ANNOTATION_MIN_RESOURCES);
  const faults = wrong.slice(0, 8).map((detail) => fault('BackendCannotExpress', field, { detail }));
  return { resources: undefined, faults };
}

/** Checks the annotation, also under a profile that does not read it (`config.minResources`). */
export function checkMinResources(
  gang: Pick<PodGang, 'annotations'>,
  profile: { readonly name: string; readonly reads: boolean },
): PodGangVerdict {
  if (profile.reads) return { faults: minResourcesOf(gang).faults, warnings: [] };
  if (!gang.annotations.has(ANNOTATION_MIN_RESOURCES)) return NO_FINDINGS;
  const off = `minResources of the profile ${profile.name} is off`;
  return { faults: [], warnings: [`the annotation ${ANNOTATION_MIN_RESOURCES} is ignored: ${off}`] };
}

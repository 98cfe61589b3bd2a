import { MUSTER_PREFIX } from '../api/names.ts';
import { fault, keyed, type Fault } from '../api/fault.ts';
import { isLabelKey } from '../k8s/name-syntax.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { printable, quoted } from '../text/printable.ts';
import { parseQuantity } from '../k8s/quantity.ts';
import { NO_FINDINGS } from '../preparers/preparer.ts';
import type { PodGangVerdict } from './backend.ts';

/**
 * Annotation on a PodGang: what all its minimums need together, `cpu=3,memory=12Gi`. A PodGang says nothing of
 * containers, and its Pods come after the objects that would name the sum, so whoever wrote the Pods has to tell.
 */
const ANNOTATION_MIN_RESOURCES = `${MUSTER_PREFIX}min-resources`;

/** More than any node has kinds of resources. */
const MAX_ENTRIES = 64;

/** Without a sign: nobody needs less than nothing. */
const isAmount = (quantity: string): boolean =>
  !/^[+-]/.test(quantity) && parseQuantity(quantity) !== undefined;

export interface MinResources {
  /** As `minResources` of a PodGroup; undefined where nothing is asked for. */
  readonly resources: Readonly<Record<string, string>> | undefined;
  readonly faults: readonly Fault[];
}

/** Reads {@link ANNOTATION_MIN_RESOURCES}; wrong entries are faults, and then there are no resources. */
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

/** The annotation under a profile that reads it, or does not (`config.minResources`). */
export function checkMinResources(
  gang: Pick<PodGang, 'annotations'>,
  profile: { readonly name: string; readonly reads: boolean },
): PodGangVerdict {
  if (profile.reads) return { faults: minResourcesOf(gang).faults, warnings: [] };
  if (!gang.annotations.has(ANNOTATION_MIN_RESOURCES)) return NO_FINDINGS;
  const off = `minResources of the profile ${profile.name} is off`;
  return { faults: [], warnings: [`the annotation ${ANNOTATION_MIN_RESOURCES} is ignored: ${off}`] };
}

import { ANNOTATION_EXPECTED_PODS } from '../api/names.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { printable, quoted } from '../text/printable.ts';

/** The most entries that are read. No API server stores a PodGang with more groups than this. */
const MAX_ENTRIES = 4096;
const MAX_COUNT = 2_147_483_647;

export interface ExpectedPods {
  /** One count per group, in the order of `spec.podgroups`; never below `minReplicas`. */
  readonly counts: readonly number[];
  /** Faults of the annotation. An entry with a fault is ignored, and the minimum holds. */
  readonly faults: readonly string[];
}

/** How many Pods each group waits for. */
export function expectedPods(gang: Pick<PodGang, 'spec' | 'annotations'>): ExpectedPods {
  const text = gang.annotations.get(ANNOTATION_EXPECTED_PODS);
  const minimums = gang.spec.groups.map((group) => Math.max(0, group.minReplicas));
  if (text === undefined || text.trim() === '') return { counts: minimums, faults: [] };

  const faults: string[] = [];
  const asked = new Map<string, number>();
  const known = new Map(gang.spec.groups.map((group) => [group.name, Math.max(0, group.minReplicas)]));
  for (const entry of text.split(',', MAX_ENTRIES)) {
    const [name = '', count = '', ...rest] = entry.split('=').map((part) => part.trim());
    const minimum = known.get(name);
    if (rest.length > 0 || !/^\d{1,10}$/.test(count) || Number(count) > MAX_COUNT) {
      faults.push(`${quoted(entry.trim())} is not group=count`);
    } else if (minimum === undefined) {
      faults.push(`${quoted(name)} is no group of this gang`);
    } else if (asked.has(name)) {
      faults.push(`group ${printable(name)} is given twice`);
    } else if (Number(count) < minimum) {
      faults.push(`${Number(count)} is less than minReplicas ${minimum} of group ${printable(name)}`);
    } else {
      asked.set(name, Number(count));
    }
  }
  return {
    counts: gang.spec.groups.map((group, index) => asked.get(group.name) ?? minimums[index] ?? 0),
    faults,
  };
}

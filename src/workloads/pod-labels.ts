import type { GangTerms, PodMarks, PodReading } from './kind.ts';

/** Of a kind that controls its Pods itself, and writes its name into the label `key` of theirs. */
export const namedBy =
  (key: string, groupOf: (pod: PodMarks) => string | undefined): GangTerms['read'] =>
  (pod, { name, uid }): PodReading => {
    if (pod.label(key) !== name) return { differs: key };
    const group = groupOf(pod);
    return group === undefined ? { differs: key } : { name, uid, group };
  };

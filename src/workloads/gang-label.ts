import { own, ownString, type Json } from '../json/json.ts';
import { LABEL_GANG, MARK_GANG_PER } from '../api/names.ts';
import type { GangTerms, PodMarks, PodReading } from './kind.ts';

const labelsOf = (template: Json | undefined): Json | undefined => own(own(template, 'metadata'), 'labels');

/** Whether a template's Pods request a gang. The API server rejects a label that is no string. */
export const hasLabel = (template: Json | undefined): boolean =>
  ownString(labelsOf(template), LABEL_GANG) !== undefined;

/** Whether the Pods of a JobSet's template form a gang of their own. */
export function isPart(template: Json | undefined): boolean {
  const annotations = own(own(template, 'metadata'), 'annotations');
  const per = ownString(labelsOf(template), MARK_GANG_PER) ?? ownString(annotations, MARK_GANG_PER);
  return per === 'replicatedjob';
}

/** Reads the Pods of a kind that controls them itself and writes its name into their label `key`. */
export const namedBy =
  (key: string, groupOf: (pod: PodMarks) => string | undefined): GangTerms['read'] =>
  (pod, { name, uid }): PodReading => {
    if (pod.label(key) !== name) return { differs: key };
    const group = groupOf(pod);
    return group === undefined ? { differs: key } : { name, uid, group };
  };

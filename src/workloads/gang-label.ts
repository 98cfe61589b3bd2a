import { own, ownString, type Json } from '../json/json.ts';
import { LABEL_GANG, MARK_GANG_PER } from '../api/names.ts';
import type { GangTerms, PodMarks, PodReading } from './kind.ts';

const labelsOf = (template: Json | undefined): Json | undefined => own(own(template, 'metadata'), 'labels');

/** Whether the Pods of a template ask for a gang. A label that is no text the API server refuses by itself. */
export const hasLabel = (template: Json | undefined): boolean =>
  ownString(labelsOf(template), LABEL_GANG) !== undefined;

/** Whether the Pods of a JobSet's template are a gang without those of the others. */
export function isPart(template: Json | undefined): boolean {
  const annotations = own(own(template, 'metadata'), 'annotations');
  const per = ownString(labelsOf(template), MARK_GANG_PER) ?? ownString(annotations, MARK_GANG_PER);
  return per === 'replicatedjob';
}

/** Of a kind that controls its Pods itself, and writes its name into the label `key` of theirs. */
export const namedBy =
  (key: string, groupOf: (pod: PodMarks) => string | undefined): GangTerms['read'] =>
  (pod, { name, uid }): PodReading => {
    if (pod.label(key) !== name) return { differs: key };
    const group = groupOf(pod);
    return group === undefined ? { differs: key } : { name, uid, group };
  };

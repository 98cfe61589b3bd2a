import { own, ownString, type Json } from '../json/json.ts';
import { LABEL_GANG, MARK_GANG_PER } from '../api/names.ts';

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

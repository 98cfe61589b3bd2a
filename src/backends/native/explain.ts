import { own, ownList, ownObject, ownString, type JsonObject } from '../../json/json.ts';

/** What the scheduler writes on a PodGroup: the first in 1.36, the second from 1.37 on. */
const PLACED = ['PodGroupScheduled', 'PodGroupInitiallyScheduled'];

/**
 * Why the scheduler does not place a gang, in its own words and one line; undefined while it says nothing, which is
 * also so while it waits for Pods, and for good once a gang was placed.
 */
export function explainPodGroups(objects: readonly JsonObject[]): string | undefined {
  const said = objects.flatMap((object) => {
    const conditions = ownList(ownObject(object, 'status'), 'conditions') ?? [];
    const refusal = conditions.find(
      (condition) =>
        PLACED.includes(ownString(condition, 'type') ?? '') && own(condition, 'status') === 'False',
    );
    if (refusal === undefined) return [];
    const name = ownString(ownObject(object, 'metadata'), 'name') ?? '';
    const text = ownString(refusal, 'message') || ownString(refusal, 'reason') || 'not placed';
    return [`PodGroup ${name}: ${text.replace(/\s+/g, ' ').trim()}`];
  });
  return said.length === 0 ? undefined : said.join('; ');
}

import { ownList, ownObject, ownString, type Json, type JsonObject } from '../../api/json.ts';
import { printable } from '../../api/printable.ts';
import { POD_GROUP } from './names.ts';

/** KAI lists one line per node group: the head says what it is about. */
const MAX_RUNES = 512;

/** What people should look at where KAI's own words do not say. */
const HINTS: Readonly<Record<string, string>> = {
  // Seen of a queue that has children, and of a topology level that the Topology lacks.
  'Unable to schedule podgroup':
    'KAI gives no reason; look whether the queue has child queues, and whether its Topology has the levels',
};

/**
 * Why KAI does not place a gang, in its own words on one line, from the newest condition of its PodGroup. KAI writes
 * none while Pods are missing or gated, and takes it off once the gang is bound: undefined then.
 */
export function explainPodGroups(objects: readonly JsonObject[]): string | undefined {
  const conditions = objects
    .filter(
      (object) => ownString(object, 'kind') === undefined || ownString(object, 'kind') === POD_GROUP.kind,
    )
    .flatMap((object) => ownList(ownObject(object, 'status'), 'schedulingConditions') ?? [])
    .filter((condition) => ownString(condition, 'status') === 'True');
  const newest = conditions.reduce<Json | undefined>(
    (last, next) => (last === undefined || transition(next) >= transition(last) ? next : last),
    undefined,
  );
  return newest === undefined ? undefined : oneLine(wordsOf(newest));
}

/** "1", "2", …: KAI counts its conditions. */
const transition = (condition: Json): number => Number(ownString(condition, 'transitionID') ?? 0) || 0;

function wordsOf(condition: Json): string {
  const reasons = (ownList(condition, 'reasons') ?? []).map((entry) => {
    const [reason, message] = [ownString(entry, 'reason') ?? '', ownString(entry, 'message') ?? ''];
    return reason === '' || message.startsWith(reason)
      ? message
      : message === ''
        ? reason
        : `${reason}: ${message}`;
  });
  const said = [...new Set(reasons.filter((text) => text !== ''))];
  if (said.length > 0) return said.join('; ');
  const message = ownString(condition, 'message') ?? '';
  const hint = HINTS[message.trim().replace(/\.$/, '')];
  return hint === undefined ? message : `${message.trim()} (${hint})`;
}

function oneLine(text: string): string | undefined {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line === '' ? undefined : printable(line, MAX_RUNES);
}

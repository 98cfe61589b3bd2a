import { ownList, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { printable } from '../../text/printable.ts';
import { POD_GROUP } from './names.ts';

/** Longest explanation, in code points. KAI lists one line per node group, and the first lines state the cause. */
const MAX_RUNES = 512;

/** Message of KAI without a cause, seen for a queue that has children and for a topology level that the Topology lacks. */
const NO_REASON = /^Unable to schedule pod(group)?$/;
const HINT =
  'KAI gives no reason; look whether the queue has child queues, and whether its Topology has the levels';

/** Timestamp annotation of KAI: KAI evicts the gang once it is older than the staleness grace period. */
const STALE_SINCE = 'kai.scheduler/stale-podgroup-timestamp';

/**
 * KAI's reason for not placing a gang, on one line, from the newest condition of its PodGroup. undefined while Pods are
 * missing or gated, since KAI writes no condition then, and after the gang is bound, since KAI removes the condition.
 */
export function explainKai(objects: readonly JsonObject[]): string | undefined {
  const podGroups = objects.filter(
    (object) => ownString(object, 'kind') === undefined || ownString(object, 'kind') === POD_GROUP.kind,
  );
  const stale = podGroups.flatMap(
    (object) => ownString(ownObject(ownObject(object, 'metadata'), 'annotations'), STALE_SINCE) || [],
  )[0];
  const conditions = podGroups
    .flatMap((object) => ownList(ownObject(object, 'status'), 'schedulingConditions') ?? [])
    .filter((condition) => ownString(condition, 'status') === 'True');
  const newest = conditions.reduce<Json | undefined>(
    (last, next) => (last === undefined || transition(next) >= transition(last) ? next : last),
    undefined,
  );
  const said = newest === undefined ? '' : wordsOf(newest);
  const clock =
    stale === undefined
      ? ''
      : `below a minimum since ${stale}: KAI evicts the whole gang after its staleness grace period (60 s unless it is told otherwise)`;
  return oneLine([clock, said].filter((text) => text !== '').join('; '));
}

/** The order of KAI's conditions, which it numbers "1", "2", …. */
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
  return NO_REASON.test(message.trim().replace(/\.$/, '')) ? `${message.trim()} (${HINT})` : message;
}

function oneLine(text: string): string | undefined {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line === '' ? undefined : printable(line, MAX_RUNES);
}

import { ownList, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { printable } from '../../text/printable.ts';
import { POD_GROUP } from './names.ts';

/** KAI lists one line per node group: the head says what it is about. */
const MAX_RUNES = 512;

/** Seen of a queue that has children, and of a topology level that the Topology lacks. */
const NO_REASON = /^Unable to schedule pod(group)?$/;
const HINT =
  'KAI gives no reason; look whether the queue has child queues, and whether its Topology has the levels';

/** KAI's clock: once it has stood for the staleness grace period KAI evicts the gang. */
const STALE_SINCE = 'kai.scheduler/stale-podgroup-timestamp';

/**
 * Why KAI does not place a gang, in its own words on one line, from the newest condition of its PodGroup. KAI writes
 * none while Pods are missing or gated, and takes it off once the gang is bound: undefined then.
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
  return NO_REASON.test(message.trim().replace(/\.$/, '')) ? `${message.trim()} (${HINT})` : message;
}

function oneLine(text: string): string | undefined {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line === '' ? undefined : printable(line, MAX_RUNES);
}

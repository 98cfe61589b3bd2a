import { own, ownList, ownString, type JsonObject } from '../api/json.ts';
import { LABEL_MANAGED_BY, MANAGED_BY_GROVE } from '../api/names.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { parsePodGang } from '../gang/parse-pod-gang.ts';
import { repairReferences } from '../gang/references.ts';
import { decision, untouched, type Decision, type Policy } from './decision.ts';
import type { Change } from './json-patch.ts';
import type { AdmissionRequest } from './review.ts';

/** A PodGang whose references, Initialized and gates are the Grove operator's, not Muster's. */
export const isGroveManaged = (gang: PodGang): boolean =>
  gang.labels.get(LABEL_MANAGED_BY) === MANAGED_BY_GROVE;

/**
 * Whether the stored object is on its way out: nothing may then stand in the way of its last updates. The new
 * object is not asked: its author may write the timestamp, or leave it out.
 */
export const isDeleting = (stored: JsonObject | undefined): boolean =>
  ownString(own(stored, 'metadata'), 'deletionTimestamp') !== undefined;

/**
 * CREATE: absent references become `[]`, which is what the CRD asks for. UPDATE: references stay as they are
 * unless a trusted account writes them, so that applying the manifest again never clears them.
 */
export function mutatePodGang(request: AdmissionRequest, policy: Policy): Decision {
  const { object, oldObject, operation, subResource } = request;
  const writes = operation === 'CREATE' || operation === 'UPDATE';
  if (!writes || subResource !== '' || object === undefined || isDeleting(oldObject)) return untouched();
  const { gang } = parsePodGang(object, request.namespace);
  const before = oldObject && parsePodGang(oldObject, request.namespace).gang;
  const key = `${request.namespace}/${request.name}`;
  // What the stored object says decides: the label cannot be put on to slip through.
  if (isGroveManaged(before ?? gang)) return decision({ gang: key });

  const items = ownList(own(object, 'spec'), 'podgroups') ?? [];
  const repairs = repairReferences(before, gang, policy.trustedAccounts.has(request.username));
  const changes = repairs.flatMap(({ index, references, why }): Change[] => {
    const item = items[index];
    // A group that is no object is the validator's to refuse; a patch into it would not apply.
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return [];
    const op = Object.hasOwn(item, 'podReferences') ? 'replace' : 'add';
    return [{ operation: { op, path: `/spec/podgroups/${index}/podReferences`, value: references }, why }];
  });
  return decision({ changes, gang: key });
}

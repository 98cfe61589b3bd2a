import { own, ownList, ownString, type JsonObject } from '../api/json.ts';
import { LABEL_SCHEDULER_NAME } from '../api/names.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { selectByPlace, type Place } from '../backends/select.ts';
import { isGroveManaged } from '../gang/gang-selection.ts';
import { parsePodGang } from '../gang/parse-pod-gang.ts';
import { repairReferences } from '../gang/rules/references.ts';
import { decision, untouched, type Decision, type Policy } from './decision.ts';
import { ObjectEdit, type Change } from './json-patch.ts';
import type { AdmissionRequest } from './review.ts';

/**
 * Whether the stored object is on its way out: nothing may then stand in the way of its last updates. The new
 * object is not asked: its author may write the timestamp, or leave it out.
 */
export const isDeleting = (stored: JsonObject | undefined): boolean =>
  ownString(own(stored, 'metadata'), 'deletionTimestamp') !== undefined;

/**
 * CREATE: the label of its backend is written down, and absent references become `[]`, which is what the CRD asks for. UPDATE: references stay as they are
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
  const recorded = recordBackend(request, before, policy);
  if ('ask' in recorded) return decision({ ask: recorded.ask });
  return decision({ changes: [...recorded, ...changes], gang: key });
}

/**
 * The label that says whose the gang is. Written at its creation, it keeps the gang with its backend whatever the
 * configuration says later; taken off by somebody who applies a manifest without it, it is put back.
 */
function recordBackend(
  { object, namespace }: AdmissionRequest,
  before: PodGang | undefined,
  { registry, placement }: Policy,
): Change[] | { ask: Place } {
  const metadata = own(object, 'metadata');
  const label = ownString(own(metadata, 'labels'), LABEL_SCHEDULER_NAME);
  if (label !== undefined) return [];
  const labels = new ObjectEdit('/metadata/labels', own(metadata, 'labels'));
  if (before !== undefined) {
    const kept = before.labels.get(LABEL_SCHEDULER_NAME);
    if (kept !== undefined) labels.set(LABEL_SCHEDULER_NAME, kept, 'a gang stays with its backend');
    return labels.changes();
  }
  const selection = selectByPlace(registry, { namespace, gang: undefined }, placement);
  if (selection.ask !== undefined) return { ask: selection.ask };
  if (selection.fault !== undefined) return [];
  labels.set(LABEL_SCHEDULER_NAME, selection.resolved.backend.name, 'the gang stays with this backend');
  return labels.changes();
}

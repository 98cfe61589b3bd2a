import { own, type JsonObject } from '../json/json.ts';
import { askingWorkload } from '../workloads/asking-workload.ts';
import { checkWorkload } from '../workloads/check-workload.ts';
import type { GangKind } from '../workloads/kind.ts';
import { slipsOfWorkload, slipText } from '../workloads/label-slips.ts';
import { controllerOf } from '../workloads/pod-origin.ts';
import { fewPodTemplatesOf } from '../workloads/pod-templates.ts';
import { isDeleting } from './pod-gangs.ts';
import type { Policy } from './policy.ts';
import { decision, untouched, type AdmissionRequest, type Decision } from './review.ts';

/**
 * Checks a workload when it starts to ask for a gang; otherwise its Pods would be refused or wait for ever, one by one and
 * later. Workloads that ask already may always be updated, and a workload that a controller made was checked with its owner.
 */
export function validateWorkload(
  { object, oldObject, namespace, subResource }: AdmissionRequest,
  { exemptNamespaces, gangKinds }: Policy,
): Decision {
  if (object === undefined || subResource !== '' || exemptNamespaces.has(namespace)) return untouched();
  if (isDeleting(oldObject) || controllerOf(own(object, 'metadata')) !== undefined) return untouched();
  if (oldObject !== undefined && askingWorkload(oldObject, gangKinds) !== undefined) return untouched();
  if (askingWorkload(object, gangKinds) === undefined)
    return decision({ warnings: slips(object, oldObject, gangKinds) });
  return decision(checkWorkload(object, gangKinds, oldObject));
}

/**
 * Warnings about keys that look like a request for a gang and are none, without those that the stored workload has already.
 */
function slips(
  object: JsonObject,
  before: JsonObject | undefined,
  kinds: readonly GangKind[] | undefined,
): string[] {
  const found = (one: JsonObject): string[] =>
    slipsOfWorkload(one, fewPodTemplatesOf(one, kinds) ?? []).map(slipText);
  const known = new Set(before === undefined ? [] : found(before));
  return found(object).filter((text) => !known.has(text));
}

import { own } from '../api/json.ts';
import { askingWorkload } from '../workloads/asking-workload.ts';
import { checkWorkload } from '../workloads/check-workload.ts';
import { controllerOf } from '../workloads/pod-origin.ts';
import { isDeleting } from './pod-gangs.ts';
import type { Policy } from './policy.ts';
import { decision, untouched, type AdmissionRequest, type Decision } from './review.ts';

/**
 * A workload at the moment at which it begins to ask for a gang: its Pods would be refused or wait for ever, one by one and
 * later. What is stored already is never in the way of its own updates, and what a controller makes of another workload
 * was asked about with that one.
 */
export function validateWorkload(
  { object, oldObject, namespace, subResource }: AdmissionRequest,
  { exemptNamespaces, gangKinds }: Policy,
): Decision {
  if (object === undefined || subResource !== '' || exemptNamespaces.has(namespace)) return untouched();
  if (isDeleting(oldObject) || controllerOf(own(object, 'metadata')) !== undefined) return untouched();
  if (oldObject !== undefined && askingWorkload(oldObject, gangKinds) !== undefined) return untouched();
  return decision(checkWorkload(object, gangKinds, oldObject));
}

import { isDeepStrictEqual } from 'node:util';
import { fault, type Fault } from '../api/fault.ts';
import { Needs } from '../api/needs.ts';
import { own } from '../json/json.ts';
import { parseHpcPolicy } from '../preparers/policy/hpc-policy.ts';
import { hostedPreparerFor, managersOf, preparedMarkOf, verdictOnPolicy } from '../preparers/registry.ts';
import type { Policy } from './policy.ts';
import { isDeleting } from './pod-gangs.ts';
import { decision, untouched, type AdmissionRequest, type Decided } from './review.ts';

/**
 * Answers all faults of an HPCPolicy at once. The spec of an HPCPolicy by which Pods were prepared is immutable, since
 * further Pods of the gang would be prepared differently; its metadata may change. It may be deleted, which stops no running
 * Pod, but while such Pods run it may only be created again with the same spec.
 */
export function validateHpcPolicy(
  { object, oldObject, namespace, name, subResource }: AdmissionRequest,
  policy: Policy,
): Decided {
  if (object === undefined || subResource !== '' || isDeleting(oldObject)) return untouched();
  if (oldObject !== undefined && isDeepStrictEqual(own(object, 'spec'), own(oldObject, 'spec')))
    return untouched();
  const { preparations } = policy;
  const { policy: parsed, faults } = parseHpcPolicy(object, namespace, managersOf(preparations));
  const elsewhere = hostedPreparerFor(parsed, preparations);
  if (elsewhere !== undefined) {
    const { preparation, hosted } = elsewhere;
    return new Needs({ inPlaceOf: preparation, says: (ms) => hosted.ofPolicy(parsed, ms) });
  }
  const gangCalled = (user: string): string =>
    policy.knowsCallers === true ? `PodGang ${user}` : 'a PodGang';
  const verdict = verdictOnPolicy(parsed, preparations);
  faults.push(...verdict.faults);
  if (oldObject !== undefined) {
    const user = policy.hpc?.userOf?.(namespace, name);
    if (user !== undefined) inUse(faults, `${gangCalled(user)} has Pods`);
  } else if (faults.length === 0) {
    // To delete an HPCPolicy and create it with another spec would be an edit of the one in use.
    const user = policy.hpc?.userOf?.(namespace, name, preparedMarkOf(parsed));
    if (user !== undefined)
      inUse(faults, `Pods of ${gangCalled(user)} run by one of this name with other settings`);
  }
  return decision({ faults, warnings: verdict.warnings });
}

const inUse = (faults: Fault[], detail: string): void =>
  void faults.push(fault('HpcPolicyInUse', 'spec', { detail }));

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
 * All faults of an HPCPolicy in one answer. One by which Pods were prepared stays as it is: the others of the gang would
 * come to be prepared in another way. Its metadata is anybody's. Its deletion stops nothing that runs, and while something
 * does it comes back as it was.
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
    // Deleted and made anew it would be an edit of the one by which they run.
    const user = policy.hpc?.userOf?.(namespace, name, preparedMarkOf(parsed));
    if (user !== undefined)
      inUse(faults, `Pods of ${gangCalled(user)} run by one of this name with other settings`);
  }
  return decision({ faults, warnings: verdict.warnings });
}

const inUse = (faults: Fault[], detail: string): void =>
  void faults.push(fault('HpcPolicyInUse', 'spec', { detail }));

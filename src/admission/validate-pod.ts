import { fault, keyed, type Fault } from '../api/fault.ts';
import { notOfGang } from '../backends/select.ts';
import { MEMBERSHIP_LABELS, membershipOf } from '../gang/membership.ts';
import { decision, untouched, type Decision, type Policy } from './decision.ts';
import { gangKey, isGangPod, selectBackend } from './mutate-pod.ts';
import { ReceivedPod } from './pod-reader.ts';
import type { AdmissionRequest } from './review.ts';

const GATES = 'spec.schedulingGates';

/**
 * CREATE: the Pod was prepared, which catches a gang label added after the mutating webhook had passed.
 * UPDATE, also of `status`: the gang labels stay, and only trusted accounts take the gate away.
 */
export function validatePod(request: AdmissionRequest, policy: Policy): Decision {
  const { operation, object, oldObject, subResource } = request;
  if (object === undefined) return untouched();
  const pod = new ReceivedPod(object, request.namespace);
  if (operation === 'CREATE' && subResource === '') return validateCreate(request, pod, policy);
  if (operation === 'UPDATE' && oldObject !== undefined) {
    return validateUpdate(request, new ReceivedPod(oldObject, request.namespace), pod, policy);
  }
  return untouched();
}

function validateCreate(request: AdmissionRequest, pod: ReceivedPod, policy: Policy): Decision {
  if (!isGangPod(pod, request, policy)) return untouched();
  const membership = membershipOf(request.namespace, (key) => pod.label(key));
  const gang = gangKey(membership);
  const faults: Fault[] = pod.gated ? [] : [fault('GateMissing', GATES)];
  const selection = selectBackend(pod, membership, policy, faults.length === 0);
  if (selection.ask !== undefined) return decision({ ask: selection.ask });
  if (selection.fault !== undefined) return decision({ faults: [...faults, selection.fault], gang });
  const { backend } = selection.resolved;
  if (backend.schedulerName !== pod.schedulerName) {
    // Before the gang was there, or its Namespace said so, the Pod was prepared for the default.
    const early = selection.by !== 'itself' && policy.registry.default.schedulerName === pod.schedulerName;
    // The gang that is remembered may be an earlier one of that name.
    if (early && selection.by === 'gang' && policy.placement?.read !== undefined) {
      return decision({ ask: { namespace: membership.namespace, gang: membership.gang } });
    }
    if (!early) {
      const detail = `backend ${backend.name} needs ${backend.schedulerName}`;
      faults.push(fault('SchedulerMismatch', 'spec.schedulerName', { value: pod.schedulerName, detail }));
    } else if (selection.by === 'gang') {
      faults.push(notOfGang('spec.schedulerName', pod.schedulerName, membership.gang, backend.name));
    }
  }
  return decision({ faults, backend: backend.name, gang });
}

function validateUpdate(
  request: AdmissionRequest,
  before: ReceivedPod,
  after: ReceivedPod,
  policy: Policy,
): Decision {
  // A Pod on its way out cannot be bound any more; whatever finishes it may pass. Only the stored Pod can tell.
  if (before.deleting) return untouched();
  const wasMember = isGangPod(before, request, policy);
  if (!wasMember && !isGangPod(after, request, policy)) return untouched();
  const faults = MEMBERSHIP_LABELS.filter((key) => before.label(key) !== after.label(key)).map((key) =>
    fault('GangLabelImmutable', keyed('metadata.labels', key), { detail: changeOf(before, after, key) }),
  );
  if (wasMember && before.gated && !after.gated && !policy.trustedAccounts.has(request.username)) {
    faults.push(fault('GateProtected', GATES));
  }
  const membership = membershipOf(request.namespace, (key) => (wasMember ? before : after).label(key));
  return decision({ faults, gang: gangKey(membership) });
}

function changeOf(before: ReceivedPod, after: ReceivedPod, key: string): string {
  const [from, to] = [before.label(key), after.label(key)];
  if (from === undefined) return `added as ${to ?? ''}`;
  return to === undefined ? `removed, was ${from}` : `was ${from}, now ${to}`;
}

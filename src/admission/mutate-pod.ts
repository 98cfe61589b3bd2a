import { fault, keyed, type Fault } from '../api/fault.ts';
import {
  GATE_POD_GANG_PENDING,
  LABEL_POD_CLIQUE,
  LABEL_POD_GANG,
  LABEL_SCHEDULER_NAME,
} from '../api/names.ts';
import { isPodRefused, type Backend } from '../backends/backend.ts';
import { selectForPod, type Placement, type Selection } from '../backends/select.ts';
import { MusterError } from '../errors.ts';
import { claimsGang, membershipOf, type Membership } from '../gang/membership.ts';
import { isPodGangName } from '../api/name-syntax.ts';
import { decision, untouched, type Decision, type Policy } from './decision.ts';
import { JsonPodPatch, withinSurface } from './pod-patch.ts';
import { isMirrorPod, ReceivedPod } from './pod-reader.ts';
import type { AdmissionRequest } from './review.ts';

/** A Pod that Muster answers for: labelled for a gang, no mirror, in a namespace that is not exempt. */
export const isGangPod = (pod: ReceivedPod, request: AdmissionRequest, policy: Policy): boolean =>
  claimsGang((key) => pod.label(key)) &&
  !policy.exemptNamespaces.has(request.namespace) &&
  !isMirrorPod(pod, request);

/** `namespace/name`, for the log and the audit. */
export const gangKey = (membership: Membership): string => `${membership.namespace}/${membership.gang}`;

/** CREATE of a Pod: the gate, and what the gang's backend asks for. */
export function mutatePod(request: AdmissionRequest, policy: Policy): Decision {
  if (request.operation !== 'CREATE' || request.subResource !== '' || request.object === undefined) {
    return untouched();
  }
  const pod = new ReceivedPod(request.object, request.namespace);
  if (!isGangPod(pod, request, policy)) return untouched();
  pod.checkPatchable();

  const membership = membershipOf(request.namespace, (key) => pod.label(key));
  const faults = [...checkMembership(membership), ...checkNodeName(pod)];
  const selection = selectBackend(pod, membership, policy, faults.length === 0);
  if (selection.ask !== undefined) return decision({ ask: selection.ask });
  if (selection.fault !== undefined) faults.push(selection.fault);
  if (faults.length > 0 || selection.fault !== undefined) {
    const backend = selection.resolved?.backend.name;
    return decision({ faults, backend, gang: gangKey(membership) });
  }

  const { backend, notice } = selection.resolved;
  const patch = new JsonPodPatch(request.object);
  patch.addGate(GATE_POD_GANG_PENDING, 'the Pod waits until its gang is complete');
  // Written down, so that this Pod is the same backend's in every later pass, whatever is known by then.
  if (selection.by !== 'itself' && backend !== policy.registry.default) {
    patch.label(LABEL_SCHEDULER_NAME, backend.name, 'the backend of its gang or Namespace');
  }
  const refused = prepare(backend, pod, membership, patch);
  return {
    faults: refused === undefined ? [] : [refused],
    changes: refused === undefined ? patch.changes() : [],
    warnings: notice === undefined ? [] : [notice],
    backend: backend.name,
    gang: gangKey(membership),
  };
}

/**
 * The backend of a Pod.
 * @param mayAsk whether it is worth asking the cluster: not for a Pod that is refused anyway
 */
export function selectBackend(
  pod: ReceivedPod,
  membership: Membership,
  { registry, placement }: Policy,
  mayAsk: boolean,
): Selection {
  const known = mayAsk && isPodGangName(membership.gang) ? placement : placement && final(placement);
  return selectForPod(registry, pod.label(LABEL_SCHEDULER_NAME), pod.schedulerName, membership, known);
}

/** What is known, with nobody to ask for more. */
const final = ({ ofGang, ofNamespace }: Placement): Placement => ({ ofGang, ofNamespace });

function checkMembership({ gang, group }: Membership): Fault[] {
  const faults: Fault[] = [];
  if (!isPodGangName(gang)) {
    faults.push(fault('GangNameInvalid', keyed('metadata.labels', LABEL_POD_GANG), { value: gang }));
  }
  if (group === '') faults.push(fault('GroupLabelRequired', keyed('metadata.labels', LABEL_POD_CLIQUE)));
  return faults;
}

const checkNodeName = (pod: ReceivedPod): Fault[] =>
  pod.nodeName ? [fault('NodeNameForbidden', 'spec.nodeName', { value: pod.nodeName })] : [];

function prepare(
  backend: Backend,
  pod: ReceivedPod,
  membership: Membership,
  patch: JsonPodPatch,
): Fault | undefined {
  try {
    const returned: unknown = backend.preparePod(pod, membership, withinSurface(patch, backend));
    if (returned !== undefined) throw notSynchronous(backend, returned);
    return undefined;
  } catch (thrown) {
    if (!isPodRefused(thrown)) throw thrown;
    return fault('BackendFailed', thrown.field, { detail: `${backend.name}: ${thrown.message}` });
  }
}

/** The type allows an `async` method here; its patches would come too late, and its failure would end the process. */
function notSynchronous(backend: Backend, returned: unknown): MusterError {
  Promise.resolve(returned).catch(() => undefined);
  return new MusterError(
    'BACKEND_CONTRACT',
    `backend ${backend.name} returned something from preparePod, which is synchronous and returns nothing`,
    'prepare the Pod from what preparePod is given; do the rest in syncPodGang',
  );
}

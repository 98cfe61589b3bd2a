import { fault, keyed, type Fault } from '../api/fault.ts';
import type { JsonObject } from '../json/json.ts';
import {
  GATE_POD_GANG_PENDING,
  LABEL_POD_CLIQUE,
  LABEL_POD_GANG,
  LABEL_SCHEDULER_NAME,
} from '../api/names.ts';
import { Needs } from '../api/needs.ts';
import type { Backend } from '../backends/backend.ts';
import { notOfGang, selectForPod, type GangLookup, type BackendSelection } from '../backends/select.ts';
import {
  asksForGang,
  claimsGang,
  MEMBERSHIP_LABELS,
  membershipOf,
  type Membership,
} from '../gang/membership.ts';
import { isPodGangName } from '../api/pod-gang.ts';
import { TryLater } from '../errors.ts';
import { preparePod, type PrepareFailed } from '../preparers/prepare.ts';
import { checkPrepared } from './gang-preparers.ts';
import { checkNamed, nameGang, checkPriority, givePriority, needsGang, prepared } from './pod-of-gang.ts';
import { NO_PREPARERS, preparersOfPod } from './pod-preparers.ts';
import { checkReady, answeringBackend, policyIdle, type Policy } from './policy.ts';
import { JsonPodPatch } from './pod-patch.ts';
import { isMirrorPod, ReceivedPod } from './pod-reader.ts';
import { decision, untouched, type AdmissionRequest, type Decision, type Decided } from './review.ts';

/** Whether Muster handles the Pod: it is labelled for a gang, is no mirror Pod, and its namespace is not exempt. */
const isGangPod = (pod: ReceivedPod, request: AdmissionRequest, policy: Policy): boolean =>
  (claimsGang((key) => pod.label(key)) || asksForGang((key) => pod.label(key))) &&
  !policy.exemptNamespaces.has(request.namespace) &&
  !isMirrorPod(pod, request);

const isCreation = ({ operation, subResource }: AdmissionRequest): boolean =>
  operation === 'CREATE' && subResource === '';

/** `namespace/name`, for the log and the audit. */
export const gangKey = (membership: Membership): string => `${membership.namespace}/${membership.gang}`;

/** CREATE of a Pod: adds the gate, and the changes of the gang's backend and preparers. */
export function mutatePod(request: AdmissionRequest, policy: Policy, failed?: PrepareFailed): Decided {
  const { object, entire } = request;
  if (object === undefined || !isCreation(request)) return untouched();
  const pod = new ReceivedPod(object, request.namespace, entire);
  if (!isGangPod(pod, request, policy)) return untouched();
  pod.checkPatchable();

  const named = nameGang(pod, policy.gangKinds);
  // The API server reinvokes this webhook once another has added the label; else the validating webhook refuses the Pod.
  if (named === 'later') return untouched();
  const membership = membershipOf(request.namespace, (key) => pod.label(key));
  const faults = [
    ...named.faults,
    ...checkMembership(membership, named.faults.length === 0),
    ...checkNodeName(pod),
  ];
  const selection = selectBackend(pod, membership, policy, faults.length === 0);
  if (selection.needs !== undefined) return new Needs(selection.needs);
  if (selection.fault !== undefined) faults.push(selection.fault);
  if (faults.length > 0 || selection.fault !== undefined) {
    return refused(selection, faults, { pod, membership, object, hasNames: named.faults.length === 0 });
  }

  const { backend, notice, hosted } = selection.resolved;
  checkReady(policy, backend.name);
  const answer = hosted && answeringBackend(policy, backend);
  if (hosted !== undefined && answer === undefined) {
    const seen = (): JsonObject => named.on((hosted.readsLargeLists ? entire?.() : undefined) ?? object);
    return new Needs({ of: backend, says: (ms) => hosted.ofPod(seen(), membership, ms) });
  }
  const besides = policy.hpc
    ? preparersOfPod(policy.hpc, membership, policy, pod, () => named.on(entire?.() ?? object))
    : NO_PREPARERS;
  if (besides.needs !== undefined) return new Needs(besides.needs);
  if (besides.preparers === undefined) {
    return decision({ faults: [besides.fault], backend: backend.name, gang: gangKey(membership) });
  }
  if (needsGang(pod, membership, policy))
    return new Needs({ namespace: membership.namespace, gang: membership.gang });
  const patch = new JsonPodPatch(object, entire);
  named.write(patch);
  patch.addGate(GATE_POD_GANG_PENDING, 'the Pod waits until its gang is complete');
  // The backend is written into the Pod, so that every later pass selects the same one, whatever is known then.
  if (selection.by !== 'itself' && backend !== policy.registry.default) {
    patch.label(LABEL_SCHEDULER_NAME, backend.name, 'the backend of its gang or Namespace');
  }
  const otherPriority = givePriority(pod, membership, policy, patch);
  const by = { backend: answer ?? backend, first: policy.preparers ?? [], last: besides.preparers, failed };
  return {
    ...prepared(request, by, { pod, gang: membership, patch }),
    warnings: [notice, otherPriority, policyIdle(pod, policy)].filter((said) => said !== undefined),
    backend: backend.name,
    gang: gangKey(membership),
  };
}

/** Refuses a Pod instead of patching it, with the faults of its backend. */
function refused(
  { resolved }: Pick<BackendSelection, 'resolved'>,
  faults: Fault[],
  { pod, membership, object, hasNames }: RefusedPod,
): Decision {
  const { backend, hosted } = resolved ?? {};
  // A Pod without gang and group would only get further faults from the backend.
  if (backend !== undefined && hosted === undefined && hasNames)
    faults.push(...refusedBy(backend, pod, membership, object));
  const gang = membership.gang === '' ? undefined : gangKey(membership);
  return decision({ faults, backend: backend?.name, gang });
}

interface RefusedPod {
  readonly pod: ReceivedPod;
  readonly membership: Membership;
  readonly object: JsonObject;
  readonly hasNames: boolean;
}

/** The backend's faults of a Pod that is refused anyway, so that one answer lists all faults. */
function refusedBy(backend: Backend, pod: ReceivedPod, gang: Membership, object: JsonObject): Fault[] {
  try {
    return preparePod(backend, [], { pod, gang, patch: new JsonPodPatch(object) });
  } catch {
    return []; // A defect of its own over a Pod that never comes to it.
  }
}

/**
 * Selects the backend of a Pod.
 * @param mayAsk whether the cluster may be asked: not for a Pod that is refused anyway
 */
function selectBackend(
  pod: ReceivedPod,
  membership: Membership,
  { registry, placement }: Policy,
  mayAsk: boolean,
): BackendSelection {
  const known = mayAsk && isPodGangName(membership.gang) ? placement : placement && final(placement);
  const label = pod.label(LABEL_SCHEDULER_NAME);
  const selection = selectForPod(registry, label, pod.schedulerName, membership, known);
  // The scheduler may belong to a hosted backend that has not yet reported its scheduler.
  if (selection.fault?.rule === 'SchedulerNotEnabled' && label === undefined && registry.untold !== undefined)
    throw new TryLater('not-ready', `backend ${registry.untold} has not said which scheduler it is for`);
  return selection;
}

/** The lookup without `read`, so that nothing is asked of the cluster. */
const final = ({ read: _, ...known }: GangLookup): GangLookup => known;

/** @param named whether Muster has written the labels; if not, only labels that exist are checked */
function checkMembership({ gang, group }: Membership, named: boolean): Fault[] {
  const faults: Fault[] = [];
  if (!isPodGangName(gang) && (named || gang !== '')) {
    faults.push(fault('GangNameInvalid', keyed('metadata.labels', LABEL_POD_GANG), { value: gang }));
  }
  if (named && group === '') {
    faults.push(fault('GroupLabelRequired', keyed('metadata.labels', LABEL_POD_CLIQUE)));
  }
  return faults;
}

const checkNodeName = (pod: ReceivedPod): Fault[] =>
  pod.nodeName ? [fault('NodeNameForbidden', 'spec.nodeName', { value: pod.nodeName })] : [];

const GATES = 'spec.schedulingGates';

/**
 * CREATE: the Pod was prepared, which catches a gang label added after the mutating webhook had passed.
 * UPDATE, also of `status`: the gang labels stay, and only trusted accounts take the gate away.
 */
export function validatePod(request: AdmissionRequest, policy: Policy): Decided {
  const { operation, object, oldObject } = request;
  if (object === undefined) return untouched();
  const pod = new ReceivedPod(object, request.namespace, request.entire);
  if (isCreation(request)) return validateCreate(request, pod, policy);
  if (operation === 'UPDATE' && oldObject !== undefined) {
    return validateUpdate(request, new ReceivedPod(oldObject, request.namespace), pod, policy);
  }
  return untouched();
}

function validateCreate(request: AdmissionRequest, pod: ReceivedPod, policy: Policy): Decided {
  if (!isGangPod(pod, request, policy)) return untouched();
  const membership = membershipOf(request.namespace, (key) => pod.label(key));
  const gang = gangKey(membership);
  const unnamed = checkNamed(pod, policy.gangKinds);
  if (unnamed.length > 0) return decision({ faults: unnamed });
  const faults = [...(pod.gated ? [] : [fault('GateMissing', GATES)]), ...checkPriority(pod, policy)];
  const selection = selectBackend(pod, membership, policy, faults.length === 0);
  if (selection.needs !== undefined) return new Needs(selection.needs);
  if (selection.fault !== undefined) return decision({ faults: [...faults, selection.fault], gang });
  const { backend } = selection.resolved;
  if (backend.schedulerName !== pod.schedulerName) {
    // The Pod was prepared for the default backend before the gang existed or its Namespace named a backend.
    const early = selection.by !== 'itself' && policy.registry.default.schedulerName === pod.schedulerName;
    // The gang in memory may be an earlier one of that name.
    if (early && selection.by === 'gang' && policy.placement?.read !== undefined) {
      return new Needs({ namespace: membership.namespace, gang: membership.gang });
    }
    if (!early) {
      const detail = `backend ${backend.name} needs ${backend.schedulerName}`;
      faults.push(fault('SchedulerMismatch', 'spec.schedulerName', { value: pod.schedulerName, detail }));
    } else if (selection.by === 'gang') {
      faults.push(notOfGang('spec.schedulerName', pod.schedulerName, membership.gang, backend.name));
    }
  }
  const besides = policy.hpc
    ? preparersOfPod(policy.hpc, membership, policy, pod, () => request.entire?.() ?? request.object ?? {})
    : NO_PREPARERS;
  if (besides.needs !== undefined) return new Needs(besides.needs);
  if (besides.preparers === undefined) faults.push(besides.fault);
  else faults.push(...checkPrepared(request, pod, membership, besides.preparers));
  return decision({ faults, backend: backend.name, gang });
}

function validateUpdate(
  request: AdmissionRequest,
  before: ReceivedPod,
  after: ReceivedPod,
  policy: Policy,
): Decision {
  // A Pod that is being deleted cannot be bound, so every write passes. Only the stored Pod shows that it is.
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

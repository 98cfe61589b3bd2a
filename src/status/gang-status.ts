import { ANNOTATION_PREEMPTION_PLAN, LABEL_SCHEDULER_NAME } from '../api/names.ts';
import type { BackendRegistry } from '../backends/registry.ts';
import { namedQueue } from '../backends/select.ts';
import { keyOf, splitKey } from '../kube/loop/cache.ts';
import { stateOf } from '../controller/gangs/reconcile-state.ts';
import { BY_GANG, type GangView } from '../controller/watch/gang-view.ts';
import type { GangSelectors } from '../gang/gang-selection.ts';
import type { GangSummary, Ungate, Waiting } from '../gang/plan/gang-plan.ts';
import type { GangRecord, GangState, PodRecord } from '../gang/records.ts';
import { readPlan } from '../preemption/in-flight.ts';
import { planGang } from '../gang/plan/plan.ts';
import type { GangKind } from '../workloads/kind.ts';
import { isGated } from '../gang/plan/census.ts';

/** A host in the list that the Pods received, and the Pod with its hostname. */
export interface BrokerStatus {
  readonly host: string;
  /** Empty where no Pod has the hostname. */
  readonly pod: string;
  readonly state: PodStatus['state'] | 'missing';
}

/** The hosts on which a gang's program runs. */
export interface HostsStatus {
  /** The first host: under Flux the one that starts the program, under PyTorch the one that the others connect to. */
  readonly lead: BrokerStatus;
  /** Number of hosts in the list that every Pod received. */
  readonly expected: number;
  /** Number of hosts that have a Pod. */
  readonly there: number;
  /** Number of hosts whose Pod is ready or has succeeded. */
  readonly ready: number;
  /** Hosts that are not ready, in the order of the list; empty once the program has ended. */
  readonly waitsFor: readonly BrokerStatus[];
}

/** The brokers of a gang under Flux. */
export interface FluxStatus extends HostsStatus {
  /** Number of hosts that have to be ready before the program starts. */
  readonly quorum: number;
}

/** The status of a gang that names an HPCPolicy. */
export interface HpcStatus {
  readonly policy: string;
  /** Why the program cannot run; empty where nothing prevents it. */
  readonly why: string;
  /** Absent where the policy does not ask for Flux, or is not known. */
  readonly flux?: FluxStatus;
  /** The hosts under PyTorch, which starts with all of them. */
  readonly torch?: HostsStatus;
}

/** The status of one gang, as `-o json` prints it. */
export interface GangStatus {
  readonly namespace: string;
  readonly name: string;
  readonly backend: string;
  /** creationTimestamp of the PodGang; undefined where it does not exist. */
  readonly creationTimestamp: string | undefined;
  /** undefined where Pods claim a PodGang that does not exist. */
  readonly summary: GangSummary | undefined;
  readonly why: string;
  /** The queue of its scheduler that the PodGang names; absent where it names none. */
  readonly queue?: string;
  /** The planner's answer for a gang without capacity, where the gang was requested by name. */
  readonly plan?: string;
  /** Set where the gang was requested by name and names an HPCPolicy. */
  readonly hpc?: HpcStatus;
  /** Sorted by name, numbers by their value. */
  readonly pods: readonly PodStatus[];
}

export interface Judge {
  readonly view: GangView;
  readonly registry: BackendRegistry;
  readonly selectors: GangSelectors;
  /** Workloads whose Pods may ask for a gang; absent: the built-in kinds. */
  readonly gangKinds?: readonly GangKind[] | undefined;
  /** Backend name to show for gangs without one; undefined: the registry's default. */
  readonly defaultBackend?: string | undefined;
}

/**
 * The status of a gang by the function that the loop uses. It does not depend on the time: it holds until the next event of
 * the gang.
 */
export function gangStatus(namespace: string, name: string, judge: Judge): GangStatus {
  const { view, registry, selectors, defaultBackend } = judge;
  const found = stateOf(namespace, name, { view, registry, selectors, synced: true, now: 0 });
  const state = defaultBackend === undefined ? found : guessed(found);
  const { summary, waiting, ungate } = planGang(state);
  const gang = view.gangs.get(namespace, name);
  const reasons = new Map([...waiting, ...ungate.map(freeIn(state))].map((entry) => [entry.pod, entry]));
  const named = gang?.labels.has(LABEL_SCHEDULER_NAME) === true ? state.backend.name : defaultBackend;
  const queue = gang && namedQueue(gang, state.backend.name);
  return {
    namespace,
    name,
    ...(queue !== undefined && { queue }),
    backend: gang === undefined ? '-' : (named ?? state.backend.name),
    creationTimestamp: gang?.creationTimestamp,
    summary,
    why: summary === undefined ? `PodGang ${name} does not exist` : `${roomOf(gang)}${summary.why}`,
    pods: [...state.pods]
      .sort((a, b) => byNumberedName(a.name, b.name))
      .map((pod) => podStatus(pod, reasons.get(pod.name))),
  };
}

/** The plan by which Muster evicts Pods for the gang at this moment; '' where there is none. */
function roomOf(gang: GangRecord | undefined): string {
  const plan = gang && readPlan(gang.annotations.get(ANNOTATION_PREEMPTION_PLAN), gang.uid);
  if (plan === undefined) return '';
  const pods = plan.victims.flat().length;
  return `room is being made: ${pods} ${pods === 1 ? 'Pod' : 'Pods'} of lower priority ${pods === 1 ? 'has' : 'have'} to go, since ${new Date(plan.at).toISOString()}; `;
}

/**
 * Without a configuration the name of a gang's scheduler is a guess, and a wrong guess would report every Pod as prepared
 * for another scheduler. So a name counts only where the gang names its backend and some Pod has that scheduler's name.
 */
function guessed(state: GangState): GangState {
  const { gang, pods, backend } = state;
  const named = gang !== 'missing' && gang.labels.has(LABEL_SCHEDULER_NAME);
  const borne = pods.some((pod) => pod.schedulerName === backend.schedulerName);
  // The loop has the configuration, and has found the same mismatch.
  const told = gang !== 'missing' && gang.conditions.some(({ reason }) => reason === 'SchedulerMismatch');
  return named && (borne || told) ? state : { ...state, backend: { ...backend, schedulerName: undefined } };
}

/** Reasons for Pods that can be released; only the loop knows whether the scheduler counts all groups of a gang together. */
function freeIn(state: GangState): (one: Ungate) => Waiting {
  const { waiting } = planGang({ ...state, backend: { ...state.backend, releaseOrder: 'minimum-first' } });
  const later = new Map(waiting.map(({ pod, reason }) => [pod, reason]));
  return ({ pod, group }) => {
    const after = later.get(pod);
    const reason =
      after === undefined ? FREE : `${after}, where the scheduler counts all groups together; else ${FREE}`;
    return { pod, group, state: 'gated', reason };
  };
}

const FREE = 'nothing is missing: the loop is about to take its gate off (if this stays, no loop runs)';

/** All PodGangs and all gangs that Pods claim, by namespace and name, sorted for people. */
export function gangKeys(view: Pick<GangView, 'gangs' | 'pods'>): { namespace: string; name: string }[] {
  const keys = new Set(view.pods.indexValues(BY_GANG));
  for (const gang of view.gangs.values()) keys.add(keyOf(gang.namespace, gang.name));
  return [...keys].map(splitKey).sort(byPlace);
}

interface Placed {
  readonly namespace: string;
  readonly name: string;
}

/** First by namespace, then by name. */
export const byPlace = (a: Placed, b: Placed): number =>
  byNumberedName(a.namespace, b.namespace) || byNumberedName(a.name, b.name);

/** A fixed language, so that the order is the same on every machine; names are ASCII. */
const { compare } = new Intl.Collator('en', { numeric: true });

/** `worker-2` before `worker-10`. */
const byNumberedName = (a: string, b: string): number => compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);

/** The status of one Pod of a gang. */
export interface PodStatus {
  readonly name: string;
  readonly group: string;
  readonly node: string;
  readonly state: Waiting['state'] | 'running' | 'succeeded' | 'failed' | 'terminating';
  /** Why the Pod waits; '' where there is no reason to show. */
  readonly reason: string;
}

function podStatus(pod: PodRecord, waiting: Waiting | undefined): PodStatus {
  const { name, group, nodeName: node, phase } = pod;
  const told = { name, group, node };
  if (pod.deletionTimestamp !== undefined) return { ...told, state: 'terminating', reason: '' };
  if (phase === 'Failed') return { ...told, state: 'failed', reason: '' };
  if (waiting !== undefined) return { ...told, state: waiting.state, reason: waiting.reason };
  return { ...told, state: unjudged(pod), reason: '' };
}

/** State of a Pod that the loop does not wait for, from the Pod alone. */
function unjudged(pod: PodRecord): PodStatus['state'] {
  if (pod.phase === 'Succeeded') return 'succeeded';
  if (isGated(pod)) return 'gated';
  if (pod.gates.length > 0) return 'foreign';
  if (pod.nodeName === '') return 'pending';
  return pod.ready ? 'running' : 'starting';
}

import type { JsonObject } from '../json/json.ts';
import { ANNOTATION_HPC_POLICY, LABEL_GANG } from '../api/names.ts';
import { TryLater } from '../errors.ts';
import { HPC_POLICY_FIELD } from '../preparers/policy/hpc-policy.ts';
import type { Backend } from '../backends/backend.ts';
import type { BackendRegistry } from '../backends/registry.ts';
import type { Place, GangLookup } from '../backends/select.ts';
import type { PriorityClasses } from '../api/priority-class.ts';
import type { HpcPolicies, PreparerFactory } from '../preparers/preparer-factory.ts';
import type { PodReader, Preparer } from '../preparers/preparer.ts';
import type { TopologyLevels } from '../gang/rules/check-topology.ts';
import type { GangKind } from '../workloads/kind.ts';

/** Everything that a decision depends on beside the request. Fixed at start, except what is read from the watches. */
export interface Policy {
  readonly registry: BackendRegistry;
  /** Usernames that may take gates away and write references and Initialized. */
  readonly trustedAccounts: ReadonlySet<string>;
  /** Namespaces whose Pods are never touched: kube-system and Muster's own. */
  readonly exemptNamespaces: ReadonlySet<string>;
  readonly topology: TopologyLevels;
  /** Kinds of workloads whose Pods may ask for a gang. Absent: the kinds built into Muster. */
  readonly gangKinds?: readonly GangKind[];
  /** Preparations that an HPCPolicy may ask for, beside the built-in ones. */
  readonly preparations?: readonly PreparerFactory[];
  /** The preparers of a gang's Pods beside its backend, in order. */
  readonly preparers?: readonly Preparer[];
  /** What the watches have read, in memory: it may change, and no decision waits for it. Absent: nothing is known. */
  readonly placement?: GangLookup | undefined;
  /**
   * Whether callers are known to be API servers, by their client certificate. Otherwise any caller may claim any account and
   * namespace, so answers name no other objects. Absent: false.
   */
  readonly knowsCallers?: boolean;
  /** The HPCPolicies, read from memory. Absent: no gang is prepared by an HPCPolicy. */
  readonly hpc?: HpcPolicies | undefined;
  /** The cluster's PriorityClasses, read from memory. Absent: they are not watched. */
  readonly classes?: PriorityClasses | undefined;
  /**
   * Why a backend is not ready, for a reason that is no fault of the object: it has not examined the cluster yet. Absent
   * where backends need not examine a cluster.
   */
  readonly notReady?: (backend: string) => string | undefined;
  /**
   * Returns warnings with a forecast for a gang created by dry run, within this time. The promise does not reject. Absent:
   * there are no forecasts.
   */
  readonly preview?: ((tried: TriedOut, withinMs: number) => Promise<readonly string[]>) | undefined;
  /** The answer of a hosted backend about the object that is decided. Absent: not asked yet. */
  readonly said?: Said;
  /** The warnings of {@link preview} for the dry run that is decided. Absent: not asked yet. */
  readonly forecast?: readonly string[];
}

/** A creation of a Pod or PodGang by dry run. */
export interface TriedOut {
  readonly user: string;
  readonly namespace: string;
  readonly object: JsonObject;
}

/** The answer of a hosted backend. `says` answers in place of `of`. */
interface Said {
  readonly of: Backend;
  readonly says: Backend;
  /** When it was asked, in milliseconds of `performance.now()`. */
  readonly since: number;
}

/**
 * What has to be read before a decision: the place of an object in the cluster, the answer of a hosted backend or
 * preparation, or a forecast for a dry run.
 */
export type DecisionNeed = Place | BackendNeed | PreparationNeed | ForecastNeed;

/** The question to a hosted preparation about the object; the answer replaces the preparation in the policy. */
export interface PreparationNeed {
  readonly inPlaceOf: PreparerFactory;
  readonly says: (withinMs: number) => Promise<PreparerFactory>;
}

interface BackendNeed {
  readonly of: Backend;
  readonly says: (withinMs: number) => Promise<Backend>;
}

interface ForecastNeed {
  readonly forecastOf: TriedOut;
}

/**
 * Reads what a decision needs.
 * @returns the policy with the answer in it
 * @throws TryLater where there is no answer in time
 */
export async function answered(needs: DecisionNeed, policy: Policy, withinMs: number): Promise<Policy> {
  if ('forecastOf' in needs)
    return { ...policy, forecast: (await policy.preview?.(needs.forecastOf, withinMs)) ?? [] };
  if ('inPlaceOf' in needs) {
    const says = await needs.says(withinMs);
    const preparations = policy.preparations?.map((one) => (one === needs.inPlaceOf ? says : one));
    return { ...policy, ...(preparations && { preparations }) };
  }
  if (!('of' in needs)) return { ...policy, placement: await policy.placement?.read?.(needs, withinMs) };
  const since = performance.now();
  return { ...policy, said: { of: needs.of, says: await needs.says(withinMs), since } };
}

/** The answer of a hosted backend; undefined where this backend was not asked. */
export const answeringBackend = ({ said }: Policy, backend: Backend): Backend | undefined =>
  said?.of === backend ? said.says : undefined;

/**
 * Checks that a backend is ready to answer.
 * @throws {TryLater} where it has not examined the cluster yet
 */
export function checkReady({ notReady }: Policy, backend: string): void {
  const reason = notReady?.(backend);
  if (reason !== undefined) throw new TryLater('not-ready', reason);
}

/**
 * The HPCPolicy that a Pod of a plain workload names itself, since its gang is made from it. A Pod that names its gang
 * itself leaves that to the PodGang.
 */
export const policyOfPod = (pod: PodReader): string | undefined =>
  pod.label(LABEL_GANG) === undefined ? undefined : pod.annotation(ANNOTATION_HPC_POLICY);

/** The warning of a Pod that names an HPCPolicy where none is gone by. */
export const policyIdle = (pod: PodReader, { hpc, placement }: Policy): string | undefined =>
  hpc === undefined && placement?.gang !== undefined && policyOfPod(pod) !== undefined
    ? NOT_PREPARED
    : undefined;

/** The warning of a PodGang or a Pod whose HPCPolicy prepares nothing. */
export const NOT_PREPARED = `${HPC_POLICY_FIELD}: nothing is prepared: hpc.enabled is false, tell whoever runs Muster`;

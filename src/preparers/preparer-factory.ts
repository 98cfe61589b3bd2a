import type { JsonObject } from '../json/json.ts';
import type { HpcGang } from './hosts/hosts.ts';
import type { HpcPolicy } from './policy/hpc-policy.ts';
import type { PodGangVerdict, Preparer } from './preparer.ts';

export type { HpcGang, HpcPolicy };

/**
 * Makes the preparer that an HPCPolicy requests, checks the gang, and renders its additional objects. A new preparer needs a
 * folder here and an entry in registry.ts. Pure: it reads nothing of the cluster.
 */
export interface PreparerFactory {
  readonly name: string;
  /** Set when the preparer runs in another process, which admission has to query. */
  readonly hosted?: HostedPreparer;
  /** Faults and warnings for a policy, beyond the checks of every policy. */
  judge?(policy: HpcPolicy): PodGangVerdict;
  /** The preparer for the Pods of this gang, with its patch surface; undefined when the policy does not request it. */
  preparer(gang: HpcGang, policy: HpcPolicy): Preparer | undefined;
  /**
   * Faults and warnings for a gang by the policy's settings, as far as they can be found without its Pods; empty when the
   * policy does not request this preparer.
   * @param subdomain of the gang's Pods, when they have their own
   */
  validate(gang: HpcGang, policy: HpcPolicy, subdomain?: string): PodGangVerdict;
  /** Objects that must exist before the first Pod may start; the gang owns them, so they are deleted with it. */
  objects(gang: HpcGang, policy: HpcPolicy, given: ObjectsGiven): readonly JsonObject[];
}

/**
 * A preparer in another process. Admission queries it first and gets a factory that answers synchronously for this one
 * object.
 * @throws TryLater when the process does not run or does not answer in time
 */
export interface HostedPreparer {
  /** Why the preparer cannot be queried now; undefined when it can. */
  readonly waits: string | undefined;
  ofPolicy(policy: HpcPolicy, withinMs: number): Promise<PreparerFactory>;
  ofPod(pod: JsonObject, asked: PodToPrepare, withinMs: number): Promise<PreparerFactory>;
  /** @param given set when the gang's objects are requested too */
  ofGang(
    gang: HpcGang,
    policy: HpcPolicy,
    given: ObjectsGiven | undefined,
    withinMs: number,
  ): Promise<PreparerFactory>;
  /** Calls the handler when the process has ended and when it runs again. */
  onChange(handler: () => void): void;
  stop(): void;
}

/** Gang, group and policy of a Pod to prepare. */
export interface PodToPrepare {
  readonly gang: HpcGang;
  readonly group: string;
  readonly policy: HpcPolicy;
}

/** Input of a gang's objects beside the gang and its policy. */
export interface ObjectsGiven {
  /** Makes a certificate with a new key pair for the gang at every call; a stored Secret is not replaced. */
  readonly certificate: (gang: string) => string;
  /** `spec.subdomain` that the Pods have of their own; the owner of the Pods provides its Service. */
  readonly subdomain?: string | undefined;
  /** Cores and GPUs that the Pods of a group ask for, such as `4 2`; groups without Pods are missing. */
  readonly asks?: ReadonlyMap<string, string> | undefined;
}

/** A stored HPCPolicy, which may have faults when it was stored without the webhook. */
export interface StoredPolicy {
  readonly policy: HpcPolicy;
  /** First fault of the policy; undefined when it has none. */
  readonly wrong: string | undefined;
}

/** Cached HPCPolicies. */
export interface HpcPolicies {
  /** Whether the cache is complete. */
  readonly known: boolean;
  get(namespace: string, name: string): StoredPolicy | undefined;
  /** Whether the namespace has a policy: without one, no Pod of the namespace is prepared by a policy. */
  anyIn(namespace: string): boolean;
  /** Namespaces with a policy of this name. Absent when the caller may not know them. */
  elsewhere?(name: string): readonly string[];
  /**
   * A gang with Pods that names the policy; undefined when there is none. Absent when Pods are not watched.
   * @param mark only a gang whose Pods run with a different mark
   */
  userOf?(namespace: string, name: string, mark?: string): string | undefined;
  /**
   * A mark of the gang's running Pods that differs from this one; undefined when there is none. Absent when Pods are not
   * watched.
   */
  otherMark?(namespace: string, gang: string, mark: string): string | undefined;
}

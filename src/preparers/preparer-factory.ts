import type { JsonObject } from '../json/json.ts';
import type { HpcGang } from './hosts/hosts.ts';
import type { HpcPolicy } from './policy/hpc-policy.ts';
import type { PodGangVerdict, Preparer } from './preparer.ts';

export type { HpcGang, HpcPolicy };

/**
 * Makes the preparer that an HPCPolicy asks for, judges the gang and names its further objects: a folder here and a line in
 * registry.ts. Pure: it reads nothing of the cluster.
 */
export interface PreparerFactory {
  readonly name: string;
  /** Set where it runs outside of this process: what it says has to be asked for. */
  readonly hosted?: HostedPreparer;
  /** What is wrong with a policy that asks for it, beside what every policy is held to. */
  judge?(policy: HpcPolicy): PodGangVerdict;
  /** What prepares the Pods of this gang, with its patch surface; undefined where the policy does not ask for it. */
  preparer(gang: HpcGang, policy: HpcPolicy): Preparer | undefined;
  /**
   * What is wrong with a gang by what the policy asks for, as far as it shows without its Pods. Nothing where the policy does
   * not ask for this preparation.
   * @param subdomain of its Pods, where they have one of their own
   */
  validate(gang: HpcGang, policy: HpcPolicy, subdomain?: string): PodGangVerdict;
  /** What has to be there before the first Pod may start; it is owned by the gang and goes with it. */
  objects(gang: HpcGang, policy: HpcPolicy, given: ObjectsGiven): readonly JsonObject[];
}

/**
 * A preparer in another process. It is asked beforehand and gives a factory that answers at once, for this one object.
 * @throws TryLater where it does not run, or does not answer in time
 */
export interface HostedPreparer {
  /** Why it cannot be asked now; undefined: it can. */
  readonly waits: string | undefined;
  ofPolicy(policy: HpcPolicy, withinMs: number): Promise<PreparerFactory>;
  ofPod(pod: JsonObject, asked: PodToPrepare, withinMs: number): Promise<PreparerFactory>;
  /** @param given where its objects are asked for, too */
  ofGang(
    gang: HpcGang,
    policy: HpcPolicy,
    given: ObjectsGiven | undefined,
    withinMs: number,
  ): Promise<PreparerFactory>;
  /** Hears that it ended, and that it runs again. */
  onChange(handler: () => void): void;
  stop(): void;
}

/** The gang and group of a Pod that is to be prepared, and the policy for it. */
export interface PodToPrepare {
  readonly gang: HpcGang;
  readonly group: string;
  readonly policy: HpcPolicy;
}

/** What the objects of a gang depend on beside the gang and its policy. */
export interface ObjectsGiven {
  /** Makes a key pair for the gang of that name, another one each time; what is stored already stays. */
  readonly certificate: (gang: string) => string;
  /** `spec.subdomain` of the Pods where they have one of their own: its Service is their owner's then. */
  readonly subdomain?: string | undefined;
}

/** An HPCPolicy as it is stored: one that was stored without the webhook may have faults. */
export interface StoredPolicy {
  readonly policy: HpcPolicy;
  /** The first thing that is wrong with it; undefined where nothing is. */
  readonly wrong: string | undefined;
}

/** The HPCPolicies that there are, read from memory. */
export interface HpcPolicies {
  /** Whether all of them are known. */
  readonly known: boolean;
  get(namespace: string, name: string): StoredPolicy | undefined;
  /** Whether a namespace has one: only there can the gang of a Pod be one that is prepared. */
  anyIn(namespace: string): boolean;
  /** The namespaces that have one of this name. Absent where that is nobody's to know. */
  elsewhere?(name: string): readonly string[];
  /**
   * A gang that names the policy and has Pods; undefined where none does. Absent where nobody knows.
   * @param mark only one whose Pods run by another mark than this
   */
  userOf?(namespace: string, name: string, mark?: string): string | undefined;
  /** A mark by which Pods of a gang run, other than this; undefined where none does. Absent where nobody knows. */
  otherMark?(namespace: string, gang: string, mark: string): string | undefined;
}

import type { JsonObject } from '../api/json.ts';
import type { HpcGang } from '../hpc/hosts.ts';
import type { HpcPolicy } from '../hpc/hpc-policy.ts';
import type { PodGangVerdict, Preparer } from './preparer.ts';

export type { HpcGang };

/**
 * A way in which an HPCPolicy has the Pods of a gang prepared. A gang has a backend, and as many of these as its policy asks
 * for. All of it is computation: what is known of the cluster is given.
 */
export interface Preparation {
  readonly name: string;
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
  /** A gang that names the policy and has Pods; undefined where none does. Absent where nobody knows. */
  userOf?(namespace: string, name: string): string | undefined;
}

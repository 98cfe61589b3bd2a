import type { FluxGang } from '../hpc/hosts.ts';
import type { HpcPolicy } from '../hpc/hpc-policy.ts';
import type { Preparer } from './preparer.ts';

/** A gang as far as its Pods and objects depend on it. */
export type HpcGang = FluxGang;

/** A way in which an HPCPolicy has the Pods of a gang prepared. A gang has a backend, and as many of these as its policy asks for. */
export interface Preparation {
  readonly name: string;
  /** What prepares the Pods of this gang; undefined where the policy does not ask for it. */
  preparer(gang: HpcGang, policy: HpcPolicy): Preparer | undefined;
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

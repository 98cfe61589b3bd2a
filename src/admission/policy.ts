import type { JsonObject } from '../json/json.ts';
import { TryLater } from '../errors.ts';
import type { Backend } from '../backends/backend.ts';
import type { BackendRegistry } from '../backends/registry.ts';
import type { Place, GangLookup } from '../backends/select.ts';
import type { PriorityClasses } from '../api/priority-class.ts';
import type { HpcPolicies, PreparerFactory } from '../preparers/preparer-factory.ts';
import type { Preparer } from '../preparers/preparer.ts';
import type { TopologyLevels } from '../gang/rules/check-topology.ts';
import type { GangKind } from '../workloads/kind.ts';

/** All that a decision depends on beside the request. Fixed at start, but for the placement. */
export interface Policy {
  readonly registry: BackendRegistry;
  /** Usernames that may take gates away and write references and Initialized. */
  readonly trustedAccounts: ReadonlySet<string>;
  /** Namespaces whose Pods are never touched: kube-system and Muster's own. */
  readonly exemptNamespaces: ReadonlySet<string>;
  readonly topology: TopologyLevels;
  /** Workloads whose Pods may ask for a gang. Absent: those that Muster knows. */
  readonly gangKinds?: readonly GangKind[];
  /** What an HPCPolicy may ask for beside what comes with Muster. */
  readonly preparations?: readonly PreparerFactory[];
  /** Who prepares a gang's Pods beside its backend, in their order. */
  readonly preparers?: readonly Preparer[];
  /** What the watches know, read from memory: it may change, and no decision waits for it. Absent: nothing. */
  readonly placement?: GangLookup | undefined;
  /**
   * Whether only API servers may ask, by their client certificate. Without it anybody who reaches the port may pretend to be
   * anybody in any namespace, and is told no names of what is there. Absent: they may.
   */
  readonly knowsCallers?: boolean;
  /** The HPCPolicies, read from memory like the placement. Absent: no gang is prepared by one. */
  readonly hpc?: HpcPolicies | undefined;
  /** The cluster's PriorityClasses, read from memory like the placement. Absent: nobody watches them. */
  readonly classes?: PriorityClasses | undefined;
  /**
   * Why nothing can be said for a backend yet, which is no fault of the object: it has not looked at the cluster. Absent
   * where nobody looks at one.
   */
  readonly notReady?: (backend: string) => string | undefined;
  /**
   * What would become of a gang that is only tried out: warnings, within this time. It does not reject. Absent: nothing is
   * said.
   */
  readonly preview?: ((tried: TriedOut, withinMs: number) => Promise<readonly string[]>) | undefined;
  /** What a backend outside of this process has said about the one object that is decided on. Absent: not asked yet. */
  readonly said?: Said;
  /** The warnings of {@link preview} for the one dry run that is decided on. Absent: not asked yet. */
  readonly forecast?: readonly string[];
}

/** A dry-run creation of a Pod or a PodGang. */
export interface TriedOut {
  readonly user: string;
  readonly namespace: string;
  readonly object: JsonObject;
}

/** An answer, and whose. */
interface Said {
  readonly of: Backend;
  readonly says: Backend;
  /** When it was asked for, by `performance.now()`. */
  readonly since: number;
}

/**
 * What a decision may need: where an object stands, what a backend or a preparation outside of this process says, or what a
 * forecast says of a dry run.
 */
export type DecisionNeed = Place | BackendNeed | PreparationNeed | ForecastNeed;

/** What a preparation says of the one object; the answer takes the place of the preparation. */
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

/** The answer of a backend, where it is one that had to be asked and was. */
export const answeringBackend = ({ said }: Policy, backend: Backend): Backend | undefined =>
  said?.of === backend ? said.says : undefined;

/** @throws {TryLater} where a backend is asked before it can know anything of the cluster */
export function checkReady({ notReady }: Policy, backend: string): void {
  const reason = notReady?.(backend);
  if (reason !== undefined) throw new TryLater('not-ready', reason);
}

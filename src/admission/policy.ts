import { TryLater } from '../errors.ts';
import type { BackendRegistry } from '../backends/registry.ts';
import type { Placement } from '../backends/select.ts';
import type { Preparer } from '../preparers/preparer.ts';
import type { TopologyLevels } from '../gang/rules/check-topology.ts';

/** All that a decision depends on beside the request. Fixed at start, but for the placement. */
export interface Policy {
  readonly registry: BackendRegistry;
  /** Usernames that may take gates away and write references and Initialized. */
  readonly trustedAccounts: ReadonlySet<string>;
  /** Namespaces whose Pods are never touched: kube-system and Muster's own. */
  readonly exemptNamespaces: ReadonlySet<string>;
  readonly topology: TopologyLevels;
  /** Who prepares a gang's Pods beside its backend, in their order. */
  readonly preparers?: readonly Preparer[];
  /** What the watches know, read from memory: it may change, and no decision waits for it. Absent: nothing. */
  readonly placement?: Placement | undefined;
  /**
   * Why nothing can be said for a backend yet, which is no fault of the object: it has not looked at the cluster. Absent
   * where nobody looks at one.
   */
  readonly notReady?: (backend: string) => string | undefined;
}

/** @throws {TryLater} where a backend is asked before it can know anything of the cluster */
export function checkReady({ notReady }: Policy, backend: string): void {
  const reason = notReady?.(backend);
  if (reason !== undefined) throw new TryLater('not-ready', reason);
}

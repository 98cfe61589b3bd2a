import type { Fault } from '../api/fault.ts';
import type { BackendRegistry } from '../backends/registry.ts';
import type { Place, Placement } from '../backends/select.ts';
import type { TopologyLevels } from '../gang/rules/check-topology.ts';
import type { Change } from './json-patch.ts';
import type { AdmissionRequest } from './review.ts';

/** What was decided about one request. A pure function of the request and the configuration. */
export interface Decision {
  /** Empty: allowed. */
  readonly faults: readonly Fault[];
  readonly changes: readonly Change[];
  readonly warnings: readonly string[];
  /** Names, for the log and the audit annotations; undefined where the object is none of Muster's business. */
  readonly backend: string | undefined;
  /** `namespace/name` of the PodGang. */
  readonly gang: string | undefined;
  /** What has to be read from the cluster first: this is no decision yet. Only where the placement can be asked. */
  readonly ask?: Place;
}

/** All that a decision depends on beside the request. Fixed at start, but for the placement. */
export interface Policy {
  readonly registry: BackendRegistry;
  /** Usernames that may take gates away and write references and Initialized. */
  readonly trustedAccounts: ReadonlySet<string>;
  /** Namespaces whose Pods are never touched: kube-system and Muster's own. */
  readonly exemptNamespaces: ReadonlySet<string>;
  readonly topology: TopologyLevels;
  /** What the watches know, read from memory: it may change, and no decision waits for it. Absent: nothing. */
  readonly placement?: Placement | undefined;
}

export type Decide = (request: AdmissionRequest, policy: Policy) => Decision;

const UNTOUCHED: Decision = { faults: [], changes: [], warnings: [], backend: undefined, gang: undefined };

/** Allowed as it is, and nothing to say. */
export const untouched = (): Decision => UNTOUCHED;

/** A decision of which only some parts are worth naming. */
export const decision = (parts: Partial<Decision>): Decision => ({ ...UNTOUCHED, ...parts });

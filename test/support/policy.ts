import type { JsonObject } from '../../src/json/json.ts';
import { GROVE_OPERATOR_USER, MUSTER_USER } from '../../src/api/names.ts';
import type { PriorityClasses } from '../../src/api/priority-class.ts';
import type { Policy } from '../../src/admission/policy.ts';
import type { BackendFactory } from '../../src/backends/backend.ts';
import type { GangLookup } from '../../src/backends/select.ts';
import { BackendRegistry, builtInBackends } from '../../src/backends/registry.ts';

export interface PolicyParts {
  readonly enabled?: readonly string[];
  readonly fallback?: string;
  readonly factories?: readonly BackendFactory[];
  readonly levels?: readonly string[];
  readonly placement?: GangLookup;
  readonly classes?: PriorityClasses;
  /** Of every profile. */
  readonly config?: JsonObject;
}

/** KAI refuses a gang that names no queue, which tests of other things need not know. */
const CONFIGS: Readonly<Record<string, JsonObject>> = { 'kai-scheduler': { queue: 'research' } };

/** A configuration with every backend enabled, `default-scheduler` as default and no topology. */
export function policy(parts: PolicyParts = {}): Policy {
  const factories = parts.factories ?? builtInBackends;
  const enabled = parts.enabled ?? factories.map((factory) => factory.name);
  const topology = { enabled: parts.levels !== undefined, keys: parts.levels ?? [] };
  return {
    registry: new BackendRegistry(
      enabled.map((name) => ({ name, config: parts.config ?? CONFIGS[name] ?? {} })),
      parts.fallback ?? enabled[0] ?? 'default-scheduler',
      { factories, topology },
    ),
    placement: parts.placement,
    classes: parts.classes,
    trustedAccounts: new Set([MUSTER_USER, GROVE_OPERATOR_USER]),
    exemptNamespaces: new Set(['kube-system', 'muster-system']),
    topology,
  };
}

import type { Policy } from '../../admission/policy.ts';
import { MUSTER_NAMESPACE, SYSTEM_NAMESPACE } from '../../api/names.ts';
import { BackendRegistry, builtInBackends } from '../../backends/registry.ts';
import type { BackendFactory } from '../../backends/backend.ts';
import type { OperatorConfiguration } from '../../config/configuration.ts';
import type { PreparerFactory } from '../../preparers/preparer-factory.ts';
import { gangKindsWith } from '../../workloads/configured-gangs.ts';
import { policyNameOf } from '../../preparers/policy/hpc-policy.ts';
import { HpcGangs } from '../gangs/hpc-gangs.ts';
import type { SourceObject } from './documents.ts';

/** What admission depends on that is in no configuration file. */
export interface PolicyContext {
  /** Where Muster itself runs: its own Pods are never held back by it. */
  readonly ownNamespace?: string;
  /** Another default backend than the configured one, enabled if it is not: for a preview. */
  readonly defaultBackend?: string;
  readonly factories?: readonly BackendFactory[];
  /** What an HPCPolicy may ask for beside what comes with Muster. */
  readonly preparations?: readonly PreparerFactory[];
}

/** The parts of a configuration that decisions are made of. */
export type PolicySettings = Pick<
  OperatorConfiguration,
  'schedulers' | 'trustedAccounts' | 'topologyAwareScheduling' | 'workloads'
>;

/** The namespaces none of whose Pods Muster evicts for a gang. */
export const neverEvictedFrom = (
  { preemption }: Pick<OperatorConfiguration, 'preemption'>,
  ownNamespace = MUSTER_NAMESPACE,
): readonly string[] => [...preemption.exemptNamespaces, ownNamespace];

/**
 * The policy of a configuration. The server and `muster review` both decide by this one, which is what makes the
 * preview true.
 * @throws MusterError BACKEND_UNSUPPORTED, BACKEND_CONTRACT, BACKEND_INIT_FAILED
 */
export function policyFrom(configuration: PolicySettings, context: PolicyContext = {}): Policy {
  const { schedulers, trustedAccounts, topologyAwareScheduling, workloads } = configuration;
  const {
    ownNamespace = MUSTER_NAMESPACE,
    defaultBackend,
    factories = builtInBackends,
    preparations,
  } = context;
  const profiles =
    defaultBackend === undefined || schedulers.profiles.some(({ name }) => name === defaultBackend)
      ? schedulers.profiles
      : [...schedulers.profiles, { name: defaultBackend }];
  const topology = {
    enabled: topologyAwareScheduling.enabled,
    keys: topologyAwareScheduling.levels.map((level) => level.key),
  };
  const fallback = defaultBackend ?? schedulers.defaultProfileName;
  return {
    registry: new BackendRegistry(profiles, fallback, { factories, topology }),
    trustedAccounts: new Set(trustedAccounts),
    exemptNamespaces: new Set([SYSTEM_NAMESPACE, ownNamespace]),
    topology,
    gangKinds: gangKindsWith(workloads),
    ...(preparations && { preparations }),
  };
}

/**
 * The policy with what a cluster would know once all of the input is applied: its HPCPolicies, and the gangs that name one.
 * The order in which they are given does not matter.
 * @param namespace of objects that name none
 */
export function withGiven(policy: Policy, sources: readonly SourceObject[], namespace: string): Policy {
  const given = new HpcGangs(namespace, policy.preparations);
  for (const source of sources) given.add(source);
  const gangs = new Map([...given.gangs].filter(([, gang]) => policyNameOf(gang) !== undefined));
  if (gangs.size === 0) return policy;
  const { policies } = given;
  return {
    ...policy,
    placement: {
      ofGang: () => undefined,
      ofNamespace: () => undefined,
      gang: (of, name) => gangs.get(`${of}/${name}`),
    },
    hpc: {
      known: true,
      get: (of, name) => policies.get(`${of}/${name}`),
      anyIn: () => false,
      elsewhere: (name) =>
        Array.from(policies.values(), ({ policy: one }) => one).flatMap((one) =>
          one.name === name ? one.namespace : [],
        ),
    },
  };
}

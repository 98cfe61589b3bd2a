import type { Policy } from '../../admission/policy.ts';
import { MUSTER_NAMESPACE, SYSTEM_NAMESPACE } from '../../api/names.ts';
import { BackendRegistry, builtInBackends } from '../../backends/registry.ts';
import type { BackendFactory } from '../../backends/backend.ts';
import type { OperatorConfiguration } from '../../config/configuration.ts';
import type { PreparerFactory } from '../../preparers/preparer-factory.ts';
import { gangKindsWith } from '../../workloads/configured-gangs.ts';
import { policyNameOf } from '../../preparers/policy/hpc-policy.ts';
import { HpcGangs } from '../gangs/hpc-gangs.ts';
import type { SourceObject } from './source-object.ts';

/** Inputs of admission beside the configuration file. */
export interface PolicyContext {
  /** Namespace of Muster itself, which admission exempts, so that Muster's own Pods are never gated. */
  readonly ownNamespace?: string;
  /** Another default backend than the configured one, which is enabled if it is not: for `muster review`. */
  readonly defaultBackend?: string;
  readonly factories?: readonly BackendFactory[];
  /** Preparers of modules that an HPCPolicy may ask for, beside the built-in ones. */
  readonly preparations?: readonly PreparerFactory[];
}

/** The settings that admission depends on. */
export type PolicySettings = Pick<
  OperatorConfiguration,
  'schedulers' | 'trustedAccounts' | 'topologyAwareScheduling' | 'workloads'
>;

/** The namespaces from which Muster never evicts a Pod for a gang. */
export const neverEvictedFrom = (
  { preemption }: Pick<OperatorConfiguration, 'preemption'>,
  ownNamespace = MUSTER_NAMESPACE,
): readonly string[] => [...preemption.exemptNamespaces, ownNamespace];

/**
 * The policy of a configuration. The server and `muster review` share this function, so that the preview is true.
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
 * The policy with the input's HPCPolicies and with the gangs that name one, as a cluster would have them once all is
 * applied. The order of the input does not matter.
 * @param namespace of objects without one
 */
export function withGiven(policy: Policy, sources: Iterable<SourceObject>, namespace: string): Policy {
  const given = new HpcGangs(namespace, policy.preparations);
  for (const source of sources) given.add(source);
  const gangs = new Map([...given.gangs].filter(([, gang]) => policyNameOf(gang) !== undefined));
  const { policies } = given;
  if (gangs.size === 0 && policies.size === 0) return policy;
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

import type { Policy } from '../../admission/policy.ts';
import { ownString, own } from '../../api/json.ts';
import {
  ANNOTATION_HPC_POLICY,
  HPC_POLICY_API_VERSION,
  HPC_POLICY_KIND,
  POD_GANG_API_VERSION,
  POD_GANG_KIND,
} from '../../api/names.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { parsePodGang } from '../../gang/parse-pod-gang.ts';
import { parseHpcPolicy } from '../../hpc/hpc-policy.ts';
import type { StoredPolicy } from '../../preparers/preparation.ts';
import type { SourceObject } from '../input/documents.ts';

/** Objects by namespace and name; of two of one name the later one holds, as it would be applied last. */
type ByName<T> = ReadonlyMap<string, T>;

/**
 * The policy with what a cluster would know once all of the input is applied: its HPCPolicies, and the gangs that name one.
 * The order in which they are given does not matter.
 * @param namespace of objects that name none
 */
export function withGiven(policy: Policy, sources: readonly SourceObject[], namespace: string): Policy {
  const gangs = gangsIn(sources, namespace);
  if (gangs.size === 0) return policy;
  const policies = policiesIn(sources, namespace);
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

function gangsIn(sources: readonly SourceObject[], namespace: string): ByName<PodGang> {
  const gangs = new Map<string, PodGang>();
  for (const { object } of sources) {
    if (!isKind(object, POD_GANG_API_VERSION, POD_GANG_KIND)) continue;
    const { gang } = parsePodGang(object, namespaceOf(object, namespace));
    if (gang.annotations.has(ANNOTATION_HPC_POLICY)) gangs.set(`${gang.namespace}/${gang.name}`, gang);
  }
  return gangs;
}

function policiesIn(sources: readonly SourceObject[], namespace: string): ByName<StoredPolicy> {
  const policies = new Map<string, StoredPolicy>();
  for (const { object } of sources) {
    if (!isKind(object, HPC_POLICY_API_VERSION, HPC_POLICY_KIND)) continue;
    const { policy, faults } = parseHpcPolicy(object, namespaceOf(object, namespace));
    policies.set(`${policy.namespace}/${policy.name}`, { policy, wrong: faults[0]?.field });
  }
  return policies;
}

const isKind = (object: SourceObject['object'], apiVersion: string, kind: string): boolean =>
  ownString(object, 'apiVersion') === apiVersion && ownString(object, 'kind') === kind;

const namespaceOf = (object: SourceObject['object'], otherwise: string): string =>
  ownString(own(object, 'metadata'), 'namespace') || otherwise;

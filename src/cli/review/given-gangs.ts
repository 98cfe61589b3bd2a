import type { Policy } from '../../admission/policy.ts';
import { policyNameOf } from '../../preparers/policy/hpc-policy.ts';
import { HpcGangs } from '../gangs/hpc-gangs.ts';
import type { SourceObject } from '../input/documents.ts';

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

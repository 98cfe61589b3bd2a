import type { Policy } from '../src/admission/decision.ts';
import { endpoints, type Endpoint } from '../src/admission/endpoints.ts';
import { PATH_MUTATE_POD } from '../src/api/names.ts';
import { BackendRegistry, type BackendProfile } from '../src/backends/registry.ts';

/** What a Pod's CREATE is decided by. */
export const mutatePodEndpoint = endpoints.find(({ path }) => path === PATH_MUTATE_POD) as Endpoint;

/** A configuration with one backend, of which nobody has asked a cluster. */
export function decisionPolicy(profile: BackendProfile): Policy {
  return {
    registry: new BackendRegistry([profile], profile.name),
    trustedAccounts: new Set(),
    exemptNamespaces: new Set(['kube-system']),
    topology: { enabled: false, keys: [] },
  };
}

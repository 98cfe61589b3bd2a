import type { JsonObject } from '../../json/json.ts';
import { parseGroupVersion } from '../../k8s/resource.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import type { Resource, Target } from '../../kube/client/resources.ts';

const policy = (kind: string, plural: string, namespaced: boolean): Resource => ({
  ...{ group: 'policy.karmada.io', version: 'v1alpha1' },
  ...{ kind, plural, namespaced },
});
export const PROPAGATION_POLICIES = policy('PropagationPolicy', 'propagationpolicies', true);
export const CLUSTER_PROPAGATION_POLICIES = policy(
  'ClusterPropagationPolicy',
  'clusterpropagationpolicies',
  false,
);

interface Discovered {
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
  }[];
}

/** Finds out under which name the API server serves a kind. What it serves is not asked twice. */
export function kindFinder(
  client: KubeClient,
): (apiVersion: string, kind: string, signal: AbortSignal) => Promise<Resource | undefined> {
  const known = new Map<string, Resource>();
  return async (apiVersion, kind, signal) => {
    const title = `${apiVersion} ${kind}`;
    const before = known.get(title);
    if (before !== undefined) return before;
    const { group, version } = parseGroupVersion(apiVersion);
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const { resources = [] } = await client.read<Discovered>(path, { signal }).catch((error: unknown) => {
      if (isNotFound(error)) return { resources: [] };
      throw error;
    });
    const found = resources.find((one) => one.kind === kind && !one.name.includes('/'));
    if (found === undefined) return undefined;
    const resource = { group, version, kind, plural: found.name, namespaced: found.namespaced };
    known.set(title, resource);
    return resource;
  };
}

/** undefined where it does not exist. */
export async function readIfThere(
  client: KubeClient,
  target: Target,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  try {
    return await client.get<JsonObject>(target, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

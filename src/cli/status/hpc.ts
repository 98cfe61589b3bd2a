import type { JsonObject } from '../../json/json.ts';
import { HPC_POLICY_GROUP } from '../../api/names.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { BY_GANG, type GangView } from '../../controller/watch/gang-view.ts';
import { parseHpcPolicy, policyNameOf } from '../../preparers/policy/hpc-policy.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isForbidden, isNotFound } from '../../kube/client/errors.ts';
import { HPC_POLICIES } from '../../kube/client/resources.ts';
import { keyOf } from '../../kube/loop/cache.ts';
import { hpcStatusOf, type FoundPolicy, type HpcStatus } from './brokers.ts';
import type { GangStatus } from './gang-status.ts';

/** How a gang that names an HPCPolicy stands under it; undefined for any other. One read of the policy. */
export async function hpcOf(
  client: KubeClient,
  view: GangView,
  { namespace, name, pods: states }: GangStatus,
): Promise<HpcStatus | undefined> {
  const gang = view.gangs.get(namespace, name);
  const named = gang && policyNameOf(gang);
  if (gang === undefined || named === undefined) return undefined;
  const pods = view.pods.byIndex(BY_GANG, keyOf(namespace, name));
  return hpcStatusOf(gang, named, await find(client, gang, named), { pods, states });
}

async function find(client: KubeClient, { namespace }: PodGang, name: string): Promise<FoundPolicy> {
  try {
    const found = await client.get<JsonObject>({ resource: HPC_POLICIES, namespace, name });
    const { policy, faults } = parseHpcPolicy(found, namespace, 'any');
    return { policy, wrong: faults[0]?.field };
  } catch (error) {
    if (isNotFound(error)) return 'missing';
    if (!isForbidden(error)) throw error;
    const right = `${HPC_POLICIES.plural}.${HPC_POLICY_GROUP}`;
    return { unread: `HPCPolicy ${name} is not known: it takes the right to get ${right} in ${namespace}` };
  }
}

import type { Client } from '../../test/cluster/control-plane/client.ts';
import { applyAll, untilEstablished } from '../../test/cluster/support/apply.ts';
import { shippedPolicies } from '../../test/cluster/support/shipped-policies.ts';
import { accountManifests, manifestsIn, webhookConfigurations } from '../../test/support/manifests.ts';

/**
 * The manifests of a checkout, as `kubectl apply` brings them: definitions, account and rights, policies, webhooks. The
 * webhooks lead to the balancer, since outside of a cluster there is no Service.
 */
export async function install(
  client: Client,
  given: { readonly root: string; readonly port: number; readonly bundle: string },
): Promise<void> {
  const { root } = given;
  const definitions = await manifestsIn('crds', root);
  await applyAll(client, [...definitions, ...(await accountManifests([], root)), ...shippedPolicies(root)]);
  await untilEstablished(client, definitions);
  await trust(client, given);
}

/** Writes the caBundles of the webhooks. */
export const trust = async (
  client: Client,
  { root, port, bundle }: { readonly root: string; readonly port: number; readonly bundle: string },
): Promise<void> => applyAll(client, await webhookConfigurations(port, bundle, root));

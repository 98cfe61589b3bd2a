import type { Client } from '../control-plane/client.ts';

interface Configuration {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly webhooks: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
}

/**
 * Does what cert-manager's cainjector does, until it is told to end: the CA goes into every caBundle of Muster's webhook
 * configurations that ask for it by their annotation, and comes again where somebody else has written one.
 */
export function playedCainjector(client: Client, ca: string): () => void {
  const value = Buffer.from(ca).toString('base64');
  const look = async (kind: string): Promise<void> => {
    const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations/muster`;
    const { metadata, webhooks } = await client.ok<Configuration>('GET', path);
    if (metadata.annotations?.['cert-manager.io/inject-ca-from'] === undefined) return;
    const patch = webhooks.flatMap(({ clientConfig }, at) =>
      clientConfig.caBundle === value
        ? []
        : [{ op: 'add', path: `/webhooks/${at}/clientConfig/caBundle`, value }],
    );
    const query = { fieldManager: 'cert-manager-cainjector' };
    if (patch.length > 0) await client.ok('PATCH', path, patch, { query });
  };
  const timer = setInterval(() => {
    for (const kind of ['mutating', 'validating']) void look(kind).catch(() => undefined);
  }, 200);
  return () => clearInterval(timer);
}

import { readFile, writeFile } from 'node:fs/promises';
import { parse, stringify } from 'yaml';

/** How a kubeconfig of ours proves who its user is. PEM texts, not files: a kubeconfig stands alone. */
export type Identity = { readonly token: string } | { readonly certificate: string; readonly key: string };

export interface Access {
  readonly url: string;
  /** PEM certificate(s) that the server's certificate is checked against. */
  readonly ca: string;
  readonly identity: Identity;
}

/** Writes a kubeconfig (YAML, readable by its owner only) with one context, and gives its path back. */
export async function writeKubeconfig(path: string, { url, ca, identity }: Access): Promise<string> {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'muster', cluster: { server: url, 'certificate-authority-data': base64(ca) } }],
    users: [
      {
        name: 'user',
        user:
          'token' in identity
            ? { token: identity.token }
            : {
                'client-certificate-data': base64(identity.certificate),
                'client-key-data': base64(identity.key),
              },
      },
    ],
    contexts: [{ name: 'muster', context: { cluster: 'muster', user: 'user' } }],
    'current-context': 'muster',
  };
  await writeFile(path, stringify(config, { lineWidth: 0 }), { mode: 0o600 });
  return path;
}

/** Reads a kubeconfig that `writeKubeconfig` wrote; it understands no other forms. */
export async function readKubeconfig(path: string): Promise<Access> {
  const config = parse(await readFile(path, 'utf8')) as {
    clusters?: { cluster: { server: string; 'certificate-authority-data': string } }[];
    users?: { user: { token?: string; 'client-certificate-data'?: string; 'client-key-data'?: string } }[];
  };
  const cluster = config.clusters?.[0]?.cluster;
  const user = config.users?.[0]?.user;
  if (!cluster || !user) throw new Error(`${path} is not a kubeconfig of a test control plane`);
  return {
    url: cluster.server,
    ca: text(cluster['certificate-authority-data']),
    identity:
      user.token === undefined
        ? { certificate: text(user['client-certificate-data']), key: text(user['client-key-data']) }
        : { token: user.token },
  };
}

function base64(pem: string): string {
  return Buffer.from(pem).toString('base64');
}

function text(encoded = ''): string {
  return Buffer.from(encoded, 'base64').toString();
}

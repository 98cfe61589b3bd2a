import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClientAuthority } from './certificates.ts';
import type { ClientAuthority } from './certificates.ts';

/** Everything secret that a control plane is started with, each as a file in its `credentials` folder. */
export interface Credentials {
  readonly folder: string;
  /** EC key (PKCS#8 PEM) with which the API server signs service account tokens, and its public half. */
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
  /** Certificate of the authority of client certificates. */
  readonly clientCaFile: string;
  readonly clientAuthority: ClientAuthority;
  /** With which all programs serve: the certificate, followed by that of its authority, and its key. */
  readonly serving: { readonly certificateFile: string; readonly keyFile: string };
  /** The API server's `--token-auth-file`. */
  readonly tokenFile: string;
  readonly tokens: Readonly<Record<'admin' | 'scheduler' | 'controllerManager', string>>;
}

export async function createCredentials(dir: string): Promise<Credentials> {
  const folder = join(dir, 'credentials');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const write = async (name: string, content: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, content, { mode: 0o600 });
    return path;
  };
  const serviceAccounts = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const clientAuthority = await createClientAuthority();
  const serving = clientAuthority.issueServing();
  const tokens = { admin: token(), scheduler: token(), controllerManager: token() };
  return {
    folder,
    serviceAccountKey: await write('service-account.key', serviceAccounts.privateKey),
    serviceAccountPublicKey: await write('service-account.pub', serviceAccounts.publicKey),
    clientCaFile: await write('client-ca.crt', clientAuthority.certificate),
    clientAuthority,
    serving: {
      certificateFile: await write('serving.crt', serving.certificate),
      keyFile: await write('serving.key', serving.key),
    },
    // The two components get the users that the bootstrap RBAC rules are written for, no more.
    tokenFile: await write(
      'tokens.csv',
      [
        `${tokens.admin},admin,admin,"system:masters"`,
        `${tokens.scheduler},system:kube-scheduler,scheduler`,
        `${tokens.controllerManager},system:kube-controller-manager,controller-manager`,
        '',
      ].join('\n'),
    ),
    tokens,
  };
}

function token(): string {
  return randomBytes(24).toString('hex');
}

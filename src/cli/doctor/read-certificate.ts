import { connect, type DetailedPeerCertificate } from 'node:tls';
import { isIP } from 'node:net';
import { own, ownList, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { messageOf } from '../../errors.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { SECRETS, type Resource } from '../../kube/client/resources.ts';
import { serverNameOf, type ServedCertificate } from './check-certificate.ts';
import type { RegisteredWebhook } from './check-webhooks.ts';
import { attempt, found, unread, type Read } from './diagnosis.ts';

const HANDSHAKE_MS = 2_000;
/**
 * Number of addresses to try: all replicas serve the same certificate, and each address that is gone costs a full timeout.
 */
const MAX_ADDRESSES = 3;

const SLICES: Resource = {
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
};

interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * The certificate that Muster serves: by a TLS handshake where this machine reaches a URL or the Pods' network, else from
 * the Secret that the Deployment mounts, or in which Muster keeps it (`kept`).
 */
export async function readServedCertificate(
  client: KubeClient,
  webhooks: readonly RegisteredWebhook[],
  secret: { readonly namespace: string; readonly name: string; readonly kept: boolean },
): Promise<Read<ServedCertificate>> {
  const addresses = await addressesOf(client, webhooks);
  const reasons: string[] = [];
  for (const { host, port } of addresses.slice(0, MAX_ADDRESSES)) {
    try {
      const chain = await shownBy({ host, port }, webhooks);
      return found({ chain, from: `the certificate of ${host}:${port}` });
    } catch (thrown) {
      reasons.push(`${host}:${port}: ${messageOf(thrown)}`);
    }
  }
  const read = await attempt(() =>
    client.get<JsonObject>({ resource: SECRETS, namespace: secret.namespace, name: secret.name }),
  );
  if (read.state === 'found') {
    const data = ownString(ownObject(read.value, 'data'), 'tls.crt') ?? '';
    if (data === '' && secret.kept)
      return unread(
        [...reasons, `the Secret ${secret.namespace}/${secret.name} has no tls.crt yet`].join('; '),
      );
    const chain = Buffer.from(data, 'base64').toString('latin1');
    return found({ chain, from: `tls.crt of the Secret ${secret.namespace}/${secret.name}` });
  }
  if (read.state === 'absent' && addresses.length === 0) return read;
  const why = read.state === 'unread' ? read.reason : `there is no Secret ${secret.namespace}/${secret.name}`;
  return unread([...reasons, why].join('; '));
}

async function addressesOf(client: KubeClient, webhooks: readonly RegisteredWebhook[]): Promise<Address[]> {
  const [first] = webhooks;
  const target = ownObject(first?.webhook, 'clientConfig');
  const url = ownString(target, 'url');
  if (url !== undefined && URL.canParse(url)) {
    const { hostname, port } = new URL(url);
    return [{ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) }];
  }
  const service = ownObject(target, 'service');
  const [name, namespace] = [ownString(service, 'name'), ownString(service, 'namespace')];
  if (name === undefined || namespace === undefined) return [];
  const labelSelector = `kubernetes.io/service-name=${name}`;
  const slices = await attempt(() => client.list<JsonObject>(SLICES, { namespace, labelSelector }));
  return slices.state === 'found' ? slices.value.items.flatMap(readyAddresses) : [];
}

function readyAddresses(slice: JsonObject): Address[] {
  const port = own((ownList(slice, 'ports') ?? [])[0] ?? null, 'port');
  if (typeof port !== 'number') return [];
  return (ownList(slice, 'endpoints') ?? [])
    .filter((endpoint) => own(ownObject(endpoint, 'conditions'), 'ready') !== false)
    .flatMap((endpoint) => ownList(endpoint, 'addresses') ?? [])
    .flatMap((host) => (typeof host === 'string' ? [{ host, port }] : []));
}

/** PEM of the certificates that the server sends. The handshake verifies nothing: check-certificate.ts does that. */
const shownBy = (address: Address, webhooks: readonly RegisteredWebhook[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const name = webhooks.map(({ webhook }) => serverNameOf(webhook)).find((one) => one !== undefined);
    const socket = connect({
      ...address,
      ...(name === undefined || isIP(name) !== 0 ? {} : { servername: name }),
      rejectUnauthorized: false,
      timeout: HANDSHAKE_MS,
    });
    socket.once('secureConnect', () => {
      const leaf = socket.getPeerCertificate(true);
      // Node returns an empty object where the server sends no certificate.
      if (Object.hasOwn(leaf, 'raw')) resolve(pemOf(leaf));
      else reject(new Error('it shows no certificate'));
      socket.destroy();
    });
    socket.once('timeout', () => socket.destroy(new Error('no answer in time'))).once('error', reject);
  });

function pemOf(leaf: DetailedPeerCertificate): string {
  const seen = new Set<string>();
  const blocks: string[] = [];
  // A root certificate is its own issuer.
  for (let one: DetailedPeerCertificate | undefined = leaf; one && !seen.has(one.fingerprint256);) {
    seen.add(one.fingerprint256);
    const base64 = one.raw.toString('base64').replace(/(.{64})(?=.)/g, '$1\n');
    blocks.push(`-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`);
    one = one.issuerCertificate;
  }
  return blocks.join('');
}

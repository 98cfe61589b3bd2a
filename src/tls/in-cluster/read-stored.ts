import { X509Certificate, createPrivateKey } from 'node:crypto';
import { isIP } from 'node:net';
import { own, ownList, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { isIssuedBy } from '../chain.ts';
import type { Issued } from '../issue.ts';
import type {
  ServedLeaf,
  SignedLeaf,
  Stored,
  StoredConfiguration,
  StoredSecret,
  StoredWebhook,
  TrustedCa,
} from './state.ts';

/** Keys of the Secret. Those of the leaf are called as in a Secret of type kubernetes.io/tls. */
export const SECRET_KEYS = {
  current: { certificate: 'ca.crt', key: 'ca.key' },
  next: { certificate: 'next-ca.crt', key: 'next-ca.key' },
  leaf: { certificate: 'tls.crt', key: 'tls.key' },
} as const;
/** How the names of the CAs begin that Muster makes. */
export const OWN_CA = 'Muster CA';
export type SecretSlot = keyof typeof SECRET_KEYS;

/** Everything that was read, with the keys, which the state machine does not need. */
export interface ReadStored {
  readonly stored: Stored;
  /** PEM of the slots whose certificate and key belong together. */
  readonly issued: Readonly<Record<SecretSlot, Issued | undefined>>;
  /** Slots that hold something else, each with what. */
  readonly damaged: readonly string[];
  /** The leaf in service, by what is stored now. */
  readonly served: ServedLeaf | undefined;
  /** The leaf of the Secret with its CAs, for the replica that puts it into service. */
  readonly certificates: ServedCertificates | undefined;
}

/** A leaf in service, and the CAs that signed it. */
export interface ServedCertificates {
  readonly leaf: X509Certificate;
  readonly cas: readonly X509Certificate[];
}

/** Annotations by which cert-manager is asked to write the caBundles. */
const INJECTORS = [
  'cert-manager.io/inject-ca-from',
  'cert-manager.io/inject-ca-from-secret',
  'cert-manager.io/inject-apiserver-ca',
];

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Reads the Secret and the webhook configurations as the API server sent them. Damaged parts are left out, never thrown: the
 * state machine makes them anew.
 * @param serverName the name that API servers call
 */
export function readStored(
  secret: JsonObject | undefined,
  configurations: readonly JsonObject[],
  { serverName, served }: { readonly serverName: string; readonly served: ServedCertificates | undefined },
): ReadStored {
  const slots = Object.fromEntries(
    Object.keys(SECRET_KEYS).map((slot) => [slot, secret && readSlot(secret, slot as SecretSlot)]),
  ) as Record<SecretSlot, ReadSlot | undefined>;
  const known = new Map(served?.cas.map((ca) => [ca.fingerprint256, ca]));
  for (const slot of ['current', 'next'] as const) {
    const { certificate } = slots[slot] ?? {};
    if (certificate !== undefined) known.set(certificate.fingerprint256, certificate);
  }
  const read = configurations.map((configuration) => readConfiguration(configuration, known));
  const leaf = slots.leaf?.certificate;
  const leafOf = (certificate: X509Certificate): SignedLeaf => readLeaf(certificate, known, serverName);
  const servedLeaf = served && leafOf(served.leaf);
  return {
    stored: {
      secret:
        secret &&
        ({
          current: caOf(slots.current?.certificate),
          next: caOf(slots.next?.certificate),
          leaf: leaf && leafOf(leaf),
        } satisfies StoredSecret),
      configurations: read,
    },
    issued: { current: slots.current?.issued, next: slots.next?.issued, leaf: slots.leaf?.issued },
    damaged: Object.values(slots).flatMap((slot) => slot?.damage ?? []),
    served: servedLeaf && { leaf: servedLeaf, cas: caOfAll(servedLeaf.signers, known) },
    certificates: leaf && { leaf, cas: leafOf(leaf).signers.flatMap((id) => known.get(id) ?? []) },
  };
}

interface ReadSlot {
  readonly certificate?: X509Certificate;
  readonly issued?: Issued;
  readonly damage?: string;
}

function readSlot(secret: JsonObject, slot: SecretSlot): ReadSlot {
  const names = SECRET_KEYS[slot];
  const data = ownObject(secret, 'data');
  const text = (name: string): string =>
    Buffer.from(ownString(data, name) ?? '', 'base64').toString('latin1');
  const [pem, key] = [text(names.certificate), text(names.key)];
  if (pem === '' && key === '') return {};
  try {
    const certificate = new X509Certificate(pem);
    if (!certificate.checkPrivateKey(createPrivateKey(key)))
      return { damage: `${names.key} is not the key of ${names.certificate}` };
    if (certificate.ca !== (slot !== 'leaf'))
      return { damage: `${names.certificate} is ${certificate.ca ? 'a' : 'no'} CA` };
    return { certificate, issued: { certificate: pem, key } };
  } catch {
    return { damage: `${names.certificate} or ${names.key} is not PEM` };
  }
}

function readConfiguration(
  configuration: JsonObject,
  known: Map<string, X509Certificate>,
): StoredConfiguration {
  const metadata = own(configuration, 'metadata');
  const annotations = ownObject(metadata, 'annotations');
  return {
    name: `${ownString(configuration, 'kind') ?? ''} ${ownString(metadata, 'name') ?? ''}`,
    webhooks: (ownList(configuration, 'webhooks') ?? []).map((webhook): StoredWebhook => {
      const encoded = ownString(own(webhook, 'clientConfig'), 'caBundle') ?? '';
      return { name: ownString(webhook, 'name') ?? '', trusts: readBundle(encoded, known) };
    }),
    injector: INJECTORS.find((name) => ownString(annotations, name) !== undefined),
  };
}

function readBundle(encoded: string, known: Map<string, X509Certificate>): readonly TrustedCa[] {
  const blocks = Buffer.from(encoded, 'base64').toString('latin1').match(PEM_CERTIFICATE) ?? [];
  const unique = new Map<string, TrustedCa>();
  for (const block of blocks) {
    try {
      const certificate = new X509Certificate(block);
      known.set(certificate.fingerprint256, certificate);
      const ca = caOf(certificate);
      if (ca !== undefined) unique.set(ca.id, ca);
    } catch {
      // An API server passes over such a block, too.
    }
  }
  return [...unique.values()];
}

/** The text of a caBundle. */
export const bundleText = (cas: readonly TrustedCa[]): string =>
  Buffer.from(cas.map(({ pem }) => pem).join('')).toString('base64');

function caOf(certificate: X509Certificate | undefined): TrustedCa | undefined {
  return certificate && { ...factsOf(certificate), pem: certificate.toString() };
}

const caOfAll = (ids: readonly string[], known: ReadonlyMap<string, X509Certificate>): readonly TrustedCa[] =>
  ids.flatMap((id) => caOf(known.get(id)) ?? []);

const factsOf = (certificate: X509Certificate) => ({
  id: certificate.fingerprint256,
  notBefore: certificate.validFromDate.getTime(),
  notAfter: certificate.validToDate.getTime(),
});

function readLeaf(
  leaf: X509Certificate,
  known: ReadonlyMap<string, X509Certificate>,
  serverName: string,
): SignedLeaf {
  const options = { subject: 'never', partialWildcards: false } as const;
  const fits = isIP(serverName) === 0 ? leaf.checkHost(serverName, options) : leaf.checkIP(serverName);
  return {
    ...factsOf(leaf),
    signers: [...known].flatMap(([id, ca]) => (isIssuedBy(leaf, ca) ? [id] : [])),
    fits: fits !== undefined,
  };
}

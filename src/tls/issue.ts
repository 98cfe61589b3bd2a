import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { altNameOf, signedCertificate } from './x509.ts';

/** A certificate and its key, both PEM. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

/** Start and length of the validity, in days of 24 hours. */
export interface Validity {
  readonly now: Date;
  readonly days: number;
  /** How long before `now` (ms) the certificate is valid already, for clocks that lag behind. Default five minutes. */
  readonly backdatedMs?: number | undefined;
}

export interface DevelopmentCertificates extends Issued {
  readonly caCertificate: string;
}

const CLOCK_SKEW_MS = 5 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;
/** X.520's upper bound of a common name; a longer name is put into the subject alternative name only. */
const MAX_COMMON_NAME = 64;

/**
 * Issues a CA and one serving certificate under it, with the same validity. The CA's key is discarded, so no other
 * certificate can ever be issued by it: each further certificate needs a new CA.
 */
export const issueDevelopmentCertificates = async ({
  dnsNames,
  days,
  now,
}: Validity & { readonly dnsNames: readonly string[] }): Promise<DevelopmentCertificates> => {
  const authority = await issueAuthority({ commonName: 'Muster development CA', days, now });
  const leaf = await issueServingCertificate({ authority, dnsNames, days, now });
  return { caCertificate: authority.certificate, ...leaf };
};

/** Issues a CA; with `issuedBy` an intermediate one. `pathLength` is the number of further CAs allowed below it. */
export const issueAuthority = ({
  commonName,
  pathLength = 0,
  issuedBy,
  ...validity
}: Validity & {
  readonly commonName: string;
  readonly pathLength?: number;
  readonly issuedBy?: Issued;
}): Promise<Issued> =>
  issue({
    ...validity,
    commonName,
    issuedBy,
    extensions: [
      { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: pathLength },
      { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
    ],
  });

/** Issues a server certificate, for IP addresses among `dnsNames` too. Without an authority it is self-signed. */
export const issueServingCertificate = ({
  authority,
  dnsNames,
  ...validity
}: Validity & { readonly authority?: Issued; readonly dnsNames: readonly string[] }): Promise<Issued> =>
  issue({
    ...validity,
    commonName: dnsNames.find((name) => name.length <= MAX_COMMON_NAME) ?? 'muster',
    issuedBy: authority,
    extensions: [
      ...endEntity,
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: dnsNames.map(altNameOf) },
    ],
  });

const endEntity = [
  { name: 'basicConstraints', critical: true, cA: false },
  { name: 'keyUsage', critical: true, digitalSignature: true },
];

interface Order extends Validity {
  readonly commonName: string;
  /** Absent: the certificate is signed with its own key. */
  readonly issuedBy: Issued | undefined;
  readonly extensions: readonly object[];
}

const generateKeys = promisify(generateKeyPair);

/** Keys are ECDSA P-256: a handshake's signature takes 0.03 ms of the event loop, with RSA of 2048 bits 0.9. */
const issue = async ({
  commonName,
  issuedBy,
  extensions,
  now,
  days,
  backdatedMs = CLOCK_SKEW_MS,
}: Order): Promise<Issued> => {
  const keys = await generateKeys('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const certificate = signedCertificate({
    commonName,
    notBefore: new Date(now.getTime() - backdatedMs),
    notAfter: new Date(now.getTime() + days * DAY_MS),
    extensions,
    publicKey: keys.publicKey,
    signedWith: issuedBy?.key ?? keys.privateKey,
    issuer: issuedBy?.certificate,
  });
  return { certificate, key: keys.privateKey };
};

import { generateKeyPair, randomBytes, sign as signBytes } from 'node:crypto';
import { promisify } from 'node:util';
import forge from 'node-forge';

/** Certificates stay valid for a day; they never leave the folder of one control plane. */
const DAY = 24 * 3_600_000;

/** As X.509 numbers alternative names: 2 is a DNS name, 7 an address. */
const LOOPBACK = [
  { type: 2, value: 'localhost' },
  { type: 7, ip: '127.0.0.1' },
];

const newKeyPair = promisify(generateKeyPair);

/** PEM, both. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate authority whose clients the API server believes: whoever holds its certificate is who it says. */
export interface ClientAuthority {
  readonly certificate: string;
  /** Of a user in the given groups. */
  issue(user: string, groups: readonly string[]): Issued;
  /** Of a server on loopback, the authority behind it. */
  issueServing(): Issued;
}

/**
 * Client certificates, and not impersonation headers, are how tests become other users: every client understands them
 * in a kubeconfig, and authorization, admission and the audit log see that user and nobody else.
 */
export async function createClientAuthority(): Promise<ClientAuthority> {
  // One RSA key pair serves the authority and all its clients: making keys takes the time, and nothing here is secret.
  const { privateKey, publicKey } = await newKeyPair('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  const subjectKey = forge.pki.publicKeyFromPem(publicKey);
  const issuer = [attribute('commonName', 'muster-test')];

  const sign = (subject: forge.pki.CertificateField[], extensions: object[]): string => {
    const certificate = forge.pki.createCertificate();
    certificate.publicKey = subjectKey;
    // The leading 01 keeps the number positive, as X.509 wants it.
    certificate.serialNumber = `01${randomBytes(15).toString('hex')}`;
    certificate.validity.notBefore = new Date(Date.now() - DAY);
    certificate.validity.notAfter = new Date(Date.now() + DAY);
    certificate.setSubject(subject);
    certificate.setIssuer(issuer);
    certificate.setExtensions(extensions);
    // Forge puts the certificate together, Node signs it: forge's own arithmetic takes a second a signature under Jest.
    const signer = {
      sign: () => signBytes('sha256', derOf(certificate), privateKey).toString('binary'),
    };
    certificate.sign(signer as unknown as forge.pki.rsa.PrivateKey, forge.md.sha256.create());
    return forge.pki.certificateToPem(certificate);
  };

  const certificateOfAuthority = sign(issuer, [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, critical: true },
  ]);
  return {
    certificate: certificateOfAuthority,
    // A program that finds no certificate makes two RSA keys, which costs it more of its start than anything else.
    issueServing: () => ({
      certificate: `${sign(
        [attribute('commonName', 'localhost')],
        [
          { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true },
          { name: 'extKeyUsage', serverAuth: true },
          { name: 'subjectAltName', altNames: LOOPBACK },
        ],
      )}${certificateOfAuthority}`,
      key: privateKey,
    }),
    issue: (user, groups) => ({
      certificate: sign(
        [attribute('commonName', user), ...groups.map((group) => attribute('organizationName', group))],
        [
          { name: 'keyUsage', digitalSignature: true, critical: true },
          { name: 'extKeyUsage', clientAuth: true },
        ],
      ),
      key: privateKey,
    }),
  };
}

/** The bytes that are signed; forge fills `tbsCertificate`, which its types leave out, just before it signs. */
function derOf(certificate: forge.pki.Certificate): Buffer {
  const { tbsCertificate } = certificate as unknown as { tbsCertificate: forge.asn1.Asn1 };
  return Buffer.from(forge.asn1.toDer(tbsCertificate).getBytes(), 'binary');
}

/** As UTF8String: forge's default, PrintableString, has no `@` and no `*`, and Go refuses to read them in one. */
function attribute(name: string, value: string): forge.pki.CertificateField {
  return { name, value, valueTagClass: forge.asn1.Type.UTF8 } as unknown as forge.pki.CertificateField;
}

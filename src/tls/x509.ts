import { createHash, createPrivateKey, randomBytes, sign, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import forge from 'node-forge';

/**
 * The only file that uses node-forge, and only to write certificates: node-forge has had flaws in verifying signatures,
 * so everything that is verified goes through `node:crypto`. Signatures are made there too: of elliptic curves node-forge
 * knows only Ed25519.
 */
const { asn1, pki } = forge;
const { Class, Type } = asn1;
type Asn1 = forge.asn1.Asn1;

/** What a certificate says, and who signs it. */
export interface Statement {
  /** Of the subject. */
  readonly commonName: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** In node-forge's form, without those that identify keys. */
  readonly extensions: readonly object[];
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Buffer;
  /** PEM of an ECDSA or RSA key. */
  readonly signedWith: string;
  /** PEM of the certificate of that key; absent: it is the key of this certificate. */
  readonly issuer: string | undefined;
}

/** A DNS name or an IP address in node-forge's form: clients that dial an address ignore DNS names. */
export const altNameOf = (name: string): object =>
  isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name };

/** A certificate of version 3 (RFC 5280), PEM, with a random serial number and the identifiers of both keys. */
export function signedCertificate(statement: Statement): string {
  const { publicKey, signedWith, notBefore, notAfter } = statement;
  const certificate = pki.createCertificate();
  certificate.setSubject([{ name: 'commonName', value: statement.commonName }]);
  const subject = pki.distinguishedNameToAsn1(certificate.subject);
  const issuer = statement.issuer === undefined ? { subject, publicKey } : partsOf(statement.issuer);
  certificate.setExtensions([
    ...statement.extensions,
    { name: 'subjectKeyIdentifier', value: primitive(Type.OCTETSTRING, keyIdentifier(publicKey)) },
    { name: 'authorityKeyIdentifier', keyIdentifier: keyIdentifier(issuer.publicKey) },
  ]);
  const algorithm = algorithmOf(signedWith);
  const toBeSigned = sequence(
    asn1.create(Class.CONTEXT_SPECIFIC, 0, true, [primitive(Type.INTEGER, '\x02')]),
    primitive(Type.INTEGER, randomSerial()),
    algorithm,
    issuer.subject,
    sequence(time(notBefore), time(notAfter)),
    subject,
    parsed(publicKey),
    untyped.pki.certificateExtensionsToAsn1(certificate.extensions),
  );
  const signature = sign('sha256', derOf(toBeSigned), signedWith).toString('latin1');
  const whole = derOf(sequence(toBeSigned, algorithm, bitString(signature)));
  return `${new X509Certificate(whole).toString().trimEnd()}\n`;
}

/** The name and the key of a certificate, as they stand in it. */
function partsOf(pem: string): { readonly subject: Asn1; readonly publicKey: Buffer } {
  const { raw, publicKey } = new X509Certificate(pem);
  const [toBeSigned] = parsed(raw).value as Asn1[];
  // The version comes first in a class of its own, and a certificate of version 1 has none.
  const fields = (toBeSigned?.value as Asn1[]).filter(({ tagClass }) => tagClass === Class.UNIVERSAL);
  return { subject: fields[4] as Asn1, publicKey: publicKey.export({ type: 'spki', format: 'der' }) };
}

/** ecdsa-with-SHA256, which takes no parameters, or sha256WithRSAEncryption, whose parameters are NULL. */
function algorithmOf(key: string): Asn1 {
  const oid = (id: string): Asn1 => primitive(Type.OID, asn1.oidToDer(id).getBytes());
  return createPrivateKey(key).asymmetricKeyType === 'ec'
    ? sequence(oid('1.2.840.10045.4.3.2'))
    : sequence(oid('1.2.840.113549.1.1.11'), primitive(Type.NULL, ''));
}

/** Of 160 bits, by the first method of RFC 5280, section 4.2.1.2: whoever compares it finds that of earlier CAs. */
function keyIdentifier(publicKey: Buffer): string {
  const [, bits] = parsed(publicKey).value as Asn1[];
  // The first octet of a BIT STRING counts its unused bits.
  return createHash('sha1')
    .update((bits?.value as string).slice(1), 'latin1')
    .digest('latin1');
}

/** 128 bits. The highest bit is 0 (positive), the next 1 (no leading zero octet, which DER forbids). */
function randomSerial(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes.toString('latin1');
}

/** From 2050 on RFC 5280 wants four digits of the year. */
function time(date: Date): Asn1 {
  return date.getUTCFullYear() < 2050
    ? primitive(Type.UTCTIME, asn1.dateToUtcTime(date))
    : primitive(Type.GENERALIZEDTIME, asn1.dateToGeneralizedTime(date));
}

const sequence = (...parts: Asn1[]): Asn1 => asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, parts);
const primitive = (type: forge.asn1.Type, bytes: string): Asn1 =>
  asn1.create(Class.UNIVERSAL, type, false, bytes);
const bitString = (bytes: string): Asn1 => primitive(Type.BITSTRING, `\0${bytes}`);
const derOf = (part: Asn1): Buffer => Buffer.from(asn1.toDer(part).getBytes(), 'latin1');

/** Node-forge's types leave these two out. */
const untyped = forge as unknown as {
  readonly asn1: { fromDer(der: string, options: { readonly decodeBitStrings: boolean }): Asn1 };
  readonly pki: { certificateExtensionsToAsn1(extensions: readonly object[]): Asn1 };
};
const parsed = (der: Buffer): Asn1 =>
  untyped.asn1.fromDer(der.toString('latin1'), { decodeBitStrings: false });

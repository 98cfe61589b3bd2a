import { X509Certificate, createPrivateKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { MusterError, messageOf } from '../errors.ts';
import { checkChain } from './chain.ts';
import type { MountedFiles } from './mounted-directory.ts';

/** A matching key and certificate that were checked and may be served. */
export interface ServingPair {
  /** PEM: the leaf first, then intermediates if there are any. */
  readonly certificate: Buffer;
  /** PEM, not encrypted. */
  readonly key: Buffer;
  /** PEM of `ca.crt`, if it exists. */
  readonly caCertificate?: Buffer;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** DNS names of the subject alternative name, without IP addresses. */
  readonly dnsNames: readonly string[];
  /** SHA-256 of the leaf, as Node prints it: `AB:CD:…`. */
  readonly fingerprint256: string;
  /** Serial number of the leaf, hexadecimal. */
  readonly serial: string;
}

export interface PairExpectations {
  readonly now: Date;
  /** The name that the API server dials: `<service>.<namespace>.svc`, or an IP address. Absent: any name is accepted. */
  readonly serverName?: string;
}

/**
 * Decides whether a mounted pair may be served. Malformed files are checked before unsuitable certificates, so that the
 * first message is the one to act on. `directory` is used for messages only.
 *
 * @throws MusterError one of `TLS_UNREADABLE`, `TLS_MISMATCH`, `TLS_EXPIRED`, `TLS_NOT_YET_VALID`, `TLS_WRONG_NAME`,
 * `TLS_CHAIN`. No message depends on the current time, so that a lasting fault has one lasting message.
 */
export const checkPair = (
  files: MountedFiles,
  directory: string,
  { now, serverName }: PairExpectations,
): ServingPair => {
  const leaf = parseLeaf(files.certificate, directory);
  const key = parseKey(files.key, directory);
  if (!leaf.checkPrivateKey(key)) {
    throw new MusterError(
      'TLS_MISMATCH',
      `tls.key in ${directory} is not the key of tls.crt (serial ${leaf.serialNumber})`,
      'put the key that the certificate was issued for beside it; in a chain the serving certificate comes first',
    );
  }
  checkDates({ notBefore: leaf.validFromDate, notAfter: leaf.validToDate }, directory, now);
  if (serverName !== undefined) checkName(leaf, serverName, directory);
  if (files.authority !== undefined) {
    checkChain({ leaf, certificates: files.certificate, authority: files.authority, directory, now });
  }
  checkServable(files, directory);
  return {
    certificate: files.certificate,
    key: files.key,
    ...(files.authority === undefined ? {} : { caCertificate: files.authority }),
    notBefore: leaf.validFromDate,
    notAfter: leaf.validToDate,
    dnsNames: dnsNamesOf(leaf),
    fingerprint256: leaf.fingerprint256,
    serial: leaf.serialNumber,
  };
};

/**
 * A client that verifies refuses a certificate outside `notBefore ≤ now ≤ notAfter`.
 *
 * @throws MusterError `TLS_EXPIRED` or `TLS_NOT_YET_VALID`
 */
export const checkDates = (
  { notBefore, notAfter }: Pick<ServingPair, 'notBefore' | 'notAfter'>,
  directory: string,
  now: Date,
): void => {
  if (now > notAfter) {
    throw new MusterError(
      'TLS_EXPIRED',
      `tls.crt in ${directory} expired at ${notAfter.toISOString()}`,
      'renew the certificate (see why cert-manager did not), or check the clock of this node',
    );
  }
  if (now < notBefore) {
    throw new MusterError(
      'TLS_NOT_YET_VALID',
      `tls.crt in ${directory} is not valid before ${notBefore.toISOString()}`,
      'wait until then, issue a certificate that is valid now, or check the clock of this node',
    );
  }
};

const parseLeaf = (pem: Buffer, directory: string): X509Certificate => {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new MusterError(
      'TLS_UNREADABLE',
      `tls.crt in ${directory} is not a PEM certificate: ${messageOf(cause)}`,
      'give a PEM file that starts with "-----BEGIN CERTIFICATE-----"',
      { cause },
    );
  }
};

const parseKey = (pem: Buffer, directory: string): KeyObject => {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    const encrypted = /^(?:-----BEGIN ENCRYPTED|Proc-Type: 4,ENCRYPTED)/m.test(pem.toString('latin1'));
    throw new MusterError(
      'TLS_UNREADABLE',
      encrypted
        ? `tls.key in ${directory} is encrypted, and nobody is there to type its passphrase`
        : `tls.key in ${directory} is not a PEM private key: ${messageOf(cause)}`,
      encrypted
        ? 'store the key unencrypted, for instance with "openssl pkey -in tls.key"; the Secret is what protects it'
        : 'give a PEM file that starts with "-----BEGIN PRIVATE KEY-----"',
      { cause },
    );
  }
};

/** Verifies as Go does: the common name is ignored, and a wildcard stands for one whole leftmost label. */
const checkName = (leaf: X509Certificate, serverName: string, directory: string): void => {
  const matches =
    isIP(serverName) === 0
      ? leaf.checkHost(serverName, { subject: 'never', partialWildcards: false })
      : leaf.checkIP(serverName);
  if (matches !== undefined) return;
  throw new MusterError(
    'TLS_WRONG_NAME',
    `tls.crt in ${directory} is not for ${serverName}; its subject alternative names are: ${leaf.subjectAltName ?? 'none'}`,
    `issue it with ${serverName} among its DNS names (spec.dnsNames of the cert-manager Certificate)`,
  );
};

/** OpenSSL decides last: short RSA keys and SHA-1 signatures pass all other checks and are refused here. */
const checkServable = (files: MountedFiles, directory: string): void => {
  try {
    createSecureContext({ cert: files.certificate, key: files.key, ca: [] });
  } catch (cause) {
    throw new MusterError(
      'TLS_UNREADABLE',
      `OpenSSL refuses to serve tls.crt in ${directory}: ${messageOf(cause)}`,
      'issue it anew with ECDSA P-256 or RSA of at least 2048 bits, signed with SHA-256 or better',
      { cause },
    );
  }
};

/** OpenSSL quotes a name that contains a comma, so that it cannot pass for two names. */
const dnsNamesOf = (leaf: X509Certificate): string[] =>
  [...(leaf.subjectAltName ?? '').matchAll(/(?:^|, )DNS:("(?:[^"\\]|\\.)*"|[^,]*)/g)].map(
    (match) => match[1] ?? '',
  );

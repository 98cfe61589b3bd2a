import { X509Certificate } from 'node:crypto';
import { MusterError, messageOf } from '../errors.ts';

export interface ChainToCheck {
  readonly leaf: X509Certificate;
  /** PEM of `tls.crt`: the leaf, then intermediates. */
  readonly certificates: Buffer;
  /** PEM of `ca.crt`: one or more certificates to trust. */
  readonly authority: Buffer;
  /** Used in messages only. */
  readonly directory: string;
  readonly now: Date;
}

/**
 * Checks that a client that trusts `ca.crt` (which cert-manager puts into `caBundle`) will accept `tls.crt`. Detects a
 * pair of one issuer mounted with the CA of another, and a CA that expired before its leaf.
 *
 * `ca.crt` may be the leaf itself (self-signed), may contain several CAs (old and new during a change), and may be
 * several steps away, with the certificates between in `tls.crt`. As in Go, every certificate in `ca.crt` is trusted,
 * root or not.
 *
 * @throws MusterError `TLS_CHAIN`
 */
export const checkChain = ({ leaf, certificates, authority, directory, now }: ChainToCheck): void => {
  const trusted = parseAll(authority, 'ca.crt', directory);
  if (trusted.some((certificate) => certificate.fingerprint256 === leaf.fingerprint256)) return;

  const intermediates = parseAll(certificates, 'tls.crt', directory).slice(1);
  const seen = new Set<string>();
  const reached = [leaf];
  let outdated: X509Certificate | undefined;
  for (let child = reached.pop(); child !== undefined; child = reached.pop()) {
    const issuers = trusted.filter(isIssuerOf(child));
    if (issuers.some((issuer) => isInDate(issuer, now))) return;
    outdated ??= issuers[0];
    for (const issuer of intermediates.filter(isIssuerOf(child))) {
      if (seen.has(issuer.fingerprint256)) continue;
      seen.add(issuer.fingerprint256);
      if (isInDate(issuer, now)) reached.push(issuer);
      else outdated ??= issuer;
    }
  }
  throw outdated === undefined ? foreign(leaf, trusted, directory) : outOfDate(outdated, directory);
};

/** Whether `issuer` is a CA that signed `child`. */
export const isIssuedBy = (child: X509Certificate, issuer: X509Certificate): boolean =>
  issuer.ca && child.checkIssued(issuer) && child.verify(issuer.publicKey);

const isIssuerOf =
  (child: X509Certificate) =>
  (issuer: X509Certificate): boolean =>
    isIssuedBy(child, issuer);

const isInDate = (certificate: X509Certificate, now: Date): boolean =>
  certificate.validFromDate <= now && now <= certificate.validToDate;

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs;

const parseAll = (pem: Buffer, file: string, directory: string): X509Certificate[] => {
  const blocks = pem.toString('latin1').match(PEM_CERTIFICATE) ?? [];
  if (blocks.length === 0) throw unparsable(file, directory, 'it holds no PEM certificate');
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (cause) {
    throw unparsable(file, directory, messageOf(cause), cause);
  }
};

const unparsable = (file: string, directory: string, reason: string, cause?: unknown): MusterError =>
  new MusterError(
    'TLS_CHAIN',
    `cannot check who issued tls.crt in ${directory}: ${file} does not parse: ${reason}`,
    `give a ${file} of PEM certificates only, or leave ca.crt out`,
    { cause },
  );

const foreign = (leaf: X509Certificate, trusted: X509Certificate[], directory: string): MusterError =>
  new MusterError(
    'TLS_CHAIN',
    `tls.crt in ${directory} names ${oneLine(leaf.issuer)} as its issuer, ` +
      `and was not issued by ca.crt, which holds ${trusted.map(({ subject }) => oneLine(subject)).join(' and ')}`,
    'mount tls.crt, tls.key and ca.crt of one issuance, with the intermediate certificates in tls.crt',
  );

const outOfDate = (issuer: X509Certificate, directory: string): MusterError =>
  new MusterError(
    'TLS_CHAIN',
    `${oneLine(issuer.subject)}, which issued tls.crt in ${directory}, is valid only from ` +
      `${issuer.validFromDate.toISOString()} to ${issuer.validToDate.toISOString()}`,
    'renew the CA, then the serving certificate, and put the new CA in caBundle',
  );

/** Node separates the parts of a name by newlines. */
const oneLine = (name: string): string => `"${name.replaceAll('\n', ', ')}"`;

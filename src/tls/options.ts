import { X509Certificate, constants } from 'node:crypto';
import type { ServerOptions } from 'node:https';
import type { Server, TLSSocket } from 'node:tls';
import { MusterError, messageOf } from '../errors.ts';
import { quoted } from '../text/printable.ts';
import type { ServingPair } from './check.ts';

export type MinimumTlsVersion = 'TLSv1.3' | 'TLSv1.2';

/** TLS settings that stay the same when the pair is replaced. */
export interface TlsChoices {
  readonly minVersion: MinimumTlsVersion;
  /** PEM of the CAs that issue the API server's client certificate. Absent: no client certificate is requested. */
  readonly clientCa?: string | Buffer;
}

/** The name in the client certificate that an API server presents by default. */
const DEFAULT_CLIENT_NAMES: readonly string[] = ['kube-apiserver'];

const TLS13_SUITES = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

/** Only forward secrecy and authenticated encryption: no CBC, no RSA key exchange, no finite-field Diffie-Hellman. */
const TLS12_SUITES = ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305'].flatMap((suite) => [
  `ECDHE-ECDSA-${suite}`,
  `ECDHE-RSA-${suite}`,
]);

/**
 * A handshake takes one or two round trips inside a cluster, so a client that needs longer only occupies a socket. As
 * long as the webhooks of manifests/ wait: the call that began the handshake is over as well.
 */
const HANDSHAKE_TIMEOUT_MS = 5_000;

/**
 * Options for `https.createServer`, to be spread among those for HTTP.
 *
 * ALPN offers only HTTP/1.1: the API server supports it for webhooks, and attacks on HTTP/2 streams do not apply.
 * Sessions are not resumed: the API server does not try to, and with a full handshake each client certificate is
 * verified each time.
 *
 * @throws MusterError `TLS_UNREADABLE` when `clientCa` contains no certificate; OpenSSL would then trust the public
 * roots or nobody, depending on how it is empty
 */
export const tlsServerOptions = ({ pair, ...choices }: TlsChoices & { readonly pair: ServingPair }) =>
  ({
    ...contextOptions(pair, choices),
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    ...(choices.clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: true }),
  }) satisfies ServerOptions;

/**
 * Serves `pair` on every new connection; open connections keep theirs. `choices` must be those that the server was
 * created with: Node builds a new context, and every omitted option falls back to its default (TLS 1.2, public roots as
 * client CAs).
 *
 * @throws OpenSSL's error when it refuses the pair; the server then keeps the earlier one
 */
export const applyPair = (
  server: Pick<Server, 'setSecureContext'>,
  pair: ServingPair,
  choices: TlsChoices,
): void => {
  server.setSecureContext(contextOptions(pair, choices));
};

/**
 * Checks whether the client of an established connection is allowed to call. The handshake has already verified the
 * certificate; this compares its common name.
 *
 * Call it once per connection (`secureConnection`), since reading the certificate costs more than a small review.
 *
 * @returns the reason to refuse, or undefined when the client may call. An empty list allows nobody.
 */
export const checkClientName = (
  socket: Pick<TLSSocket, 'authorized' | 'authorizationError' | 'getPeerCertificate'>,
  allowedNames: readonly string[] = DEFAULT_CLIENT_NAMES,
): string | undefined => {
  if (!socket.authorized) {
    return `the client certificate was not verified: ${messageOf(socket.authorizationError)}`;
  }
  // A certificate may have several common names: Node then returns a list, contrary to its types.
  const name: unknown = socket.getPeerCertificate().subject?.CN;
  if (typeof name !== 'string') return 'the client certificate does not have exactly one common name';
  if (allowedNames.includes(name)) return undefined;
  return `the client certificate is for ${quoted(name)}; allowed: ${allowedNames.map(quoted).join(', ') || 'nobody'}`;
};

const contextOptions = (pair: ServingPair, { minVersion, clientCa }: TlsChoices) => {
  if (clientCa !== undefined) assertHoldsCertificate(clientCa);
  return {
    cert: pair.certificate,
    key: pair.key,
    minVersion,
    ciphers: [...TLS13_SUITES, ...(minVersion === 'TLSv1.2' ? TLS12_SUITES : [])].join(':'),
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
    ...(clientCa === undefined ? {} : { ca: clientCa }),
  };
};

const assertHoldsCertificate = (pem: string | Buffer): void => {
  try {
    new X509Certificate(pem);
  } catch (cause) {
    throw new MusterError(
      'TLS_UNREADABLE',
      `the client CA is not a PEM certificate: ${messageOf(cause)}`,
      'give the CA that issues the client certificate of the API server, in PEM',
      { cause },
    );
  }
};

import { X509Certificate, constants } from 'node:crypto';
import type { ServerOptions } from 'node:https';
import type { Server, TLSSocket } from 'node:tls';
import { MusterError, messageOf } from '../errors.ts';
import { quoted } from '../text/printable.ts';
import type { ServingPair } from './check.ts';

export type MinimumTlsVersion = 'TLSv1.3' | 'TLSv1.2';

/** What stays the same from one pair to the next. */
export interface TlsChoices {
  readonly minVersion: MinimumTlsVersion;
  /** PEM of the CA, or CAs, that issue the API server's client certificate. Left out: no client certificate is asked for. */
  readonly clientCa?: string | Buffer;
}

/** The name in the client certificate that an API server presents, unless it was configured otherwise. */
const DEFAULT_CLIENT_NAMES: readonly string[] = ['kube-apiserver'];

const TLS13_SUITES = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

/** Forward secrecy and authenticated encryption only: no CBC, no RSA key exchange, no finite-field Diffie-Hellman. */
const TLS12_SUITES = ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305'].flatMap((suite) => [
  `ECDHE-ECDSA-${suite}`,
  `ECDHE-RSA-${suite}`,
]);

/**
 * A handshake is one or two round trips inside a cluster; who needs more than this holds a socket for nothing. Well
 * under the 10 s that an admission call may take at most by default, so that the slot is free again within one call.
 */
const HANDSHAKE_TIMEOUT_MS = 5_000;

/**
 * Options for `https.createServer`, to be spread among those for HTTP.
 *
 * HTTP/1.1 is all that is offered in ALPN: the API server speaks it to webhooks well, and the attacks on HTTP/2 streams
 * find nothing here. Sessions are not resumed: the API server does not try, and a full handshake each time means that
 * a client certificate is verified each time.
 *
 * @throws MusterError `TLS_UNREADABLE` when `clientCa` holds no certificate; OpenSSL would then trust the public roots
 *   or nobody, depending on how it is empty
 */
export const tlsServerOptions = ({ pair, ...choices }: TlsChoices & { readonly pair: ServingPair }) =>
  ({
    ...contextOptions(pair, choices),
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    ...(choices.clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: true }),
  }) satisfies ServerOptions;

/**
 * Serves `pair` on every connection from now on; the open ones keep what they have. `choices` must be the ones that
 * the server was created with: Node builds a context anew, and whatever is not said again falls back to its default
 * (TLS 1.2, public roots as client CAs).
 *
 * @throws whatever OpenSSL has against the pair; the server then goes on with the one it had
 */
export const applyPair = (
  server: Pick<Server, 'setSecureContext'>,
  pair: ServingPair,
  choices: TlsChoices,
): void => {
  server.setSecureContext(contextOptions(pair, choices));
};

/**
 * Whether the client of an established connection is one of those allowed to call. The handshake has verified the
 * certificate already; this compares its common name.
 *
 * Ask once per connection (`secureConnection`), since reading the certificate costs more than a small review.
 *
 * @returns the reason to refuse, or undefined when the client may go on. An empty list allows nobody.
 */
export const checkClientName = (
  socket: Pick<TLSSocket, 'authorized' | 'authorizationError' | 'getPeerCertificate'>,
  allowedNames: readonly string[] = DEFAULT_CLIENT_NAMES,
): string | undefined => {
  if (!socket.authorized) {
    return `the client certificate was not verified: ${messageOf(socket.authorizationError)}`;
  }
  // A certificate may carry several common names: Node then gives a list, whatever its types say.
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

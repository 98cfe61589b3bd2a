import { Agent, createServer, request } from 'node:https';
import type { RequestOptions, Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { checkClientName, tlsServerOptions } from '../../../src/tls/options.ts';
import type { TlsChoices } from '../../../src/tls/options.ts';
import type { ServingPair } from '../../../src/tls/reload.ts';

export const SERVER_NAME = 'muster.muster-system.svc';

export interface Serving {
  readonly server: Server;
  readonly port: number;
  /** Requests that reached the handler so far. */
  readonly requests: () => number;
  readonly close: () => Promise<void>;
}

/** A server that answers `ok`, and 403 to a client whose certificate has another name than the API server's. */
export const serve = async (pair: ServingPair, choices: TlsChoices): Promise<Serving> => {
  const server = createServer({ ...tlsServerOptions({ pair, ...choices }), keepAliveTimeout: 120_000 });
  let requests = 0;
  server.on('request', (incoming, outgoing) => {
    requests += 1;
    const refusal =
      choices.clientCa === undefined ? undefined : checkClientName(incoming.socket as TLSSocket);
    incoming.resume().on('end', () => {
      outgoing.statusCode = refusal === undefined ? 200 : 403;
      outgoing.end(refusal ?? 'ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return { server, port, requests: () => requests, close };
};

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly fingerprint: string;
  readonly socket: TLSSocket;
}

/** One POST. Rejects with what the socket says, a TLS alert for example. */
export const post = (port: number, options: RequestOptions): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port, method: 'POST', servername: SERVER_NAME, ...options },
      (incoming) => {
        // Sockets of an agent leave the request once it is answered.
        const socket = incoming.socket as TLSSocket;
        const fingerprint = socket.getPeerCertificate().fingerprint256;
        let body = '';
        incoming.setEncoding('utf8');
        incoming.on('data', (chunk: string) => (body += chunk));
        incoming.on('error', reject);
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, body, fingerprint, socket }));
      },
    );
    outgoing.on('error', reject);
    outgoing.end('{}');
  });

/** A client that dials anew for each request. */
export const oneShot = (): Agent => new Agent({ keepAlive: false, maxCachedSessions: 0 });

export interface Handshake {
  readonly protocol: string | null;
  readonly alpn: string | false | null;
  readonly fingerprint: string;
  readonly cipher: string;
}

/** One handshake, then goodbye. Rejects with the alert that the server sent, or with why the client gave up. */
export const handshake = (port: number, options: ConnectionOptions): Promise<Handshake> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options }, () => {
      resolve({
        protocol: socket.getProtocol(),
        alpn: socket.alpnProtocol,
        fingerprint: socket.getPeerCertificate().fingerprint256,
        cipher: socket.getCipher().name,
      });
      socket.destroy();
    });
    socket.on('error', reject);
  });

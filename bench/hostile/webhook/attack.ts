import type { Socket } from 'node:net';

/** What a crowd of connections does. */
export interface CrowdOf {
  /** At a time. */
  readonly connections: number;
  /** How many come in a second until they are all there. */
  readonly perSecond: number;
  /** How many come in a second for those that were closed since; as many, where absent. */
  readonly again?: number;
  /** Where they come from. */
  readonly addresses: readonly string[];
  /** Whether they do a TLS handshake. */
  readonly tls: boolean;
  /** What each does once it is there: nothing, where absent. Answers are read and thrown away. */
  readonly join?: (socket: Socket) => void;
}

export interface Attack {
  readonly id: string;
  readonly title: string;
  readonly crowd: CrowdOf;
}

/** Addresses of loopback that are not the good client’s. */
export const STRANGER = ['127.0.0.2'];
export const STRANGERS = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6', '127.0.0.7'];
/** A tenant reaches the webhook through the API server, so from where the good client’s reviews come. */
export const API_SERVER = ['127.0.0.1'];

/** A review, as a request on the wire. */
export const requestOf = (body: string, headers = '', announced = Buffer.byteLength(body)): Buffer =>
  Buffer.from(
    `POST /mutate-v1-pod?timeout=5s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: kube-apiserver-admission\r\n` +
      `Content-Length: ${announced}\r\nAccept: application/json, */*\r\nContent-Type: application/json\r\n${headers}\r\n${body}`,
  );

/** Sends the same again with every answer, but at most once in so many milliseconds. */
export const overAndOver =
  (request: Buffer, everyMs = 0) =>
  (socket: Socket): void => {
    let due = performance.now() + everyMs;
    socket.write(request);
    // An answer to any of these comes in one piece.
    socket.on('data', () => {
      const wait = due - performance.now();
      due += everyMs;
      if (wait <= 0) socket.write(request);
      else setTimeout(() => socket.write(request), wait);
    });
  };

/** Sends a byte of it every second after its beginning. */
export const drop =
  (request: Buffer, begin: number) =>
  (socket: Socket): void => {
    let at = begin;
    socket.write(request.subarray(0, at));
    const timer = setInterval(() => socket.write(request.subarray(at, (at += 1))), 1000);
    socket.once('close', () => clearInterval(timer));
  };

import { Agent, createServer, request as httpsRequest } from 'node:https';
import { STATUS_CODES, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { issueDevelopmentCertificates } from '../../../src/tls/issue.ts';
import type { Access } from '../control-plane/kubeconfig.ts';
import { writeKubeconfig } from '../control-plane/kubeconfig.ts';

/**
 * What may go wrong with one request. `…Done` means that the API server did it and only the answer got lost, which a
 * client cannot tell from the other kind. `gone` and `cut` are for watches: 410 instead of one, and its end in the middle.
 */
export const FAULTS = [
  'conflict',
  'tooMany',
  'error',
  'errorDone',
  'reset',
  'resetDone',
  'gone',
  'cut',
] as const;
export type Fault = (typeof FAULTS)[number];

export interface ProxiedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly watch: boolean;
}

/** What becomes of a request. */
export interface Fate {
  /** The API server hears of it no sooner. */
  readonly after?: Promise<unknown>;
  /** What the API server is asked for in its place, with its query. */
  readonly path?: string;
  readonly fault?: Exclude<Fault, 'cut'> | undefined;
  /** The code that is answered in the API server's place. */
  readonly status?: number | undefined;
  /** Milliseconds by which the events of a watch come late, and until it is cut. */
  readonly lateMs?: number;
  readonly cutAfterMs?: number;
}

/** A proxy that ends TLS on both sides, between one client and the API server, and spoils what it is told to. */
export interface FaultProxy {
  /** Path of a kubeconfig that leads here. */
  readonly kubeconfig: string;
  /** How often each fault really happened. */
  readonly happened: Readonly<Record<Fault, number>>;
  /** Answers of the API server itself, as `PATCH 200`, and `lost` where there was none. */
  readonly answers: ReadonlyMap<string, number>;
  /** Who decides from now on; undefined: nothing goes wrong. */
  setFates(fates: ((request: ProxiedRequest) => Fate) | undefined): void;
  close(): Promise<void>;
}

/** @param access of the API server, in the name of the client: its own certificate ends here */
export async function startFaultProxy(access: Access, folder: string, name: string): Promise<FaultProxy> {
  const { key, certificate, caCertificate } = await issueDevelopmentCertificates({
    dnsNames: ['127.0.0.1'],
    days: 1,
    now: new Date(),
  });
  const { identity } = access;
  const agent = new Agent({
    keepAlive: true,
    ca: access.ca,
    ...('token' in identity ? {} : { cert: identity.certificate, key: identity.key }),
  });
  const authorization = 'token' in identity ? { authorization: `Bearer ${identity.token}` } : {};
  const happened = Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as Record<Fault, number>;
  const answers = new Map<string, number>();
  const count = (what: string): unknown => answers.set(what, (answers.get(what) ?? 0) + 1);
  const sockets = new Set<Socket>();
  let fates: ((request: ProxiedRequest) => Fate) | undefined;

  /** Asks the API server; undefined where it does not answer. */
  const ask = (
    request: IncomingMessage,
    path: string,
    body: Buffer,
    gone: AbortSignal,
  ): Promise<IncomingMessage | undefined> =>
    new Promise((resolve) => {
      const headers = without(request.headers, 'host', 'authorization', 'connection');
      const outgoing = httpsRequest(new URL(path, access.url), {
        method: request.method ?? 'GET',
        headers: { ...headers, ...authorization },
        agent,
      });
      gone.addEventListener('abort', () => outgoing.destroy(), { once: true });
      outgoing.once('response', resolve);
      outgoing.on('error', () => resolve(undefined));
      outgoing.end(body);
    });

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = 'GET', url: path = '' } = request;
    const watch = /[?&]watch=(1|true)(&|$)/.test(path);
    const fate = fates?.({ method, path, watch }) ?? {};
    const { after, fault, status, lateMs = 0, cutAfterMs } = fate;
    await after;
    if (status !== undefined) {
      refuse(response, status, STATUS_CODES[status]?.replaceAll(' ', '') ?? 'Unknown');
      return;
    }
    if (fault !== undefined && spoil(fault, response)) {
      happened[fault] += 1;
      return;
    }
    const ended = new AbortController();
    const isDone = fault === 'errorDone' || fault === 'resetDone';
    // The API server gives up what a client has left, and half a deletion is one that no kubelet here would finish.
    if (!isDone) response.once('close', () => ended.abort());
    const answer = await ask(request, fate.path ?? path, Buffer.concat(chunks), ended.signal);
    count(answer === undefined ? 'lost' : `${method} ${answer.statusCode}`);
    if (answer === undefined) {
      response.socket?.destroy();
    } else if (isDone) {
      happened[fault] += 1;
      answer.resume();
      if (fault === 'resetDone') response.socket?.destroy();
      else refuse(response, 500, 'InternalError');
    } else if (watch) {
      // Counted when it happens: most watches end before by themselves, or with the API server.
      relayWatch(answer, response, { lateMs, cutAfterMs, cut: () => (happened.cut += 1) });
    } else {
      answer.on('error', () => response.socket?.destroy());
      response.writeHead(answer.statusCode ?? 502, ownHeaders(answer));
      answer.pipe(response);
    }
  };

  const server = createServer({ key, cert: certificate, keepAliveTimeout: 120_000 });
  server.on('secureConnection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    handle(request, response).catch(() => response.socket?.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    kubeconfig: await writeKubeconfig(join(folder, `${name}.kubeconfig`), {
      url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      ca: caCertificate,
      identity: { token: 'of-nobody' },
    }),
    happened,
    answers,
    setFates: (given) => {
      fates = given;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      agent.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers in the API server's place, or not at all. @returns false for a fault that comes after the API server's answer */
function spoil(fault: Exclude<Fault, 'cut'>, response: ServerResponse): boolean {
  switch (fault) {
    case 'conflict':
      refuse(response, 409, 'Conflict');
      return true;
    case 'tooMany':
      refuse(response, 429, 'TooManyRequests', { 'retry-after': '1' });
      return true;
    case 'error':
      refuse(response, 500, 'InternalError');
      return true;
    case 'gone':
      refuse(response, 410, 'Expired');
      return true;
    case 'reset':
      response.socket?.destroy();
      return true;
    case 'errorDone':
    case 'resetDone':
      return false;
  }
}

function refuse(response: ServerResponse, code: number, reason: string, headers: object = {}): void {
  const message = `a fault on purpose (${code})`;
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(
    JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code, message }),
  );
}

/** Events in their order, all as late; a cut leaves half of the chunk that was next, so mostly half an event. */
function relayWatch(
  answer: IncomingMessage,
  response: ServerResponse,
  { lateMs, cutAfterMs, cut }: { lateMs: number; cutAfterMs: number | undefined; cut: () => void },
): void {
  response.writeHead(answer.statusCode ?? 502, ownHeaders(answer));
  response.flushHeaders();
  const later = (what: () => void): void => {
    if (lateMs === 0) what();
    else setTimeout(what, lateMs);
  };
  let over = false;
  let half = false;
  const end = (rest: Buffer = Buffer.alloc(0)): void => {
    if (over) return;
    over = true;
    cut();
    response.write(rest, () => response.socket?.destroy());
  };
  const timers =
    cutAfterMs === undefined
      ? []
      : [setTimeout(() => (half = true), cutAfterMs / 2), setTimeout(end, cutAfterMs)];
  answer.on('data', (chunk: Buffer) =>
    later(() => {
      if (half) end(chunk.subarray(0, chunk.length >> 1));
      else if (!over) response.write(chunk);
    }),
  );
  answer.on('end', () => later(() => response.end()));
  answer.on('error', () => response.socket?.destroy());
  response.once('close', () => {
    over = true;
    for (const timer of timers) clearTimeout(timer);
    answer.destroy();
  });
}

/** Headers that belong to the connection are each side's own. */
const ownHeaders = ({ headers }: IncomingMessage): IncomingHttpHeaders =>
  without(headers, 'connection', 'transfer-encoding', 'content-length');

const without = (headers: IncomingHttpHeaders, ...names: readonly string[]): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));

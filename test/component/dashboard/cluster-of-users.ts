import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import type { ServerResponse } from 'node:http';
import { run } from '../../../src/cli/run.ts';
import { until } from '../../unit/tls/until.ts';
import { processAt, type FakeProcess } from '../cli/fake-tty.ts';
import { gangObject, podObject, WatchedApi } from '../cli/watched-api.ts';
import { event, json, status, type Answer } from '../kube/fault-server.ts';

export const HOST = 'gangs.example';

export interface Answered {
  readonly status: number;
  readonly cookie: string;
  readonly body: string;
}

export interface Asked {
  readonly method?: string;
  readonly token?: string;
  readonly headers?: Record<string, string>;
}

/** Asks a dashboard that answers to HOST. */
export function askAt(
  { port, tls = false }: { readonly port: number; readonly tls?: boolean },
  path: string,
  { method = 'GET', token, headers = {} }: Asked = {},
): Promise<Answered> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const all = { host: HOST, ...authorization, ...headers };
  const to = { host: '127.0.0.1', port, path, method, headers: all, rejectUnauthorized: false };
  return new Promise((resolve, reject) => {
    (tls ? requestTls : request)(to, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          cookie: response.headers['set-cookie']?.[0] ?? '',
          body,
        }),
      );
    })
      .on('error', reject)
      .end();
  });
}

/** A gang of one Pod in a namespace. */
const inNamespace = <T extends { readonly metadata: object }>(namespace: string, object: T): T => ({
  ...object,
  metadata: { ...object.metadata, namespace },
});

/** A dashboard in a cluster in which tests say which token is whose, and who may list where. */
export class ClusterOfUsers {
  /** Namespaces by token; `*`: all of them. */
  readonly rights = new Map<string, readonly string[]>();
  /** What users ask for besides reviews, as `TOKEN METHOD PATH`. */
  readonly asked: string[] = [];
  reviews = 0;
  /** Whether users get no answer but 503. */
  away = false;
  /** Milliseconds by which the dashboard's clock is ahead: answers about users are old then. */
  ahead = 0;
  readonly program: FakeProcess = processAt();
  readonly #api: WatchedApi;
  readonly #watches: ServerResponse[] = [];
  #running: Promise<number> | undefined;
  tls = false;

  private constructor(api: WatchedApi) {
    this.#api = api;
    api.server.standing = () => (response, incoming) => this.#answer(response, incoming);
  }

  static async start(...args: readonly string[]): Promise<ClusterOfUsers> {
    const cluster = new ClusterOfUsers(await WatchedApi.start());
    const way = args.length === 0 ? ['--behind-tls-proxy'] : args;
    cluster.tls = args.length > 0;
    const all = ['dashboard', '--in-cluster', '--host', HOST, '--port', '0', ...way];
    const io = { ...cluster.program.io, now: () => new Date(Date.now() + cluster.ahead) };
    cluster.#running = run([...all, '--kubeconfig', cluster.#api.kubeconfig], io);
    await until('the dashboard', () => cluster.program.written.err.includes('listens on port'));
    return cluster;
  }

  get port(): number {
    return Number(/port (\d+)/.exec(this.program.written.err)?.[1]);
  }

  /** A new gang, as the API server tells those who watch. */
  adds(namespace: string, name: string): void {
    const gang = inNamespace(namespace, gangObject(name, 3, [['leader', 1]]));
    this.#watches[0]?.write(event('ADDED', gang));
  }

  ask(path: string, asked: Asked = {}): Promise<Answered> {
    return askAt({ port: this.port, tls: this.tls }, path, asked);
  }

  #answer(response: ServerResponse, incoming: Parameters<Answer>[1]): void {
    const { method = '', url = '', headers } = incoming;
    const token = /^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1];
    const reply = (answer: Answer): void => answer(response, incoming);
    if (url === '/version') return reply(json({}));
    // Muster's own account has no token in this kubeconfig.
    if (token === undefined) return reply(this.#own(url));
    if (this.away) return reply(status(503, 'etcd is away'));
    const rights = this.rights.get(token);
    if (rights === undefined) return reply(status(401, 'Unauthorized'));
    if (!url.includes('/selfsubjectaccessreviews')) {
      this.asked.push(`${token} ${method} ${url.split('?')[0]}`);
      const [, namespace = ''] = /\/namespaces\/(\w+)\/(?:podgangs|pods)\?/.exec(url) ?? [];
      return reply(rights.includes(namespace) ? this.#own(url) : status(403, 'forbidden'));
    }
    this.reviews += 1;
    const review = JSON.parse(this.#api.server.bodies.at(-1) ?? '') as {
      spec: { resourceAttributes: { namespace?: string; verb: string } };
    };
    const { namespace = '*' } = review.spec.resourceAttributes;
    reply(json({ status: { allowed: rights.includes('*') || rights.includes(namespace) } }, 201));
  }

  #own(url: string): Answer {
    const gangs = url.includes('/podgangs');
    if (!url.includes('watch=1')) {
      if (gangs) {
        const gang = (namespace: string) => inNamespace(namespace, gangObject('train', 1, [['leader', 1]]));
        return json(list1([gang('ml'), gang('web')]));
      }
      const pods = ['ml', 'web'].map((namespace) => inNamespace(namespace, podObject('leader-0', 2)));
      return url.includes('/pods') ? json(list1(pods)) : json(list1([]));
    }
    return (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
      if (gangs) this.#watches[0] = response;
    };
  }

  async close(): Promise<number | undefined> {
    this.program.interrupt();
    const code = await this.#running;
    await this.#api.close();
    return code;
  }
}

const list1 = (items: readonly object[]): object => ({ metadata: { resourceVersion: '1' }, items });

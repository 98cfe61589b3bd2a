import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { messageOf, MusterError } from '../errors.ts';
import { ApiError, isForbidden } from '../kube/client/errors.ts';
import type { BackendsStatus } from '../status/backend-status.ts';
import type { FleetMembers } from '../status/fleet-members.ts';
import type { FleetStatus } from '../status/fleet-status.ts';
import { Refused, type AccessRefusal } from './access.ts';
import type { LiveGangs } from './live-gangs.ts';
import { pageFiles, type PageFile } from './page-files.ts';
import { planAsked, type PlanQuery, type PlanRequest } from './plan-request.ts';
import type { GangDetail, PlanAnswer, ErrorAnswer } from './wire.ts';

/** Where the answers come from. */
export interface DashboardData {
  readonly live: {
    readonly list: () => string;
    readonly stream: (...given: Parameters<LiveGangs['stream']>) => unknown;
  };
  /** undefined where there is no such gang. */
  gang(namespace: string, name: string): Promise<GangDetail | undefined>;
  /** undefined where there is no such gang. */
  plan(namespace: string, name: string, asked: PlanRequest): Promise<PlanAnswer | undefined>;
  queues(): Promise<FleetStatus>;
  fleet(): Promise<FleetMembers>;
  backends(): Promise<BackendsStatus>;
}

/** Who may ask, and what he is answered from. */
export interface Door {
  /** What holds for every request, whatever it asks for. */
  refusal(request: Pick<IncomingMessage, 'method' | 'headers' | 'url'>): AccessRefusal | undefined;
  /** @throws Refused */
  dataFor(headers: IncomingHttpHeaders): Promise<DashboardData>;
  /** Adds the routes that lead in. @param page sends the page without data */
  ways(app: FastifyInstance, page: (reply: FastifyReply) => FastifyReply): void;
  /** undefined: without TLS. */
  readonly tls?: ServerOptions | undefined;
  /** Whether the page asks for a token. */
  readonly signsIn: boolean;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** The server of the page and of its JSON, which does not listen yet. */
export function dashboardApp(door: Door): FastifyInstance {
  const { page, kept, policy } = pageFiles(door.signsIn);
  const headers = {
    'content-security-policy': policy,
    'cache-control': 'no-store',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  };
  const { tls } = door;
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    serverFactory: (handler): Server =>
      tls === undefined ? createServer(handler) : createTlsServer(tls, handler),
    // Kubernetes' names have up to 253 characters, of which some are written as three.
    routerOptions: { maxParamLength: 1_000 },
    // A path that is no path, such as /%zz.
    frameworkErrors: (_error, _request, reply) => {
      void refuse(reply.headers(headers), UNKNOWN);
    },
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(headers);
    const refused = door.refusal(request.raw);
    if (refused !== undefined) await refuse(reply, refused);
  });
  app.setNotFoundHandler((_request, reply) => refuse(reply, UNKNOWN));
  app.setErrorHandler((thrown, _request, reply) => refuse(reply, failureOf(thrown)));
  door.ways(app, (reply) => send(reply, page));
  for (const [path, file] of kept) app.get(path, (_request, reply) => send(reply, file));
  // A hook of these routes alone: the path of a request may be written in many ways, such as /%61pi.
  void app.register((api, _, done) => {
    const found = new WeakMap<FastifyRequest, DashboardData>();
    api.addHook('onRequest', async (request) => {
      found.set(request, await door.dataFor(request.headers));
    });
    routes(api, headers, (request) => {
      const data = found.get(request);
      if (data === undefined) throw new Error('a request that nobody has let in');
      return data;
    });
    done();
  });
  return app;
}

/** @throws MusterError LISTEN_FAILED */
export async function listen(app: FastifyInstance, host: string, port: number): Promise<void> {
  await app.listen({ host, port }).catch((thrown: unknown) => {
    throw new MusterError(
      'LISTEN_FAILED',
      `cannot listen on ${host}:${port}: ${messageOf(thrown)}`,
      'stop what holds the port, or choose another with --port',
      { cause: thrown },
    );
  });
}

function routes(
  app: FastifyInstance,
  headers: Record<string, string>,
  dataOf: (request: FastifyRequest) => DashboardData,
): void {
  app.get<{ Querystring: { watch?: string } }>('/api/v1/gangs', (request, reply) => {
    const { live } = dataOf(request);
    if (request.query.watch !== 'true') return reply.type(JSON_TYPE).send(live.list());
    reply.hijack();
    reply.raw.writeHead(200, { ...headers, 'content-type': 'text/event-stream' });
    live.stream(reply.raw);
    return undefined;
  });
  app.get<{ Params: { namespace: string; name: string } }>(
    '/api/v1/gangs/:namespace/:name',
    async (request, reply) => {
      const { namespace, name } = request.params;
      const gang = await dataOf(request).gang(namespace, name);
      if (gang === undefined) return refuse(reply, GONE);
      return reply.type(JSON_TYPE).send(JSON.stringify(gang));
    },
  );
  let planning = false;
  app.get<{ Params: { namespace: string; name: string }; Querystring: PlanQuery }>(
    '/api/v1/gangs/:namespace/:name/plan',
    async (request, reply) => {
      const asked = planAsked(request.query);
      if ('code' in asked) return refuse(reply, asked);
      // A plan lists the whole cluster.
      if (planning) return refuse(reply, BUSY);
      planning = true;
      const left = new AbortController();
      reply.raw.once('close', () => left.abort());
      try {
        const { namespace, name } = request.params;
        const plan = await dataOf(request).plan(namespace, name, { ...asked, signal: left.signal });
        if (plan === undefined) return refuse(reply, GONE);
        return reply.type(JSON_TYPE).send(JSON.stringify(plan));
      } finally {
        planning = false;
      }
    },
  );
  for (const what of ['queues', 'fleet', 'backends'] as const)
    app.get(`/api/v1/${what}`, async (request, reply) =>
      reply.type(JSON_TYPE).send(JSON.stringify(await dataOf(request)[what]())),
    );
}

const send = (reply: FastifyReply, { type, text, caching }: PageFile): FastifyReply =>
  reply.type(type).header('cache-control', caching).send(text);

type Answer = Omit<AccessRefusal, 'status'> & { readonly status: number };

const UNKNOWN: Answer = {
  status: 404,
  code: 'UNKNOWN',
  message: 'the dashboard has no such page',
  fix: 'Begin at /.',
};
const BUSY: Answer = {
  status: 429,
  code: 'PLAN_BUSY',
  message: 'another plan is being made, and the dashboard makes one at a time',
  fix: 'Ask again in a few seconds.',
};
const GONE: Answer = {
  status: 404,
  code: 'GANG_UNKNOWN',
  message: 'no PodGang and no Pod of the cluster has that gang name',
  fix: 'It may have been deleted; the list has all that there are.',
};

/** What the API server answered, or that it did not answer, in the words of the command line. */
function failureOf(thrown: unknown): Answer {
  if (thrown instanceof Refused) return thrown.refusal;
  const { code, fix } =
    thrown instanceof MusterError ? thrown : { code: 'FAILED', fix: 'Try again; the terminal may say more.' };
  const cause = thrown instanceof MusterError ? thrown.cause : thrown;
  const status = isForbidden(cause)
    ? 403
    : cause instanceof ApiError || thrown instanceof MusterError
      ? 502
      : 500;
  return { status, code, fix, message: messageOf(thrown) };
}

function refuse(reply: FastifyReply, { status, code, message, fix }: Answer): FastifyReply {
  const body: ErrorAnswer = { error: { code, message, fix } };
  if (status === 405) reply.header('allow', 'GET');
  return reply.status(status).type(JSON_TYPE).send(JSON.stringify(body));
}

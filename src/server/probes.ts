import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import { messageOf, MusterError } from '../errors.ts';
import { request } from 'node:https';
import { connect } from 'node:tls';

/** A condition for this replica to receive reviews. */
export interface ReadinessCheck {
  readonly name: string;
  /** Returns undefined when the condition holds, else the reason; may also throw. */
  check(): Promise<string | undefined> | string | undefined;
}

/** fastify's own compilers would load a megabyte of source, which no route needs: none has a schema. */
const NO_SCHEMAS = (): never => {
  throw new TypeError('no route has a schema');
};
const PLAIN: FastifyServerOptions = {
  logger: false,
  schemaController: { compilersFactory: { buildValidator: NO_SCHEMAS, buildSerializer: NO_SCHEMAS } },
};

/**
 * `/healthz` and `/readyz` on plain HTTP, so that an expired certificate turns a replica unready and does not kill
 * it. `?verbose` lists every check, `?exclude=NAME` leaves one out, as in the API server.
 */
export function probeServer(checks: readonly ReadinessCheck[]): FastifyInstance {
  const app = fastify(PLAIN);
  // The event loop answers, so the process is alive; nothing else may make the kubelet restart it.
  app.get('/healthz', (_request, reply) => reply.type('text/plain').send('ok'));
  app.get<{ Querystring: Record<string, string | string[] | undefined> }>(
    '/readyz',
    async ({ query }, reply) => {
      const { verbose, exclude } = query;
      const excluded = new Set([exclude ?? []].flat());
      const results = await Promise.all(
        checks
          .filter(({ name }) => !excluded.has(name))
          .map(async (entry) => ({ name: entry.name, reason: await outcomeOf(entry) })),
      );
      const failed = results.filter(({ reason }) => reason !== undefined);
      const lines = results.map(({ name, reason }) =>
        reason === undefined ? `[+]${name} ok` : `[-]${name} failed: ${reason}`,
      );
      void reply.type('text/plain').status(failed.length === 0 ? 200 : 503);
      if (failed.length > 0) return `${lines.join('\n')}\nreadyz check failed\n`;
      return verbose === undefined ? 'ok' : `${lines.join('\n')}\nreadyz check passed\n`;
    },
  );
  return app;
}

async function outcomeOf(entry: ReadinessCheck): Promise<string | undefined> {
  try {
    return await entry.check();
  } catch (thrown) {
    return messageOf(thrown);
  }
}

/** `/metrics` for Prometheus. */
export function metricsServer(expose: () => Promise<{ contentType: string; body: string }>): FastifyInstance {
  const app = fastify(PLAIN);
  app.get('/metrics', async (_request, reply) => {
    const { contentType, body } = await expose();
    return reply.type(contentType).send(body);
  });
  return app;
}

/** Listens on the port and returns it. @throws MusterError LISTEN_FAILED, naming the flag that chooses another port */
export async function listenOn(
  app: FastifyInstance,
  host: string,
  port: number,
  flag: string,
): Promise<number> {
  try {
    await app.listen({ host, port });
  } catch (thrown) {
    throw new MusterError(
      'LISTEN_FAILED',
      `cannot listen on ${host}:${port}: ${messageOf(thrown)}`,
      `stop what holds the port, or choose another with ${flag}`,
      { cause: thrown },
    );
  }
  return (app.server.address() as { port: number }).port;
}

/** Milliseconds, well below the timeout of a readiness probe. */
const TIMEOUT_MS = 1000;

/**
 * Calls this server as an API server would: a TLS handshake, the certificate that it shows, and a request. That finds errors
 * that the process's own state does not show: a listener that is gone, a certificate that was never put into service.
 * @param bindAddress the address where the port listens; empty for all
 * @param expected.clientCertificate whether a client certificate is required; this call has none to show, so only the
 *   handshake is checked
 * @returns undefined, or why the call failed
 */
export async function callSelf(
  port: number,
  bindAddress: string,
  expected: { fingerprint256: string; clientCertificate: boolean },
): Promise<string | undefined> {
  try {
    const target = { ...OPTIONS, port, host: isUnspecified(bindAddress) ? '127.0.0.1' : bindAddress };
    const shown = await handshake(target);
    if (shown !== expected.fingerprint256) return 'the port shows another certificate than the one loaded';
    return expected.clientCertificate ? undefined : await get(target);
  } catch (thrown) {
    return `TLS call to port ${port}: ${messageOf(thrown)}`;
  }
}

/** The certificate is checked by fingerprint, so neither its CA nor its name has to be known. */
const OPTIONS = { rejectUnauthorized: false, timeout: TIMEOUT_MS, ALPNProtocols: ['http/1.1'] };
type Target = typeof OPTIONS & { port: number; host: string };

const isUnspecified = (address: string): boolean => ['', '::', '0.0.0.0'].includes(address);

const handshake = (target: Target): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(target, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.end();
    });
    socket.once('timeout', () => socket.destroy(new Error('no answer in time'))).once('error', reject);
  });

const get = (target: Target): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    const call = request({ ...target, path: '/livez', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200 ? undefined : `HTTP ${response.statusCode ?? 0}`);
    });
    call.once('timeout', () => call.destroy(new Error('no answer in time'))).once('error', reject);
    call.end();
  });

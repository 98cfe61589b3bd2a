import { messageOf, MusterError } from '../errors.ts';
import { request } from 'node:https';
import { connect } from 'node:tls';
import { PlainServer } from './plain-server.ts';

/** A condition for this replica to receive reviews. */
export interface ReadinessCheck {
  readonly name: string;
  /** Returns undefined when the condition holds, else the reason; may also throw. */
  check(): Promise<string | undefined> | string | undefined;
}

const TEXT = 'text/plain';

/**
 * `/healthz` and `/readyz` on plain HTTP, so that an expired certificate turns a replica unready and does not kill
 * it. `?verbose` lists every check, `?exclude=NAME` leaves one out, as in the API server.
 */
export const probeServer = (checks: readonly ReadinessCheck[]): PlainServer =>
  new PlainServer({
    // The event loop answers, so the process is alive; nothing else may make the kubelet restart it.
    '/healthz': () => Promise.resolve({ contentType: TEXT, body: 'ok' }),
    '/readyz': async (query) => {
      const excluded = new Set(query.getAll('exclude'));
      const results = await Promise.all(
        checks
          .filter(({ name }) => !excluded.has(name))
          .map(async (entry) => ({ name: entry.name, reason: await outcomeOf(entry) })),
      );
      const lines = results.map(({ name, reason }) =>
        reason === undefined ? `[+]${name} ok` : `[-]${name} failed: ${reason}`,
      );
      if (results.some(({ reason }) => reason !== undefined))
        return { status: 503, contentType: TEXT, body: `${lines.join('\n')}\nreadyz check failed\n` };
      const body = query.has('verbose') ? `${lines.join('\n')}\nreadyz check passed\n` : 'ok';
      return { contentType: TEXT, body };
    },
  });

async function outcomeOf(entry: ReadinessCheck): Promise<string | undefined> {
  try {
    return await entry.check();
  } catch (thrown) {
    return messageOf(thrown);
  }
}

/** `/metrics` for Prometheus. */
export const metricsServer = (expose: () => Promise<{ contentType: string; body: string }>): PlainServer =>
  new PlainServer({ '/metrics': expose });

/** Listens on the port and returns it. @throws MusterError LISTEN_FAILED, naming the flag that chooses another port */
export async function listenOn(
  server: PlainServer,
  host: string,
  port: number,
  flag: string,
): Promise<number> {
  try {
    return await server.listen(host, port);
  } catch (thrown) {
    throw new MusterError(
      'LISTEN_FAILED',
      `cannot listen on ${host}:${port}: ${messageOf(thrown)}`,
      `stop what holds the port, or choose another with ${flag}`,
      { cause: thrown },
    );
  }
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

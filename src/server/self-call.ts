import { request } from 'node:https';
import { connect } from 'node:tls';
import { messageOf } from '../errors.ts';

/** Well under the timeout of a readiness probe. */
const TIMEOUT_MS = 1000;

/**
 * Calls this very server the way an API server would: a TLS handshake, which leaf it shows, and a request. That finds
 * what looking at our own state cannot: a listener that is not there, a certificate that was never put into service.
 * @param bindAddress where the port listens; empty for everywhere
 * @param expected.clientCertificate whether one is asked for; then there is none to show, and the handshake must do
 * @returns undefined, or why not
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

/** The identity is checked by fingerprint, so that neither the CA nor the name has to be known here. */
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

import { request } from 'node:https';
import { text as consumeText } from 'node:stream/consumers';
import { ControlPlaneFailed } from './control-plane.ts';
import { logTail } from './managed-process.ts';
import type { ManagedProcess } from './managed-process.ts';
import { until } from './until.ts';

/** Far beyond what a loaded machine with two processors, or one with a slow disk, has been seen to need (ms). */
const START_WITHIN = 100_000;

/**
 * Waits until `https://127.0.0.1:<port><path>` answers 200. `processes` are those that it takes: should one of them end
 * meanwhile, the wait is over.
 *
 * @throws ControlPlaneFailed with the tail of the log of the process that ended, or of the first one when time is up.
 */
export async function untilReady(
  processes: readonly [ManagedProcess, ...ManagedProcess[]],
  port: number,
  path: string,
  signal?: AbortSignal,
): Promise<void> {
  const [main] = processes;
  const dead = () => processes.find((process) => process.ended() !== undefined);
  try {
    await until(
      `${main.name} answers ${path}`,
      async () => {
        if (dead()) return true;
        const { status, text } = await answerOf(port, path);
        if (status === 200) return true;
        // The answer names each check, with [-] before those that fail.
        throw new Error(
          `it answers ${status}: ${text.match(/^\[-\].*/gm)?.join('; ') ?? text.slice(0, 200)}`,
        );
      },
      { withinMs: START_WITHIN, everyMs: 50, signal },
    );
  } catch (error) {
    if (signal?.aborted) throw error;
    throw await failure(main, (error as Error).message, error);
  }
  const culprit = dead();
  if (culprit) throw await failure(culprit, `${culprit.name} ended (${culprit.ended()}) during start-up`);
}

async function failure(process: ManagedProcess, what: string, cause?: unknown): Promise<ControlPlaneFailed> {
  return new ControlPlaneFailed(
    `${what}; the end of ${process.logFile}:\n${await logTail(process.logFile)}`,
    { cause },
  );
}

/** No secret goes out and nothing that comes back is believed, so whose certificate it is does not matter. */
function answerOf(port: number, path: string): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const probe = request({
      host: '127.0.0.1',
      port,
      path,
      rejectUnauthorized: false,
      agent: false,
      timeout: 5_000,
    });
    probe.once('response', (response) => {
      consumeText(response).then((text) => {
        resolve({ status: response.statusCode ?? 0, text });
      }, reject);
    });
    probe.once('timeout', () => {
      probe.destroy(new Error('no answer within 5 s'));
    });
    probe.once('error', reject);
    probe.end();
  });
}

import { Worker } from 'node:worker_threads';
import { messageOf, MusterError } from '../../errors.ts';
import type { CheckReport, Meant, TrialNews, TrialInput, Tried } from './trial.ts';

/** How long (ms) a thread may say nothing at all. Honest checks take a few ms in a row; a loop without an end, for ever. */
const SILENCE_MS = 10_000;

/** How one thread came to its end, other than by its last word. */
interface Stuck {
  readonly reason: string;
  /** undefined: before the first check. */
  readonly at: { readonly name: string; readonly rule: string } | undefined;
}

/**
 * Tries a backend out in a thread of its own, which is ended where it no longer answers; what it was at is then reported as
 * failed, and another thread goes on with the next check.
 * @param tell hears of each check as it is done
 * @returns what was tried
 * @throws MusterError where there is no such backend, or it does not load
 */
export async function runTrial(meant: Meant, tell: (report: CheckReport) => void): Promise<Tried> {
  const reported: string[] = [];
  const hung: string[] = [];
  const told = (report: CheckReport): void => {
    reported.push(report.name);
    tell(report);
  };
  for (;;) {
    const end = await inThread({ meant, reported, hung }, told);
    if ('kind' in end) return end;
    if (end.at === undefined) {
      throw new MusterError(
        'BACKEND_MODULE_INVALID',
        `the backend does not load: ${end.reason}`,
        'correct the module: it has to load, and create() to return, without waiting for anything',
      );
    }
    hung.push(end.at.name);
    told({ ...end.at, state: 'failed', reason: end.reason });
  }
}

function inThread(input: TrialInput, told: (report: CheckReport) => void): Promise<Tried | Stuck> {
  // The same file in src and, compiled, in dist.
  const file = new URL(import.meta.url.endsWith('.ts') ? './trial.ts' : './trial.js', import.meta.url);
  const thread = new Worker(file, { workerData: input });
  let silence: NodeJS.Timeout | undefined;
  return new Promise<Tried | Stuck>((resolve, reject) => {
    let tried: Tried = { kind: 'backend', name: '' };
    let at: Stuck['at'];
    const stuck = (reason: string): void => resolve({ reason, at });
    const listen = (): void => {
      clearTimeout(silence);
      silence = setTimeout(
        () =>
          stuck(`it was at work for ${SILENCE_MS / 1000} s and let nothing else run: a loop without an end`),
        SILENCE_MS,
      );
    };
    listen();
    thread.on('message', (said: TrialNews) => {
      listen();
      if (said.what === 'loaded') tried = { kind: said.kind, name: said.name };
      else if (said.what === 'checking') at = { name: said.name, rule: said.rule };
      else if (said.what === 'checked') told(said.report);
      else if (said.what === 'done') resolve(tried);
      else if (said.what === 'fault')
        reject(new MusterError(said.code, said.message, said.fix, { listed: said.listed }));
    });
    // An error overtakes what the thread has said before it; its end does not.
    let threw: string | undefined;
    thread.on('error', (thrown) => {
      threw = `it threw "${messageOf(thrown)}" where nobody could catch it`;
    });
    thread.on('exit', (code) => stuck(threw ?? `it ended the process, with exit code ${code}`));
  }).finally(async () => {
    clearTimeout(silence);
    thread.removeAllListeners();
    await thread.terminate();
  });
}

import { Worker } from 'node:worker_threads';
import { messageOf, MusterError } from '../../errors.ts';
import type { CheckReport, Meant, TrialNews, TrialInput, Tried } from './trial.ts';

/**
 * How long (ms) a thread that has begun may send nothing. Honest checks take a few ms each; an endless loop sends nothing for
 * ever.
 */
const SILENCE_MS = 10_000;

/** How a thread ended that did not send `done`. */
interface Stuck {
  readonly reason: string;
  /** The check that was running; undefined: none had begun. */
  readonly at: { readonly name: string; readonly rule: string } | undefined;
}

/**
 * Runs the checks in a thread, and ends a thread that no longer answers: the check that was running is reported as failed,
 * and another thread goes on with the next check.
 * @param tell called with the report of each check
 * @returns the kind and the name of the module
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
  // The file is `.ts` in src and `.js` in dist.
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
    thread.on('message', (said: TrialNews) => {
      listen();
      if (said.what === 'loaded') tried = { kind: said.kind, name: said.name };
      else if (said.what === 'checking') at = { name: said.name, rule: said.rule };
      else if (said.what === 'checked') told(said.report);
      else if (said.what === 'done') resolve(tried);
      else if (said.what === 'fault')
        reject(new MusterError(said.code, said.message, said.fix, { listed: said.listed }));
    });
    // The event `error` arrives before messages that the thread sent earlier, the event `exit` after them.
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

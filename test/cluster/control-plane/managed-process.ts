import { spawn } from 'node:child_process';
import { close, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Watchdog } from './watchdog.ts';

/** One process of the control plane, its log in `<dir>/<name>.log`. */
export interface ManagedProcess {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Undefined while the process runs; then how it ended, e.g. `exit code 1` or `signal SIGKILL`. */
  ended(): string | undefined;
  /** Resolves when the process has ended, with the same words. */
  readonly exited: Promise<string>;
  /** Asks with SIGTERM, insists with SIGKILL after `graceMs`; 0 goes straight to SIGKILL. Safe to call again. */
  stop(graceMs: number): Promise<void>;
}

export interface LaunchOptions {
  readonly name: string;
  readonly path: string;
  readonly args: readonly string[];
  /** Folder of the log file; a second launch under the same name appends to the log. */
  readonly dir: string;
  readonly watchdog: Watchdog;
  /** Comes before all other variables. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * A fifth of the processor time of a control plane is Go's garbage collector, which is there to save memory that these few
 * minutes need not save: it collects when the memory has grown fivefold instead of twofold, or comes near a bound. What an
 * API server keeps of some thousand Pods that were changed is a gigabyte by itself: with a bound of one it would do nothing
 * but collect, and answer three times slower.
 */
const FEW_COLLECTIONS = { GOGC: '400', GOMEMLIMIT: '4GiB' };

/**
 * On one processor a Go program does the same for a tenth less: it has no idle threads that look for work, and collects no
 * garbage in them. What a suite gives it to do at once seldom fills two.
 */
const ONE_PROCESSOR = { GOMAXPROCS: '1' };

/** Of every Go program here, those that a shell starts, too. */
export const FRUGAL_GO = { ...FEW_COLLECTIONS, ...ONE_PROCESSOR };

/** What the caller's own environment says comes before it. */
export const goEnvironment = (): NodeJS.ProcessEnv => ({ ...FRUGAL_GO, ...process.env });

/** Starts a process in a group of its own, both its output streams going to its log file. */
export async function launch({
  name,
  path,
  args,
  dir,
  watchdog,
  env,
}: LaunchOptions): Promise<ManagedProcess> {
  const logFile = join(dir, `${name}.log`);
  const log = openSync(logFile, 'a', 0o600);
  // Detached: Ctrl-C must reach only us, so that what is stopped, and in which order, is ours to say.
  const child = spawn(path, args, {
    stdio: ['ignore', log, log],
    detached: true,
    env: { ...goEnvironment(), ...env },
  });
  close(log, () => undefined);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => {
      reject(new Error(`${name} could not be started: ${cause.message}`, { cause }));
    });
  });
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${name} could not be started: it has no process id`);
  watchdog.add(pid);

  let ending: string | undefined;
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      watchdog.remove(pid);
      ending = signal === null ? `exit code ${code ?? 0}` : `signal ${signal}`;
      resolve(ending);
    });
  });
  return {
    name,
    pid,
    logFile,
    exited,
    ended: () => ending,
    stop: async (graceMs) => {
      if (ending !== undefined) return;
      if (graceMs > 0) {
        child.kill('SIGTERM');
        const waiting = new AbortController();
        await Promise.race([
          exited,
          delay(graceMs, undefined, { signal: waiting.signal }).catch(() => undefined),
        ]);
        waiting.abort();
      }
      if (ended(ending)) return;
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Keeps the compiler from believing that `ending`, undefined above, is so still after an await. */
function ended(ending: string | undefined): boolean {
  return ending !== undefined;
}

/** The last lines of a process's log, for the message of the error that its failure causes. */
export async function logTail(logFile: string, lines = 20): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-lines).join('\n') || '(nothing was logged)';
}

import { link, mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** The holder touches its lock this often (ms); a lock untouched for much longer has nobody behind it. */
const TOUCH_EVERY = 5_000;
const ABANDONED_AFTER = 60_000;

/** Nobody watches a program that says nothing for minutes (ms). */
const TELL_EVERY = 20_000;

/** While somebody else holds the lock. */
export interface Waiting {
  /** Called at once and every so often, with the process id of the owner. */
  readonly told: (owner: number) => Promise<void>;
  /** Whether there is nothing left to do, though the owner goes on. */
  readonly enough: () => Promise<boolean>;
}

/**
 * Runs `work` while holding the lock file, so that two processes do not build the same thing at once.
 *
 * The file holds the process id of its owner. It counts as stale when that process is gone, or when the file has not
 * been touched for a minute (the id may belong to an unrelated process by now, or to another machine that shares the
 * folder). Should two processes ever get in together, they waste time but break nothing: the work itself must put its
 * results in place atomically.
 *
 */
export async function withBuildLock(
  file: string,
  work: () => Promise<void>,
  { told, enough }: Waiting,
): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  let tellAt = 0;
  while (!(await take(file))) {
    const owner = await ownerOf(file);
    if (owner === undefined) {
      await rm(file, { force: true });
      continue;
    }
    if (await enough()) return;
    if (Date.now() >= tellAt) {
      await told(owner);
      tellAt = Date.now() + TELL_EVERY;
    }
    await delay(250);
  }
  const touching = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined);
  }, TOUCH_EVERY);
  touching.unref();
  try {
    await work();
  } finally {
    clearInterval(touching);
    await rm(file, { force: true });
  }
}

/** Linking a file that is already written makes the lock appear with its content, never empty. */
async function take(file: string): Promise<boolean> {
  const own = `${file}.${process.pid}`;
  await writeFile(own, `${process.pid}\n`);
  try {
    await link(own, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(own, { force: true });
  }
}

/** The process id of the living owner, or undefined when the lock is stale. A lock just released counts as stale. */
async function ownerOf(file: string): Promise<number | undefined> {
  try {
    const owner = Number.parseInt(await readFile(file, 'utf8'), 10);
    if (Date.now() - (await stat(file)).mtimeMs > ABANDONED_AFTER) return undefined;
    return owner > 0 && isAlive(owner) ? owner : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

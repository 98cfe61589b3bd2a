import { link, mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** The holder touches its lock this often (ms); a lock untouched for much longer has nobody behind it. */
const TOUCH_EVERY = 5_000;
const ABANDONED_AFTER = 60_000;

/**
 * Runs `work` while holding the lock file, so that two processes do not build the same thing at once.
 *
 * The file holds the process id of its owner. It counts as stale when that process is gone, or when the file has not
 * been touched for a minute (the id may belong to an unrelated process by now, or to another machine that shares the
 * folder). Should two processes ever get in together, they waste time but break nothing: the work itself must put its
 * results in place atomically.
 *
 * @param waiting called once with the owner's process id when the lock is held by somebody else.
 */
export async function withBuildLock<T>(
  file: string,
  work: () => Promise<T>,
  waiting: (owner: number) => void,
): Promise<T> {
  await mkdir(dirname(file), { recursive: true });
  let told = false;
  while (!(await take(file))) {
    const owner = await ownerOf(file);
    if (owner === undefined) {
      await rm(file, { force: true });
      continue;
    }
    if (!told) waiting(owner);
    told = true;
    await delay(250);
  }
  const touching = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined);
  }, TOUCH_EVERY);
  touching.unref();
  try {
    return await work();
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

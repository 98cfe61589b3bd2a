import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import compiledOnce from './compiled-once.ts';

/** Where Linux keeps files in memory. */
const IN_MEMORY = '/dev/shm';
/** Free bytes that the control planes of a run do not fill: some hundred MB each, four at once. */
const ENOUGH = 6 * 2 ** 30;

/**
 * Jest's `globalSetup`: all temporary files of a run lie in one folder, which goes with the run, whatever a test leaves
 * behind. TESTING_MUSTER_KEEP=1 keeps it for a look. Control planes have theirs in memory if there is room: while a disk
 * stands still, so would etcd, and what was asked of it would fail.
 */
export default function openTemporaryFolder(): void {
  process.env['TMPDIR'] = mkdtempSync(join(tmpdir(), 'muster-tests-'));
  if (process.env['TESTING_MUSTER_KEEP'] !== '1' && freeIn(IN_MEMORY) > ENOUGH)
    process.env['TESTING_MUSTER_STATE'] = mkdtempSync(join(IN_MEMORY, 'muster-tests-'));
  compiledOnce();
}

/** Jest's `globalTeardown`, in the same process. */
export function removeTemporaryFolder(): void {
  const { TMPDIR, TESTING_MUSTER_STATE, TESTING_MUSTER_KEEP } = process.env;
  if (TESTING_MUSTER_KEEP === '1') process.stderr.write(`Temporary files are in ${TMPDIR}\n`);
  else
    for (const folder of [TMPDIR, TESTING_MUSTER_STATE].filter((path) => path !== undefined))
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

/** Bytes; none where there is no such folder. */
function freeIn(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import compiledOnce from './compiled-once.ts';

/**
 * Jest's `globalSetup`: all temporary files of a run lie in one folder, which goes with the run, whatever a test leaves
 * behind. TESTING_MUSTER_KEEP=1 keeps it for a look.
 */
export default function openTemporaryFolder(): void {
  process.env['TMPDIR'] = mkdtempSync(join(tmpdir(), 'muster-tests-'));
  compiledOnce();
}

/** Jest's `globalTeardown`, in the same process. */
export function removeTemporaryFolder(): void {
  const folder = tmpdir();
  if (process.env['TESTING_MUSTER_KEEP'] === '1') process.stderr.write(`Temporary files are in ${folder}\n`);
  else rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

import { describe } from '@jest/globals';
import { BINARIES, locateBinaries } from './binaries.ts';

/** Asked once per test file; a few `stat` calls when the binaries are there. */
const reason = await whyNot();

/**
 * `describe` for tests that need a real control plane. Where its programs cannot be had, the suite is skipped and says
 * so on stderr; in CI (`CI` set) it never is: there the programs are built, and if that fails, so does the test file.
 * On a developer's machine nothing is built unasked, because a test run that sits still for ten minutes looks hung.
 */
export function clusterSuite(name: string, body: () => void): void {
  if (reason === undefined) {
    describe(name, body);
    return;
  }
  process.stderr.write(`SKIPPED (no control plane): ${name}: ${reason}\n`);
  describe.skip(name, body);
}

async function whyNot(): Promise<string | undefined> {
  const inCi = Boolean(process.env['CI']);
  try {
    await locateBinaries({ need: BINARIES, build: inCi });
    return undefined;
  } catch (error) {
    if (inCi || !(error instanceof Error)) throw error;
    return error.message;
  }
}

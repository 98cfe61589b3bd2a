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
  clusterSuiteUnless(undefined, name, body);
}

/** @param notHere why the suite is not for this run, which is said as well; undefined: it is */
export function clusterSuiteUnless(notHere: string | undefined, name: string, body: () => void): void {
  const said = reason === undefined ? notHere : `no control plane: ${reason}`;
  if (said === undefined) {
    describe(name, body);
    return;
  }
  process.stderr.write(`SKIPPED: ${name}: ${said}\n`);
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

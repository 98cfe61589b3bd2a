import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Their tests need a tool, another release or test:long: what they hear, others hear as well. */
const DEAF =
  /test\/(component\/(hpc\/scripts|release\/whole|dashboard\/browser)|cluster\/(upgrade|soak|uninstall|skew|takeover))\.test\.ts$/;

/**
 * Jest reporter: after a run of all tests, fails it where the program has a log message, a metric or an Event that
 * was never heard. Of a part of the tests, or where some failed or were skipped that could have heard it, it says nothing.
 */
export default class HeardByNone {
  #whole;
  #directory;
  #missing = [];

  constructor(globalConfig) {
    const { nonFlagArgs = [], testNamePattern = '', onlyChanged, watch, watchAll } = globalConfig;
    this.#whole =
      process.env['TESTING_MUSTER_WHOLE'] === '1' &&
      nonFlagArgs.length === 0 &&
      !testNamePattern &&
      !(onlyChanged || watch || watchAll);
    if (!this.#whole) return;
    this.#directory = mkdtempSync(join(tmpdir(), 'muster-heard-'));
    // Workers inherit it: they are started later.
    process.env['TESTING_MUSTER_OBSERVED'] = this.#directory;
  }

  async onRunComplete(_contexts, results) {
    if (!this.#whole) return;
    const skipped = results.testResults.some(
      ({ numPendingTests, testFilePath }) => numPendingTests > 0 && !DEAF.test(testFilePath),
    );
    if (results.numFailedTests + results.numRuntimeErrorTestSuites === 0 && !skipped) {
      const { heardByNone } = await import('./check.ts');
      this.#missing = heardByNone(this.#directory);
      if (this.#missing.length > 0)
        process.stderr.write(
          `\nHeard by no test of this run:\n${this.#missing.map((one) => `  ${one}\n`).join('')}`,
        );
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }

  getLastError() {
    return this.#missing.length === 0
      ? undefined
      : new Error(`${this.#missing.length} things are said that no test hears`);
  }
}

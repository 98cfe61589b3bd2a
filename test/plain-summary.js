import { relative } from 'node:path';

const SLOWEST = 10;

/** Jest reporter: the slowest files, a loud word about every test that did not run, and one plain line at the very end. */
export default class PlainSummary {
  #rootDir;

  constructor({ rootDir }) {
    this.#rootDir = rootDir;
  }

  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const nameOf = ({ testFilePath }) => relative(this.#rootDir, testFilePath);
    if (results.testResults.length > SLOWEST) {
      const slowest = results.testResults
        .toSorted((a, b) => b.perfStats.runtime - a.perfStats.runtime)
        .slice(0, SLOWEST)
        .map((suite) => `${(suite.perfStats.runtime / 1000).toFixed(1).padStart(7)} s  ${nameOf(suite)}`);
      process.stderr.write(`\nThe slowest files:\n${slowest.join('\n')}\n`);
    }
    if (skipped > 0) {
      const suites = results.testResults
        .filter((suite) => suite.numPendingTests > 0)
        .map((suite) => `  ${nameOf(suite)}: ${suite.numPendingTests}`);
      process.stderr.write(`\nNOT RUN: ${skipped} tests\n${suites.join('\n')}\n`);
    }
    // Behind whatever jest itself still has to say.
    process.once('exit', () => {
      process.stdout.write(
        `${results.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
      );
    });
  }
}

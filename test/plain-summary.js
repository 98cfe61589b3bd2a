/** Jest reporter: one plain line at the very end, and a loud word about every test that did not run. */
export default class PlainSummary {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    if (skipped > 0) {
      const suites = results.testResults
        .filter((suite) => suite.numPendingTests > 0)
        .map((suite) => `  ${suite.testFilePath}: ${suite.numPendingTests}`);
      process.stderr.write(`\nNOT RUN: ${skipped} tests\n${suites.join('\n')}\n`);
    }
    // Behind whatever jest itself still has to say.
    process.once('exit', () => {
      process.stdout.write(`${results.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
    });
  }
}

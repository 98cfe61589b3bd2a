import { expect, test } from '@jest/globals';
import { firstRunOf } from '../second-run.ts';

const suite = (testFilePath: string, numPassingTests: number, failed: number, failureMessage?: string) => ({
  ...{ testFilePath, numPassingTests, numFailingTests: failed, numPendingTests: 1, numTodoTests: 0 },
  failureMessage: failureMessage ?? (failed > 0 ? 'expect(...)' : null),
});

test('suites that failed, or could not begin, are run again, and only what the others passed is added to it', () => {
  const run = firstRunOf({
    testResults: [suite('a', 7, 0), suite('b', 3, 1), suite('c', 0, 0, 'SyntaxError'), suite('d', 2, 0)],
  });
  expect(run).toMatchObject({ suites: ['b', 'c'], passed: 9, skipped: 2 });
});

test('a run in which nothing failed leaves no suite', () => {
  expect(firstRunOf({ testResults: [suite('a', 7, 0)] }).suites).toEqual([]);
});

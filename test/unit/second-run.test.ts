import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { firstRunOf } from '../second-run.ts';

const ROOT = join(import.meta.dirname, '../..');

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

test('.ci/run starts it where the machine has an older Node of its own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-second-run-'));
  try {
    writeFileSync(join(folder, 'node'), '#!/bin/sh\nexit 9\n', { mode: 0o755 });
    writeFileSync(join(folder, 'failed'), JSON.stringify({ suites: [], environment: {} }));
    const text = readFileSync(join(ROOT, '.ci/run'), 'utf8');
    const [begins = ''] = /^second_run\(\) .*$/m.exec(text) ?? [];
    const { status, stderr } = spawnSync('bash', ['--norc', '-c', `${begins}\nsecond_run`], {
      cwd: ROOT,
      env: { PATH: `${folder}:/usr/bin:/bin`, TESTING_MUSTER_FAILED: join(folder, 'failed') },
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: '0 suites failed: no second run, which is for 1 to 4\n',
    });
    expect(text).not.toMatch(/(^|[|&;({] *)node /m);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** More suites than this are a defect, or a machine that is of no use. */
const MOST_SUITES = 4;
/** What of the environment decides on what a suite does. */
const DECIDES = ['LONG', 'SEARCH', 'WHOLE', 'KUBERNETES'].map((name) => `TESTING_MUSTER_${name}`);

/** What Jest tells its reporters of a run, as far as it is read here. */
interface Results {
  readonly testResults: readonly {
    readonly testFilePath: string;
    readonly numPassingTests: number;
    readonly numFailingTests: number;
    readonly numPendingTests: number;
    readonly numTodoTests: number;
    readonly failureMessage?: string | null;
  }[];
}

/** What a run leaves to a second one. */
export interface FirstRun {
  /** Paths of the suites that failed. */
  readonly suites: readonly string[];
  /** Tests of the other suites. */
  readonly passed: number;
  readonly skipped: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export function firstRunOf({ testResults }: Results): FirstRun {
  const failed = testResults.filter((suite) => suite.numFailingTests > 0 || suite.failureMessage);
  const others = testResults.filter((suite) => !failed.includes(suite));
  return {
    suites: failed.map(({ testFilePath }) => testFilePath),
    passed: others.reduce((sum, { numPassingTests }) => sum + numPassingTests, 0),
    skipped: others.reduce(
      (sum, { numPendingTests, numTodoTests }) => sum + numPendingTests + numTodoTests,
      0,
    ),
    environment: Object.fromEntries(DECIDES.map((name) => [name, process.env[name]])),
  };
}

/** For the reporter: notes what failed in the file that TESTING_MUSTER_FAILED names, if it names one. */
export function noteFailed(results: Results): void {
  const file = process.env['TESTING_MUSTER_FAILED'];
  if (file !== undefined) writeFileSync(file, JSON.stringify(firstRunOf(results)));
}

/** For the reporter of a second run: the first one; undefined in a first one. */
export function firstRun(): FirstRun | undefined {
  const told = process.env['TESTING_MUSTER_FIRST_RUN'];
  return told === undefined ? undefined : (JSON.parse(told) as FirstRun);
}

/** Runs what failed once more, alone on the machine. @returns the exit code: 1 too where no suite is what failed */
function runAgain(): number {
  const file = process.env['TESTING_MUSTER_FAILED'] ?? '';
  const first = JSON.parse(readFileSync(file, 'utf8')) as FirstRun;
  // A run that dies before it has a result does not find this one.
  writeFileSync(file, JSON.stringify({ ...first, suites: [] }));
  const { suites, environment } = first;
  if (suites.length === 0 || suites.length > MOST_SUITES) {
    process.stderr.write(`${suites.length} suites failed: no second run, which is for 1 to ${MOST_SUITES}\n`);
    return 1;
  }
  const env = { ...process.env, ...environment, TESTING_MUSTER_FIRST_RUN: JSON.stringify(first) };
  const { status } = spawnSync('npm', ['run', '--silent', 'jest', '--', '--maxWorkers=1', ...suites], {
    cwd: join(import.meta.dirname, '..'),
    env: { ...env, TESTING_MUSTER_FAILED: undefined },
    stdio: 'inherit',
  });
  return status ?? 1;
}

if (import.meta.main) process.exitCode = runAgain();

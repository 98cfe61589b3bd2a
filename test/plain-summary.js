import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { firstRun, noteFailed } from './second-run.ts';

const SLOWEST = 10;
const MOST_FAILURES = 20;
/** Characters of a failure's message: the difference comes after what was expected. */
const MOST_WORDS = 800;
/** Seconds of a processor that leave `npm test` within eight minutes on two of them; counting lines costs more. */
const BUDGET = 870;

/**
 * Jest reporter: the slowest files and what all have cost, a loud word about every test that did not run, and one plain
 * line at the very end.
 */
export default class PlainSummary {
  #rootDir;
  #directory = mkdtempSync(join(tmpdir(), 'muster-costs-'));

  constructor({ rootDir }) {
    this.#rootDir = rootDir;
    // Workers inherit it (measured-environment.js): they are started later.
    process.env['TESTING_MUSTER_COSTS'] = join(this.#directory, 'costs.jsonl');
  }

  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const before = firstRun();
    const passed = results.numPassedTests + (before?.passed ?? 0);
    const skipped = results.numPendingTests + results.numTodoTests + (before?.skipped ?? 0);
    const nameOf = ({ testFilePath }) => this.#nameOf(testFilePath);
    const costs = this.#costs();
    if (results.testResults.length > SLOWEST) {
      const slowest = results.testResults
        .toSorted((a, b) => b.perfStats.runtime - a.perfStats.runtime)
        .slice(0, SLOWEST)
        .map((suite) => {
          const cost = costs.get(suite.testFilePath);
          const told = cost === undefined ? '' : `${seconds(cost.own + cost.children)} of a processor`;
          return `${seconds(suite.perfStats.runtime / 1000)} ${told}  ${nameOf(suite)}`;
        });
      process.stderr.write(`\nThe slowest files:\n${slowest.join('\n')}\n`);
      const dearest = [...costs.values()]
        .toSorted((a, b) => b.own + b.children - (a.own + a.children))
        .slice(0, SLOWEST)
        .map(({ path, own, children }) => `${seconds(own + children)} of a processor  ${this.#nameOf(path)}`);
      process.stderr.write(`\nThe dearest files:\n${dearest.join('\n')}\n`);
      const sum = [...costs.values()].reduce((all, { own, children }) => all + own + children, 0);
      process.stderr.write(
        `\nWhat all have cost:\n${this.#byFolder(costs).join('\n')}\n${seconds(sum)} in all, of the ${BUDGET} that a run without coverage may take${sum > BUDGET ? ': TOO MUCH (CONTRIBUTING.md, What tests cost)' : ''}\n`,
      );
    }
    if (skipped > 0) {
      const suites = results.testResults
        .filter((suite) => suite.numPendingTests > 0)
        .map((suite) => `  ${nameOf(suite)}: ${suite.numPendingTests}`);
      process.stderr.write(`\nNOT RUN: ${skipped} tests\n${suites.join('\n')}\n`);
    }
    noteFailed(results);
    const again = before?.suites.map(
      (path) => `RUN AGAIN, alone, since it failed beside others: ${this.#nameOf(path)}\n`,
    );
    // Behind whatever jest itself still has to say.
    process.once('exit', () => {
      process.stdout.write(
        `${[...this.#failures(results), ...(again ?? [])].join('')}${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
      );
    });
  }

  /** By path: what each file has cost in seconds of a processor, of jest's own process and of the programs it started. */
  #costs() {
    try {
      const lines = readFileSync(process.env['TESTING_MUSTER_COSTS'], 'utf8').trim().split('\n');
      return new Map(lines.map((line) => JSON.parse(line)).map((cost) => [cost.path, cost]));
    } catch {
      return new Map();
    } finally {
      rmSync(this.#directory, { recursive: true, force: true });
    }
  }

  /** A line for each test that failed: of a long run often only the end is kept. */
  #failures({ testResults }) {
    return testResults
      .flatMap(({ testFilePath, testResults: tests, failureMessage }) => {
        const failed = tests.filter(({ status }) => status === 'failed');
        const told = failed.map(({ fullName, failureMessages }) => [fullName, failureMessages[0]]);
        const broken = failed.length === 0 && failureMessage ? [['', failureMessage]] : [];
        return [...told, ...broken].map(([name, message]) => [testFilePath, name, message]);
      })
      .map(([path, name, message]) => {
        const [words] = stripVTControlCharacters(message ?? '')
          .trim()
          .split(/\n\s+at /);
        return `FAILED ${this.#nameOf(path)} ${name}: ${words.replace(/\s+/g, ' ').slice(0, MOST_WORDS)}\n`;
      })
      .slice(0, MOST_FAILURES);
  }

  #nameOf(path) {
    return relative(this.#rootDir, path);
  }

  #byFolder(costs) {
    const sums = new Map();
    for (const { path, own, children } of costs.values()) {
      const folder = relative(this.#rootDir, path).split('/').slice(0, 2).join('/');
      const sum = sums.get(folder) ?? { files: 0, own: 0, children: 0 };
      sums.set(folder, {
        files: sum.files + 1,
        own: sum.own + own,
        children: sum.children + children,
      });
    }
    return [...sums].map(
      ([folder, { files, own, children }]) =>
        `${seconds(own + children)} of a processor, of which ${seconds(children).trim()} in programs started: ${folder}, ${files} files`,
    );
  }
}

const seconds = (count) => `${count.toFixed(1).padStart(7)} s`;

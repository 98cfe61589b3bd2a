/** A cluster of a few nodes: that `npm run bench -- cluster` does what it says, with Muster and without. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { contend } from '../../bench/cluster/contender.ts';
import { endingOf } from '../../bench/cluster/ending.ts';
import { STEPS } from '../../bench/cluster/options.ts';
import type { ContenderRun } from '../../bench/cluster/results.ts';
import { inLength } from '../support/length.ts';
import { clusterSuiteUnless } from './control-plane/suite.ts';
import { startWatchdog } from './control-plane/watchdog.ts';
import { locateGoTool, whyNoGoTool } from './go-tools/go-tools.ts';

const notHere = async (): Promise<string | undefined> =>
  inLength({ short: 'it takes two minutes: npm run test:long', long: undefined }) ?? whyNoGoTool('kwok');

clusterSuiteUnless(await notHere(), 'a small cluster that is filled', () => {
  let dir: string;
  beforeAll(async () => {
    await promisify(execFile)('npm', ['run', '--silent', 'build']);
    dir = await mkdtemp(join(tmpdir(), 'muster-cluster-bench-'));
  }, 600_000);
  afterAll(() => rm(dir, { recursive: true, force: true }));

  /** @param stopAt tenths after which the run is told to end */
  const run = async (kind: 'alone' | 'muster', stopAt?: number): Promise<ContenderRun> => {
    const watchdog = startWatchdog(undefined);
    const kwok = await locateGoTool('kwok', { build: false });
    const ending = endingOf(new AbortController().signal, undefined);
    const kept: ContenderRun[] = [];
    const made = (sofar: ContenderRun): void => {
      kept.push(sofar);
      if (sofar.steps.length === stopAt) ending.because('the test has seen enough');
    };
    const given = { kwok, dir: join(dir, `${kind}-${stopAt ?? STEPS}`), watchdog, ending, made };
    const { run: done } = await contend(kind, { pods: 160, nodes: 5, ahead: 8 }, given, () => undefined);
    await watchdog.dismiss();
    expect(kept.at(-1)).toEqual(done);
    expect(kept.length).toBeGreaterThan(done.steps.length);
    return done;
  };
  const tenths = (many: number): number[] => Array.from({ length: many }, (_, index) => 16 * (index + 1));

  test.each([
    ['alone', 0],
    ['muster', 1],
  ] as const)(
    '%s: every tenth is measured and kept, and every write is counted',
    async (kind, gangs) => {
      const { steps, writes, ...rest } = await run(kind);
      expect(steps.map(({ pods }) => pods)).toEqual(tenths(STEPS));
      expect(rest).toMatchObject({ early: 0, failed: 0, bound: 160 });
      expect(rest.ended).toBeUndefined();
      expect(writes).toMatchObject({ 'POST pods': 8, 'POST pods/binding': 8 });
      expect(writes['POST podgangs'] ?? 0).toBe(gangs);
      // One for each Pod takes its gate off.
      expect(writes['PATCH pods'] ?? 0).toBe(8 * gangs);
      expect(steps.every(({ calls }) => (calls === null) === (kind === 'alone'))).toBe(true);
    },
    300_000,
  );

  test('a run that is ended is whole as far as it came', async () => {
    const { steps, bound, ended, etcd } = await run('alone', 1);
    expect(steps.map(({ pods }) => pods)).toEqual(tenths(steps.length));
    expect(steps.length).toBeGreaterThan(0);
    expect(bound).toBeGreaterThanOrEqual(16 * steps.length);
    expect(etcd).toBeGreaterThan(0);
    expect(ended).toBe(bound < 160 ? 'the test has seen enough' : undefined);
  }, 300_000);
});

/** A run of the bench of a whole cluster that is ended: why, and what is made of it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { writesAGang } from '../../../bench/cluster/control-plane.ts';
import { withCluster } from '../../../bench/cluster/docs.ts';
import { aborted, endingOf } from '../../../bench/cluster/ending.ts';
import { Progress } from '../../../bench/cluster/progress.ts';
import {
  keepResults,
  nothingMeasured,
  readCluster,
  type ClusterResults,
  type ContenderRun,
} from '../../../bench/cluster/results.ts';
import { clusterReport, clusterRunLine, clusterTables } from '../../../bench/cluster/table.ts';
import { clusterChart } from '../../../pictures/cluster-chart.ts';

/** A run of 16,000 Pods that came to its end. */
const WHOLE = readCluster(join(import.meta.dirname, 'whole-run.json'));
const TENTH = WHOLE.pods / 10;
const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/scale.md'), 'utf8');

/** A run that was ended in the tenth after these. */
const cut = (run: ContenderRun, tenths: number, ended: string): ContenderRun => ({
  ...run,
  ...{ ended, bound: tenths * TENTH + 7, steps: run.steps.slice(0, tenths) },
});
const partial = (alone: number, muster: number): ClusterResults => ({
  ...WHOLE,
  alone: cut(WHOLE.alone, alone, 'SIGINT came'),
  muster: cut(WHOLE.muster, muster, 'its 30 minutes were over'),
});
const costOf = (results: ClusterResults, row: string): readonly string[] =>
  clusterTables(results)['cost']?.find(([name]) => name === row) ?? [];

describe('what is made of a run that was ended', () => {
  test('costs are compared over the tenths that both reached', () => {
    const seconds = (run: ContenderRun): number =>
      run.steps.slice(0, 4).reduce((sum, step) => sum + step.seconds, 0);
    const figures = costOf(partial(7, 4), 'seconds until all are bound').slice(1, 3).map(Number);
    expect(figures[0]).toBeCloseTo(seconds(WHOLE.alone), 0);
    expect(figures[1]).toBeCloseTo(seconds(WHOLE.muster), 0);
    expect(costOf(partial(4, 7), 'API server, most MiB')).toEqual(
      costOf(partial(4, 4), 'API server, most MiB'),
    );
  });

  test('what etcd keeps is that of the Pods that are there', () => {
    expect(Number(costOf(WHOLE, 'etcd, KiB a Pod that it keeps')[1])).toBeCloseTo(
      (WHOLE.alone.etcd * 1024) / WHOLE.pods,
      1,
    );
  });

  test.each([
    [10, 10, ''],
    [
      ...[7, 4],
      ' Of 16,000 Pods 6,407 were bound as gangs (its 30 minutes were over) and 11,207 alone (SIGINT came); costs are those of the first 6,400.',
    ],
  ] as const)(
    'of %d tenths alone and %d as gangs is said how far they came and why they ended',
    (alone, muster, said) => {
      const results = alone === 10 ? WHOLE : partial(alone, muster);
      expect(clusterRunLine(results).replace(/.* gangs under way\./, '')).toBe(said);
    },
  );

  test.each([
    [10, 4],
    [4, 10],
    [0, 3],
    [3, 0],
    [0, 0],
  ])('after %d tenths alone and %d as gangs page, report and picture are whole', (alone, muster) => {
    const results = partial(alone, muster);
    const broken = /NaN|undefined|Infinity/;
    expect(withCluster(PAGE, results)).not.toMatch(broken);
    expect(clusterReport(results).join('\n')).not.toMatch(broken);
    expect(clusterChart(results)).not.toMatch(broken);
    expect(clusterTables(results)['steps']).toHaveLength(1 + muster);
  });

  test('where the Pods alone did not come so far the picture shows no bar of theirs', () => {
    const bars = (results: ClusterResults): number =>
      clusterChart(results).match(/class="other"/g)?.length ?? 0;
    expect(bars(WHOLE) - bars(partial(4, 10))).toBe(2 * 6);
  });
});

test('results are kept whole: beside, then in their place', () => {
  const dir = mkdtempSync(join(tmpdir(), 'muster-cluster-results-'));
  const file = join(dir, 'results.json');
  const results = { ...WHOLE, alone: nothingMeasured('it has not begun') };
  keepResults(file, WHOLE);
  keepResults(file, results);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(results);
  expect(readdirSync(dir)).toEqual(['results.json']);
  rmSync(dir, { recursive: true });
});

test('writes are counted a gang, and what hardly ever comes is left out', () => {
  const before = new Map([['POST pods', 128]]);
  const after = new Map([
    ['POST pods', 928],
    ['PUT secrets', 0],
    ['PATCH pods', 1200],
  ]);
  expect(writesAGang(before, after, 100)).toEqual({ 'PATCH pods': 12, 'POST pods': 8 });
  expect(writesAGang(before, after, 0)).toEqual({});
});

describe('an end', () => {
  test('has the reason that came first', async () => {
    const whole = new AbortController();
    const ending = endingOf(whole.signal, undefined);
    expect(ending.why()).toBeUndefined();
    whole.abort('SIGTERM came');
    ending.because('something else');
    await aborted(ending.signal);
    expect(ending.why()).toBe('SIGTERM came');
    expect(endingOf(whole.signal, 1000).why()).toBe('SIGTERM came');
  });

  test('comes when the time is over', async () => {
    const ending = endingOf(new AbortController().signal, 0);
    await aborted(ending.signal);
    expect(ending.why()).toBe('its 0 minutes were over');
  });

  test('does not come by time where it is over before', () => {
    const whole = new AbortController();
    const ending = endingOf(whole.signal, 60_000);
    ending.over();
    whole.abort('SIGINT came');
    expect(ending.why()).toBeUndefined();
  });
});

describe('progress', () => {
  const MINUTE = 60_000;
  /** Looks each minute. @param busy share of a processor of each, undefined: it ends after the first minute */
  const watch = (
    busy: { kwok?: number; muster?: number },
    boundAt: readonly number[],
    minutes: number,
  ): string[] => {
    const said: string[] = [];
    let now = 0;
    const cpu = (pid: number): number => {
      const share = pid === 1 ? busy.kwok : busy.muster;
      if (share === undefined && now > 0) throw new Error('ENOENT');
      return (share ?? 0) * now * 1000;
    };
    const progress = new Progress({ pids: { kwok: 1, muster: 2 }, still: (text) => said.push(text), cpu });
    for (; now <= minutes * MINUTE; now += MINUTE) {
      if (boundAt.includes(now / MINUTE)) progress.bound();
      progress.look(now);
    }
    return said;
  };
  const STILL = 'no gang was bound for 3 minutes, in which ';

  test.each([
    ['goes on', { kwok: 1, muster: 0 }, [2, 4, 6], 8, []],
    [
      ...['one computes', { kwok: 1, muster: 0 }, [1], 9],
      [`${STILL}kwok took 1.00 of a processor; still stood muster`],
    ],
    [
      ...['both do', { kwok: 0.25, muster: 0.5 }, [], 3],
      [`${STILL}muster took 0.50 of a processor; kwok took 0.25 of a processor`],
    ],
    ['none does', { kwok: 0, muster: 0.01 }, [], 3, [`${STILL}still stood muster, kwok`]],
    ['one has ended', { muster: 0 }, [], 3, [`${STILL}still stood muster; there was no longer kwok`]],
  ] as const)('%s', (_name, busy, boundAt, minutes, said) => {
    expect(watch(busy, boundAt, minutes)).toEqual(said);
  });
});

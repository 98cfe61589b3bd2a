import { describe, expect, test } from '@jest/globals';
import { paletteFor } from '../../../../src/cli/output/palette.ts';
import { gangKeys } from '../../../../src/status/gang-status.ts';
import { painted } from '../../../../src/cli/status/table.ts';
import { screenLines } from '../../../../src/cli/status/view.ts';
import type { Moment } from '../../../../src/status/moment.ts';
import { Cache } from '../../../../src/kube/loop/cache.ts';
import { POD_INDEXERS } from '../../../../src/controller/watch/gang-view.ts';
import type { GangRecord, PodRecord } from '../../../../src/gang/records.ts';
import { INITIALIZED } from '../../gang/plan/gang-states.ts';
import { gang, NOW, pod, PODS, printed, row, statusOf } from './gangs.ts';

const moment = (parts: Partial<Moment> = {}): Moment => ({
  question: { gang: undefined, namespace: 'ml' },
  gangs: [],
  trouble: undefined,
  now: NOW,
  ...parts,
});
const screen = (parts: Partial<Moment>, columns = 100, rows = 24): string[] =>
  printed(screenLines(moment(parts), { columns, rows }));
const named = (count: number): ReturnType<typeof row>[] =>
  Array.from({ length: count }, (_, index) =>
    row({ name: `gang-${index}`, phase: index % 3 === 0 ? 'Pending' : 'Running' }),
  );

describe('a terminal', () => {
  test('that is too low says how many gangs are not shown, and of which phase', () => {
    expect(screen({ gangs: named(9) }, 60, 5).map((line) => line.slice(0, 42).trimEnd())).toEqual([
      'GANG    BACKEND     PHASE    GROUPS  PODS',
      'gang-0  defaul…ler  Pending  1/2     2/6',
      'gang-1  defaul…ler  Running  1/2     2/6',
      'gang-2  defaul…ler  Running  1/2     2/6',
      '… 6 more gangs: 2 Pending, 4 Running',
    ]);
    expect(screen({ gangs: named(9) }, 60, 10)).toHaveLength(10);
    expect(screen({ gangs: named(9) }, 60, 10).at(-1)).toMatch(/^gang-8/);
  });

  test('that is too low for a tree says how many lines are not shown', () => {
    const gangs = [statusOf([gang()], [pod('workers-0'), pod('workers-1')])];
    const question = { gang: 'train', namespace: 'ml' };
    expect(screen({ gangs, question }, 100, 4)).toEqual([
      'ml/train  Pending  (default)  2m',
      'waiting for Pods: leader 0/1',
      '├─ leader  0/1 Pods, minimum 1',
      '… 4 more lines',
    ]);
  });

  test.each([1, 2, 3, 7])('of %d rows gets no more than that', (rows) => {
    const trouble = { since: NOW - 5_000, message: 'no answer '.repeat(30) };
    expect(screen({ gangs: named(9), trouble }, 40, rows)).toHaveLength(rows);
  });

  test('says since when it is not up to date, above what was known then', () => {
    const trouble = { since: NOW - 12_000, message: 'watch pods: no answer from https://10.0.0.1: refused' };
    expect(screen({ gangs: named(1), trouble }).slice(0, 3)).toEqual([
      'Not up to date since 11:59:48Z (12s): watch pods: no answer from https://10.0.0.1: refused. Trying',
      'again.',
      'GANG    BACKEND            PHASE    GROUPS  PODS  GATES  AGE  WHY',
    ]);
  });

  test.each([
    [{ gang: undefined, namespace: 'ml' }, 'no gangs in namespace ml'],
    [{ gang: undefined, namespace: undefined }, 'no gangs in any namespace'],
    [{ gang: 'train', namespace: 'ml' }, 'PodGang train does not exist any more in namespace ml'],
  ])('with nothing to show for %j', (question, says) => {
    expect(screen({ question })).toEqual([says]);
  });

  test('two gangs of one name, in two namespaces', () => {
    const question = { gang: 'train', namespace: undefined };
    const gangs = ['a', 'b'].map((namespace) => statusOf([gang({ namespace })], [], [namespace, 'train']));
    expect(screen({ gangs, question }).filter((line) => /^(\w\/|$)/.test(line))).toEqual([
      'a/train  Pending  (default)  2m',
      '',
      'b/train  Pending  (default)  2m',
    ]);
  });
});

test.each([
  [true, {}, true],
  [true, { NO_COLOR: '1' }, false],
  [true, { TERM: 'dumb' }, false],
  [false, {}, false],
])('terminal %j with %j: colours %j, and the same words', (isTerminal, env, coloured) => {
  const lines = screenLines(moment({ gangs: named(2) }), { columns: 100, rows: 24 });
  const shown = lines.map((line) => painted(line, paletteFor('auto', { isTerminal, env }))).join('\n');
  expect(shown.includes('\u001b[33mPending')).toBe(coloured);
  expect(shown.replaceAll(/\u001b\[[\d;]*m/g, '').replaceAll(/ +$/gm, '')).toBe(printed(lines).join('\n'));
});

test('sorted by namespace, then by name, numbers by value', () => {
  const gangs = new Cache<GangRecord>();
  const pods = new Cache<PodRecord>(POD_INDEXERS);
  for (const [namespace, name] of [
    ['a-b', 'x'],
    ['a', 'train-10'],
    ['b', 'x'],
    ['a', 'train-2'],
  ] as const)
    gangs.put(gang({ namespace, name }));
  pods.put(pod('lost-0', { gang: 'train-3', namespace: 'a' }));
  expect(gangKeys({ gangs, pods }).map(({ namespace, name }) => `${namespace}/${name}`)).toEqual([
    'a/train-2',
    'a/train-3',
    'a/train-10',
    'a-b/x',
    'b/x',
  ]);
});

describe('a Pod of another scheduler', () => {
  const labels = new Map([['grove.io/scheduler-name', 'coscheduling']]);
  const pods = (names: readonly string[]) =>
    PODS.map((one, index) => ({ ...one, schedulerName: names[index] ?? 'scheduler-plugins-scheduler' }));
  const whyOf = (names: readonly string[], isNamed: boolean, defaultBackend: string) =>
    statusOf([gang(isNamed ? { labels } : {})], pods(names), ['ml', 'train'], defaultBackend).why;

  test('is told of where its gang names the backend', () => {
    expect(whyOf(['kai-scheduler'], true, '(default)')).toBe(
      'waiting for Pods: leader 0/1; Pod leader-0 is prepared for scheduler "kai-scheduler", the gang is served by backend coscheduling: delete it, so that it is made anew, without a schedulerName in the template',
    );
  });

  test('is not told of by a guess: of a gang that names none, or a name that no Pod bears', () => {
    expect(whyOf(['kai-scheduler'], false, '(default)')).not.toContain('prepared for');
    expect(whyOf(['own', 'own', 'own'], true, '(default)')).not.toContain('prepared for');
  });

  test('is told of where the loop has said so, though none bears the name', () => {
    const conditions = [
      {
        ...INITIALIZED,
        status: 'False',
        reason: 'SchedulerMismatch',
        message: 'they are prepared for another',
      },
    ];
    const one = gang({ labels, conditions });
    const { why } = statusOf([one], pods(['own', 'own', 'own']), ['ml', 'train'], '(default)');
    expect(why).toContain('Pods leader-0, workers-0, workers-1 are prepared for scheduler "own"');
    expect(why).not.toContain('the references are being written');
  });

  test('is told of by the configuration, whatever the Pods bear', () => {
    expect(whyOf(['own', 'own', 'own'], true, 'configured')).toContain(
      'Pods leader-0, workers-0, workers-1 are prepared for scheduler "own"',
    );
  });
});

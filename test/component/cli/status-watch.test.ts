import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { run } from '../../../src/cli/run.ts';
import { until } from '../../unit/tls/until.ts';
import { FakeTty, processAt, type FakeProcess } from './fake-tty.ts';
import { GANGS, gangObject, podObject, PODS, WatchedApi } from './watched-api.ts';

let api: WatchedApi;
let program: FakeProcess;
let running: Promise<number> | undefined;

const watch = (tty?: FakeTty, ...args: readonly string[]): void => {
  program = processAt(tty, { NO_COLOR: '1' });
  running = run(['status', '-w', '--kubeconfig', api.kubeconfig, ...args], program.io);
};
/** Without the ages, which are those of today. */
const seen = (lines: readonly string[]): string[] =>
  lines.map((line) => line.replace(/\b\d+d\b/, '1d').replace(/ +/g, ' '));
const since = (text: string): string => text.replaceAll(/^\S+Z/gm, 'TIME');

const LEADER = ['leader', 1, 'leader-0'] as const;

// The first makes the keys.
beforeEach(async () => {
  api = (await WatchedApi.start()).tellsTimeline({ podgangs: [], pods: [], events: [] });
}, 60_000);
afterEach(async () => {
  program.interrupt();
  await running;
  await api.close();
});

describe('at a terminal', () => {
  test('every change is drawn in place, and Ctrl-C gives the terminal back', async () => {
    api.has([gangObject('train', 1, [['leader', 1]])], []).accepts();
    const tty = new FakeTty();
    watch(tty);
    await until('the table is drawn', () => tty.shown.length === 2 && api.watched);
    expect(seen(tty.shown)).toEqual([
      'GANG BACKEND PHASE GROUPS PODS GATES AGE WHY',
      'train kai-scheduler Pending 0/1 0/1 0 1d waiting for Pods: leader 0/1',
    ]);
    expect([tty.cursor, tty.wraps, tty.drawing]).toEqual([false, false, true]);

    api.tell(PODS, 'ADDED', podObject('leader-0', 2));
    await until('the Pod is seen', () => tty.shown[1]?.includes('references') === true);
    api.tell(GANGS, 'MODIFIED', gangObject('train', 3, [LEADER], true));
    api.tell(PODS, 'MODIFIED', podObject('leader-0', 4, { node: 'node-1' }));
    await until('it runs', () => tty.shown[1]?.includes('Running') === true);
    expect(seen(tty.shown)[1]).toBe('train kai-scheduler Running 1/1 1/1 0 1d');

    api.tell(GANGS, 'ADDED', gangObject('alpha', 5, [['leader', 1]]));
    await until('another comes', () => tty.shown.length === 3);
    expect(seen(tty.shown)[1]).toMatch(/^alpha kai-scheduler Pending/);
    api.tell(GANGS, 'DELETED', gangObject('alpha', 6, [['leader', 1]]));
    await until('and goes', () => tty.shown.length === 2);

    program.interrupt();
    expect(await running).toBe(0);
    expect([tty.cursor, tty.wraps, tty.drawing]).toEqual([true, true, false]);
    // One write for each picture, none of which begins with a clear screen.
    for (const drawn of tty.writes.slice(1, -1)) expect(drawn).toMatch(/^\u001b\[H[^\u001b]/);
    expect(program.written.err).toBe('');
  });

  test('another size is drawn at once: cut to the width, and the rest counted', async () => {
    const gangs = Array.from({ length: 6 }, (_, n) => gangObject(`gang-${n}`, 1, [['leader', 1]]));
    api.has(gangs, []).accepts();
    const tty = new FakeTty();
    watch(tty);
    await until('the table is drawn', () => tty.shown.length === 7);
    tty.resize(30, 4);
    await until('it fits', () => tty.shown[3] === '… 4 more gangs: 4 Pending');
    expect(tty.shown[0]).toMatch(/^GANG .*…$/);
    expect(tty.shown.map((line) => line.length)).toEqual([30, 30, 30, 25]);
  });

  test('while the API server is away the view says so, and goes on afterwards', async () => {
    api.has([gangObject('train', 1, [['leader', 1]])], []).accepts();
    const tty = new FakeTty();
    watch(tty, 'train');
    await until('the tree is drawn', () => tty.shown.length === 3 && api.watched);
    api.goesAway(2).accepts();
    await until('it is told', () =>
      /^Not up to date since \d\d:\d\d:\d\dZ \(\d+s\): /.test(tty.shown[0] ?? ''),
    );
    expect(tty.shown.slice(-3)[0]).toMatch(/^ml\/train/);
    await until('it watches again', () => api.watched && tty.shown[0]?.startsWith('ml/train') === true);
    api.tell(PODS, 'ADDED', podObject('leader-0', 2));
    await until('it goes on', () =>
      tty.shown.some((line) => line.includes('leader-0 gated') || /leader-0 +gated/.test(line)),
    );
  });

  test('a gang that does not exist is an error, and the terminal is not touched', async () => {
    api
      .has([gangObject('train', 1, [['leader', 1]])], [podObject('leader-0', 1, { gang: 'eval' })])
      .accepts();
    const tty = new FakeTty();
    watch(tty, 'trian');
    expect(await running).toBe(1);
    expect(program.written).toEqual({
      out: '',
      err:
        'error[GANG_UNKNOWN]: PodGang trian does not exist in namespace ml (did you mean "train"?)\n' +
        'fix: There are: eval, train. Another namespace is named with -n, all with -A.\n',
    });
  });

  test('one that is deleted later is told of, and may come again', async () => {
    const train = gangObject('train', 1, [['leader', 1]]);
    api.has([train], []).accepts();
    const tty = new FakeTty();
    watch(tty, 'train');
    await until('the tree is drawn', () => tty.shown.length === 3 && api.watched);
    api.tell(GANGS, 'DELETED', gangObject('train', 2, [['leader', 1]]));
    await until('it is gone', () => tty.shown.length === 1);
    expect(tty.shown).toEqual(['PodGang train does not exist any more in namespace ml']);
    api.tell(GANGS, 'ADDED', gangObject('train', 3, [['leader', 1]]));
    await until('it is back', () => tty.shown.length === 3);
  });

  describe('beneath one gang', () => {
    const train = gangObject('train', 1, [LEADER]);
    const leader = podObject('leader-0', 2);
    const created = {
      ...leader,
      metadata: { ...leader.metadata, creationTimestamp: '2026-01-01T00:00:07Z' },
    };
    const within = (tty: FakeTty): string[] => seen(tty.shown.slice(tty.shown.indexOf('') + 1));

    test('is its timeline, which changes with it and says what may not be read', async () => {
      api
        .has([train], [])
        .accepts()
        .tellsTimeline({ podgangs: [train], pods: [] });
      const tty = new FakeTty(100, 40);
      watch(tty, 'train');
      await until('the timeline', () => tty.shown.includes('ml/train  2026-01-01') && api.watched);
      expect(within(tty)).toEqual([
        'ml/train 2026-01-01',
        expect.stringMatching(/^ \d\d:\d\d:\d\d \d\d:\d\d:\d\d$/),
        'train',
        ' ░ waits, gated ▒ with its scheduler ▓ starts █ runs',
        expect.stringMatching(/^waits since 2026-01-01T00:00:00Z \(1d\) for Pods: leader 0\/1$/),
        'not known: Events of namespace ml could not be read: you have no right to list them; the ClusterRole',
        ' "view" has it',
        'not known: the objects of the scheduler of namespace ml could not be read: you have no right to list',
        ' them; a Role with list of their kinds gives it',
        'AT AFTER STEP PODS WAITED FOR',
        '00:00:00Z 0s created - -',
      ]);

      api.tellsTimeline({ podgangs: [train], pods: [created], events: [] });
      api.tell(PODS, 'ADDED', created);
      await until('the next step', () => tty.shown.some((line) => line.startsWith('00:00:07Z')));
      expect(within(tty).filter((line) => /leader-0/.test(line))).toEqual([
        expect.stringMatching(/^leader-0 ░+$/),
        '00:00:07Z 7s first-pod leader-0 whoever creates its Pods',
      ]);
      expect(tty.shown.join('\n')).not.toContain('Events of namespace');
      program.interrupt();
      expect(await running).toBe(0);
      expect(program.written.err).toBe('');
    });

    test('is why there is none, and the status goes on', async () => {
      api.has([train], []).accepts().tellsTimeline({});
      const tty = new FakeTty();
      watch(tty, 'train');
      await until('it is told', () => api.watched && /not known: the timeline: /.test(tty.shown.join('\n')));
      expect(tty.shown.slice(tty.shown.indexOf('') + 1).join(' ')).toMatch(
        /^not known: the timeline: list (podgangs|pods): 403 Failure: \1 is forbidden/,
      );
      api.tell(PODS, 'ADDED', created);
      await until('it goes on', () => /leader-0 +gated/.test(tty.shown.join('\n')));
    });

    test('has half of a low screen', async () => {
      api
        .has([train], [created])
        .accepts()
        .tellsTimeline({ podgangs: [train], pods: [created], events: [] });
      const tty = new FakeTty(100, 8);
      watch(tty, 'train');
      await until('it is drawn', () => tty.shown.length === 8);
      expect(seen(tty.shown)).toEqual([
        'ml/train Pending kai-scheduler 1d',
        'bound leader 0/1',
        '└─ leader 1/1 Pods, minimum 1: 1 referenced, 1 gated',
        ' leader-0 gated the gang is being marked Initialized',
        '',
        'ml/train 2026-01-01',
        expect.stringMatching(/^ 00:00:00 \d\d:\d\d:\d\d$/),
        '… 12 more lines',
      ]);
    });
  });
});

describe('into a pipe', () => {
  test('the table once, then a line for each change', async () => {
    api.has([gangObject('train', 1, [['leader', 1]])], []).accepts();
    watch();
    await until('the table is there', () => program.written.out.split('\n').length === 3 && api.watched);
    api.tell(PODS, 'ADDED', podObject('leader-0', 2));
    await until('a line comes', () => program.written.out.split('\n').length === 4);
    api.tell(GANGS, 'DELETED', gangObject('train', 3, [['leader', 1]]));
    await until('another', () => program.written.out.split('\n').length === 5);
    expect(seen(since(program.written.out).split('\n'))).toEqual([
      'GANG BACKEND PHASE GROUPS PODS GATES AGE WHY',
      'train kai-scheduler Pending 0/1 0/1 0 1d waiting for Pods: leader 0/1',
      'TIME ml/train gates 0 → 1: the references are being written',
      'TIME ml/train PodGang deleted, its Pods are still there',
      '',
    ]);
    program.interrupt();
    expect(await running).toBe(0);
    expect(program.written.out).not.toContain('\u001b');
  });

  test('of one gang its Pods as well', async () => {
    const others = gangObject('other', 1, [['leader', 1]]);
    api.has([gangObject('train', 1, [['leader', 1]]), others], []).accepts();
    watch(undefined, 'train');
    await until('the tree is there', () => program.written.out.includes('leader') && api.watched);
    const before = program.written.out.length;
    api.tell(PODS, 'ADDED', podObject('leader-7', 2, { gang: 'other' }), podObject('leader-0', 3));
    await until('lines come', () => program.written.out.slice(before).split('\n').length >= 3);
    expect(since(program.written.out.slice(before))).toBe(
      'TIME  ml/train  gates 0 → 1: the references are being written\n' +
        'TIME  ml/train  leader-0: new, gated (the references are being written)\n',
    );
  });

  test('-o json: one object a line', async () => {
    api.has([gangObject('train', 1, [['leader', 1]])], []).accepts();
    watch(undefined, '-o', 'json');
    const events = () =>
      program.written.out
        .trimEnd()
        .split('\n')
        .filter((line) => line !== '')
        .map(
          (line) => JSON.parse(line) as { type: string; time: string; gang: { name: string; why: string } },
        );
    await until('the gang is there', () => events().length === 1 && api.watched);
    api.tell(PODS, 'ADDED', podObject('leader-0', 2));
    await until('it changes', () => events().length === 2);
    api.tell(PODS, 'DELETED', podObject('leader-0', 3));
    api.tell(GANGS, 'DELETED', gangObject('train', 4, [['leader', 1]]));
    await until('it goes', () => events().at(-1)?.type === 'DELETED');
    expect(
      events()
        .slice(0, 2)
        .map(({ type, gang }) => [type, gang.name, gang.why]),
    ).toEqual([
      ['ADDED', 'train', 'waiting for Pods: leader 0/1'],
      ['MODIFIED', 'train', 'the references are being written'],
    ]);
    expect(events()[0]?.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  test('that the API server is away is told on standard error, once', async () => {
    api.has([], []).accepts();
    watch();
    await until('it watches', () => api.watched && program.written.err !== '');
    api.goesAway(3).accepts();
    await until('it watches again', () => program.written.err.includes('watching again'));
    expect(since(program.written.err)).toMatch(
      /^no gangs in namespace ml\nTIME {2}watch \w+: .*; trying again\nTIME {2}watching again\n$/,
    );
    expect(program.written.out).toBe('');
  });
});

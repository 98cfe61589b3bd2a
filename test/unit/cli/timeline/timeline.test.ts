import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { trimmed } from '../../../../src/preemption/read/trim.ts';
import { ganttLines, timelineText } from '../../../../src/cli/timeline/render.ts';
import { paletteFor } from '../../../../src/cli/output/palette.ts';
import { painted, widthOf } from '../../../../src/cli/status/table.ts';
import { timelineSvg } from '../../../../src/timeline/timeline-svg.ts';
import { at, event, gang, msOf, pod, released, timeline } from '../../timeline/objects.ts';
import { muster } from '../fake-io.ts';

const palette = paletteFor('never', { env: {}, isTerminal: false });

const saved = (objects: readonly JsonObject[]): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'List',
    items: objects.map((object) => {
      const kind =
        'regarding' in object ? 'Event' : 'podgroups' in (object['spec'] as object) ? 'PodGang' : 'Pod';
      return {
        apiVersion: 'v1',
        kind,
        ...object,
        metadata: { namespace: 'ml', ...(object['metadata'] as object) },
      };
    }),
  });

const PODS = [
  pod('worker-0', { created: 5, bound: 21, started: 25, ready: 30 }),
  pod('worker-1', { created: 12, bound: 21, started: 25, ready: 33 }),
];
const OBJECTS = [gang({ initialized: 20 }), ...PODS, released(20, 'worker-0', 'worker-1')];

describe('muster timeline -f', () => {
  test('prints each step, a chart, and what is not known', async () => {
    const { code, out } = await muster(['timeline', 'train', '-n', 'ml', '-f', '-'], {
      stdin: saved(OBJECTS),
    });
    expect(code).toBe(0);
    expect(out.split('\n').slice(0, 5)).toEqual([
      'ml/train  2026-06-01',
      'AT         AFTER  STEP         PODS                WAITED FOR',
      '12:00:00Z  0s     created      -                   -',
      '12:00:05Z  5s     first-pod    worker-0            whoever creates its Pods',
      '12:00:12Z  12s    last-pod     worker-1            Pods: worker 1/2',
    ]);
    expect(out).toContain('░ waits, gated  ▒ with its scheduler  ▓ starts  █ runs');
  });

  test('refuses a file of muster snapshot', async () => {
    const stdin = saved([trimmed(gang())]);
    const { code, out, err } = await muster(['timeline', 'train', '-n', 'ml', '-f', '-'], { stdin });
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(
      'PodGang ml/train comes from muster snapshot, which leaves out gates, conditions and times',
    );
  });

  test('prints JSON for programs', async () => {
    const ran = await muster(['timeline', 'train', '-f', '-', '-o', 'json'], {
      stdin: saved(OBJECTS.slice(0, 1)),
    });
    expect(JSON.parse(ran.out)).toEqual({
      gang: { namespace: 'ml', name: 'train' },
      steps: [
        { at: at(0), step: 'created', generation: 1, pods: [], waitedFor: '' },
        {
          at: at(20),
          step: 'initialized',
          generation: 1,
          pods: [],
          waitedFor: "the references, and the scheduler's objects",
        },
      ],
      waiting: { since: at(20), generation: 1, for: 'Pods: worker 0/2' },
      unknown: ['the Pods of generation 1 are gone, and there may have been more generations since'],
    });
  });

  test('prints a picture', async () => {
    const { out } = await muster(['timeline', 'train', '-f', '-', '-o', 'svg'], { stdin: saved(OBJECTS) });
    expect(out).toMatch(/^<svg [^]*<title id="title">The timeline of gang ml\/train<\/title>[^]*<\/svg>\n$/);
  });

  test.each<[string, readonly string[], number, string]>([
    [
      'a gang that is not there',
      ['timeline', 'trian', '-f', '-', '-n', 'ml'],
      1,
      'error[GANG_UNKNOWN]: PodGang trian does not exist in namespace ml (did you mean "train"?)\n' +
        'fix: There are: train. Another namespace is named with -n.\n',
    ],
    [
      'no gang',
      ['timeline'],
      2,
      'error[USAGE]: missing required argument \'gang\'\nfix: see "muster timeline --help"\n',
    ],
    [
      'another format',
      ['timeline', 'train', '-o', 'png'],
      2,
      "error[USAGE]: option '-o, --output <format>' argument 'png' is invalid. Allowed choices are text, json, svg.\n" +
        'fix: see "muster timeline --help"\n',
    ],
  ])('says what is wrong with %s', async (_what, args, code, err) => {
    expect(await muster(args, { stdin: saved(OBJECTS) })).toMatchObject({ code, err });
  });

  test('ends with 1 where Pods alone are there', async () => {
    const ran = await muster(['timeline', 'train', '-f', '-'], { stdin: saved(PODS) });
    expect(ran.code).toBe(1);
    expect(ran.out).toContain(
      'not known: the PodGang does not exist: when it was created, complete and Initialized is not known\n',
    );
  });
});

describe('the chart', () => {
  const shown = (life: ReturnType<typeof timeline>, width = 60): string[] =>
    ganttLines(life, width).map((line) => painted(line, palette));

  test('has a lane for the gang and for Pods with the same moments', () => {
    const life = timeline({
      gang: gang({ initialized: 20 }),
      pods: ['worker-0', 'worker-1', 'worker-2'].map((name, index) =>
        pod(name, { created: 0, bound: 30, started: 35, ready: index === 0 ? 40 : 45 }),
      ),
      events: [released(20, 'worker-0', 'worker-1', 'worker-2')],
      now: msOf(60),
    });
    expect(shown(life, 80)).toEqual([
      '                     12:00:00                                           12:01:00',
      'train                ░░░░░░░░░░░░░░░░░░░▒▒▒▒▒▒▒▒▒▒▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓███████████████',
      'worker-0             ░░░░░░░░░░░░░░░░░░░▒▒▒▒▒▒▒▒▒▒▓▓▓▓▓▓▓▓▓▓████████████████████',
      'worker-1 and 1 more  ░░░░░░░░░░░░░░░░░░░▒▒▒▒▒▒▒▒▒▒▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓███████████████',
      '                     ░ waits, gated  ▒ with its scheduler  ▓ starts  █ runs',
    ]);
  });

  test('counts the lanes that do not fit, and is as wide as the terminal', () => {
    const pods = Array.from({ length: 100 }, (_, index) =>
      pod(`worker-${index}`, { created: index, gated: true }),
    );
    const lines = shown(timeline({ pods }), 50);
    expect(lines).toHaveLength(27);
    expect(lines.at(-2)).toBe('… 77 more lanes');
    expect(Math.max(...lines.slice(0, -1).map(widthOf))).toBe(50);
    expect(timelineSvg(timeline({ pods }))).toContain('61 more lanes are left out');
  });

  test('of a gang without a Pod is its own lane', () => {
    expect(shown(timeline({ now: msOf(10) }), 40)).toHaveLength(3);
    expect(timelineSvg(timeline({ gang: undefined }))).toContain(
      'Nothing is known of any step of this gang.',
    );
  });
});

test('what others say reaches a terminal and a picture as text', () => {
  const wild = '<b>\u001b[31m & "words"';
  const life = timeline({
    gang: gang({ initialized: 20 }),
    pods: [pod('worker-0', { created: 5 })],
    events: [event(22, 'FailedScheduling', wild, { kind: 'Pod', name: 'worker-0' })],
    unread: [wild],
  });
  const text = timelineText(life, { palette, width: 100 });
  expect(text).not.toContain('\u001b');
  expect(text).toContain('\\u{1b}[31m');
  expect(timelineSvg(life)).not.toMatch(/<b>|\u001b/);
});

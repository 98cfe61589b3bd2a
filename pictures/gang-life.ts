import { svgPath as path, picture, rect, svgText as text, type Paint } from '../src/text/svg.ts';

const WIDTH = 880;
const LEFT = 128;
const LANE = 38;
const TOP = 92;

/** Moments, as x. */
const AT = {
  gang: 140,
  two: 200,
  down: 300,
  tries: 350,
  up: 480,
  third: 556,
  runs: 736,
  end: 860,
};

interface Lane {
  readonly name: string;
  readonly bars: readonly (readonly [Paint, from: number, to: number, words: string])[];
}

const LANES: readonly Lane[] = [
  {
    name: 'PodGang train',
    bars: [
      ['waits', AT.gang, AT.third, 'Initialized: False, it says who is missing'],
      ['placed', AT.third, AT.runs, 'Initialized: True'],
      ['runs', AT.runs, AT.end, 'Running'],
    ],
  },
  {
    name: 'leader-0',
    bars: [
      ['waits', AT.two, AT.third, 'gate on'],
      ['placed', AT.third, AT.runs, 'scheduler'],
      ['runs', AT.runs, AT.end, 'runs'],
    ],
  },
  {
    name: 'worker-0',
    bars: [
      ['waits', AT.two, AT.third, 'gate on'],
      ['placed', AT.third, AT.runs, 'scheduler'],
      ['runs', AT.runs, AT.end, 'runs'],
    ],
  },
  {
    name: 'worker-1',
    bars: [
      ['waits', AT.up + 6, AT.third, 'gate on'],
      ['placed', AT.third, AT.runs, 'scheduler'],
      ['runs', AT.runs, AT.end, 'runs'],
    ],
  },
  {
    name: 'a Pod of no gang',
    bars: [
      ['placed', AT.tries, AT.tries + 30, ''],
      ['runs', AT.tries + 30, AT.end, 'starts and runs as ever: Muster is not asked'],
    ],
  },
];

const laneY = (index: number): number => TOP + index * LANE;

/** One gang from its first object to its last Pod running, with Muster away in the middle of it. */
export function gangLife(): string {
  const bottom = laneY(LANES.length) + 4;
  const parts = [
    text(16, 28, 'A gang’s life, with Muster down in the middle of it', { bold: true, size: 16 }),
    rect('down', AT.down, 44, AT.up - AT.down, bottom - 44),
    text((AT.down + AT.up) / 2, 62, 'Muster down', { paint: 'bad', bold: true, at: 'middle' }),
    text((AT.down + AT.up) / 2, 79, 'policies keep every gate on', { size: 12, at: 'middle' }),
    text(AT.third, 62, 'the last Pod is there:', { size: 12 }),
    text(AT.third, 79, 'all gates come off', { size: 12 }),
    text(AT.two, 79, 'Pods come', { size: 12 }),
  ];
  LANES.forEach(({ name, bars }, index) => {
    const y = laneY(index);
    parts.push(text(LEFT - 8, y + 20, name, { at: 'end', size: 13 }));
    parts.push(path(`M${index === 3 ? AT.tries : LEFT} ${y + 15}H${AT.end}`, true));
    for (const [paint, from, to, words] of bars) {
      parts.push(rect(paint, from, y + 3, to - from - 2, 24));
      parts.push(
        `<text x="${from + 8}" y="${y + 20}" style="font-size:12px;fill:#fff;font-weight:600">${words}</text>`,
      );
    }
  });
  const y = laneY(3);
  for (const x of [AT.tries, AT.tries + 34, AT.tries + 86]) {
    parts.push(text(x, y + 20, '✕', { paint: 'bad', bold: true, at: 'middle' }));
  }
  parts.push(text(LEFT + 12, y + 20, 'its controller tries to create it:', { size: 12 }));
  const legend: readonly (readonly [Paint, string])[] = [
    ['waits', 'waits, gated'],
    ['placed', 'with its scheduler'],
    ['runs', 'runs'],
  ];
  legend.forEach(([paint, words], index) => {
    const x = LEFT + index * 150;
    parts.push(rect(paint, x, bottom + 14, 14, 14, 3), text(x + 20, bottom + 26, words, { size: 12 }));
  });
  parts.push(text(LEFT + 390, bottom + 26, '✕', { paint: 'bad', bold: true }));
  parts.push(text(LEFT + 408, bottom + 26, 'refused; asked again later', { size: 12 }));
  return picture(
    { width: WIDTH, height: bottom + 42 },
    'A gang’s life, with Muster down in the middle of it',
    'The Pods of a gang wait behind a gate until the last one is there; then all gates come off and the scheduler places them. While Muster is down the gates stay on, a new Pod of the gang is refused and its controller tries again, and Pods of no gang start as ever.',
    parts,
  );
}

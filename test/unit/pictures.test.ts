import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { figuresOf, readFigures, speedLine } from '../../pictures/figures.ts';
import { PICTURES, PICTURES_FOLDER } from '../../pictures/pictures.ts';
import { screenshotLines, SCREENSHOTS } from '../../pictures/screenshots.ts';
import { ceilingOf, quantityText } from '../../pictures/quantity.ts';

describe('docs/pictures', () => {
  test.each(Object.entries(PICTURES))('%s is what the script draws', (name, draw) => {
    const file = join(PICTURES_FOLDER, name);
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(file, draw());
    expect(readFileSync(file, 'utf8')).toBe(draw());
  });

  test('there are no others', () => {
    const all = [...Object.keys(PICTURES), ...Object.keys(SCREENSHOTS)];
    expect(readdirSync(PICTURES_FOLDER).sort()).toEqual(all.sort());
  });

  test.each(Object.keys(SCREENSHOTS))('%s is a PNG below 150 KB', (name) => {
    const picture = readFileSync(join(PICTURES_FOLDER, name));
    expect(picture.subarray(1, 4).toString()).toBe('PNG');
    expect(picture.length).toBeLessThan(150_000);
  });

  test('those of the page are shown where the reference describes it', () => {
    const file = join(PICTURES_FOLDER, '../reference/cli.md');
    const page = readFileSync(file, 'utf8');
    const marks = /(<!-- pictures: [^>]* -->\n)[^]*?(<!-- \/pictures -->)/;
    const wanted = page.replace(marks, (_all, begin, end) => `${begin}${screenshotLines()}${end}`);
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(file, wanted);
    expect(page).toBe(wanted);
    expect(page).toContain(screenshotLines());
  });

  test.each(Object.entries(PICTURES))(
    '%s is for dark and light, has words for those who do not see it, and loads nothing',
    (_name, draw) => {
      const svg = draw();
      expect(svg).toContain('@media (prefers-color-scheme: dark)');
      expect(svg).toMatch(/<title id="title">.{10,}<\/title>/);
      expect(svg).toMatch(/<desc id="description">.{40,}<\/desc>/);
      expect(svg.replace('xmlns="http://www.w3.org/2000/svg"', '')).not.toMatch(
        /https?:|<script|NaN|undefined/,
      );
    },
  );
});

describe('a quantity', () => {
  test.each([
    [0, 's', '0 s'],
    [0, 'short', '0'],
    [0.00042, 's', '0.42 ms'],
    [0.0421, 's', '42.1 ms'],
    [59, 's', '59 s'],
    [90, 's', '1.5 min'],
    [7_776_000, 's', '90 d'],
    [0.013, 'percentunit', '1.3 %'],
    [222_298_112, 'bytes', '212 MiB'],
    [0.25, 'reqps', '0.25 /s'],
    [1_500, 'short', '1.5 k'],
  ])('%d %s is written %s', (value, unit, written) => {
    expect(quantityText(value, unit)).toBe(written);
  });

  test.each([
    [0.43, 's', '500 ms'],
    [61, 's', '1.5 min'],
    [3.2, 'short', '4'],
    [1, 'short', '1'],
    [230_000_000, 'bytes', '300 MiB'],
  ])('an axis up to %d %s ends at %s', (largest, unit, written) => {
    expect(quantityText(ceilingOf(largest, unit), unit)).toBe(written);
    expect(ceilingOf(largest, unit)).toBeGreaterThanOrEqual(largest);
  });
});

describe('figures', () => {
  const TABLE = [
    '| review | server | per s | CPU µs | × bare |',
    '| --- | --- | ---: | ---: | ---: |',
    '| 64 KiB | bare node:https | 3059 | 323 | 1.00 |',
    '|  | Muster | 3636 | 274 | 0.83 |',
    '|  | controller-runtime | 197 | 5,019 | 15.52 |',
    '| 8 KiB | bare node:https | 1 | 59 | 1.00 |',
    '|  | Muster | 1 | 72 | 1.22 |',
    '|  | controller-runtime | 1 | 733 | 12.34 |',
    '| new connection | bare node:https | 1190 | 760 | 1.00 |',
  ];

  test('are read from what the bench prints, smallest review first', () => {
    const figures = figuresOf(`noise\n\n${TABLE.join('\n')}\n`, '2026-01-02, a machine');
    expect(figures).toEqual({
      measuredOn: '2026-01-02, a machine',
      cpuMicros: [
        {
          review: '8 KiB',
          bare: 59,
          muster: 72,
          controllerRuntime: 733,
          timesBare: { muster: 1.22, controllerRuntime: 12.34 },
        },
        {
          review: '64 KiB',
          bare: 323,
          muster: 274,
          controllerRuntime: 5019,
          timesBare: { muster: 0.83, controllerRuntime: 15.52 },
        },
      ],
    });
    expect(speedLine(figures)).toBe(
      "A review of 8 KiB costs 72 µs of CPU, 1.22 × a bare `node:https` server that decides nothing, and 1/10 of the same webhook on Go's controller-runtime (measured on 2026-01-02, a machine).",
    );
  });

  test('come from the page of the benchmarks, with where they were measured', () => {
    const run = '2026-01-02, a machine, Node 26.10.0, commit abc; nothing else on it.';
    const page = `<!-- bench: admission run -->\n\n${run}\n\n<!-- end -->\n<!-- bench: reviews -->\n${TABLE.join('\n')}\n<!-- end -->`;
    expect(readFigures(page)).toEqual(
      figuresOf(TABLE.join('\n'), '2026-01-02, a machine, Node 26.10.0, commit abc'),
    );
    expect(() => readFigures('')).toThrow('does not say where');
  });

  test('are refused where they are not whole', () => {
    expect(() => figuresOf('nothing', 'x')).toThrow('is this the table of the reviews?');
    expect(() => figuresOf(TABLE.slice(0, 4).join('\n'), 'x')).toThrow(
      '64 KiB: one of the three servers is missing',
    );
    expect(() => speedLine({ ...readFigures(), cpuMicros: [] })).toThrow('docs/benchmarks.md has no 8 KiB');
  });
});

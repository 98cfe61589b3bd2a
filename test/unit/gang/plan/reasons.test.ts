import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { CONDITION_REASONS, EVENT_REASONS } from '../../../../src/gang/plan/conditions.ts';

const page = readFileSync(new URL('../../../../docs/loop.md', import.meta.url), 'utf8');

/** The cells of the table of the page that begins with this column. */
function rowsOf(column: string): string[][] {
  const [head, , ...rows] = page
    .slice(page.indexOf(`\n| ${column} `) + 1)
    .split('\n\n', 1)[0]!
    .split('\n')
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  expect(head?.[0]).toBe(column);
  return rows;
}
const word = (cell: string | undefined): string => (cell ?? '').replaceAll('`', '');

test('docs/loop.md lists every reason of every condition', () => {
  const listed: Record<string, string[]> = {};
  let condition = '';
  for (const [first, reason] of rowsOf('Condition')) {
    condition = word(first) || condition;
    (listed[condition] ??= []).push(word(reason));
  }
  const known = Object.entries(CONDITION_REASONS).map(([type, reasons]) => [type, [...reasons].sort()]);
  expect(Object.entries(listed).map(([type, reasons]) => [type, reasons.sort()])).toEqual(known);
});

test('docs/loop.md lists every Event', () => {
  expect(rowsOf('Event').map(([reason]) => word(reason))).toEqual([...EVENT_REASONS]);
});

/** docs/loop.md shows what `muster status` prints of a gang that waits. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { tableLines } from '../../../../src/cli/status/table.ts';
import { UNBOUNDED, treeLines } from '../../../../src/cli/status/view.ts';
import { gang, NOW, pod, printed, statusOf } from './gangs.ts';

const FILE = 'docs/loop.md';
const BLOCK = /(<!-- status -->\n)[^]*?(<!-- \/status -->)/;

test('docs/loop.md shows what the program prints', () => {
  const status = statusOf([gang()], [pod('workers-0')], ['ml', 'train'], 'default-scheduler');
  const shown = [
    '```console',
    '$ muster status -n ml',
    ...printed(tableLines([status], { namespaces: false, now: NOW, width: UNBOUNDED })),
    '',
    '$ muster status train -n ml',
    ...printed(treeLines(status, { now: NOW, width: UNBOUNDED })),
    '```',
  ];
  const page = readFileSync(FILE, 'utf8');
  expect(page).toMatch(BLOCK);
  const expected = page.replace(
    BLOCK,
    (_all, begin: string, end: string) => `${begin}${shown.join('\n')}\n${end}`,
  );
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, expected);
  else expect(page).toBe(expected);
});

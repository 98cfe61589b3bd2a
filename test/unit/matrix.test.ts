/** The table of suites by Kubernetes release, as `npm run test:matrix` makes it. */
import { describe, expect, test } from '@jest/globals';
import { columnsOf, endOf, tableOf } from '../matrix.ts';

const ended = (...statuses: string[]) => ({
  name: '/suites/loop.test.ts',
  message: '',
  assertionResults: statuses.map((status) => ({ status })),
});

describe('how a suite ended', () => {
  test.each([
    ['all passed', ended('passed', 'passed'), '2 passed'],
    ['one failed', ended('passed', 'failed'), '1 passed, 1 failed'],
    ['one is not for this release', ended('passed', 'pending'), '1 passed, 1 skipped'],
    ['it could not begin', { ...ended(), message: 'no such gate\n  at start' }, 'failed: no such gate'],
  ])('%s', (_what, suite, said) => {
    expect(endOf(suite)).toBe(said);
  });
});

test('a row for each suite, a column for each release, and what was not run is said', () => {
  const lines = tableOf(
    new Map([
      ['v1.37.2', new Map([['loop', '16 passed']])],
      ['v1.36.3', new Map()],
    ]),
  ).split('\n');
  expect(lines[0]).toBe('| Suite | v1.37.2 | v1.36.3 |');
  expect(lines).toContain('| `loop` | 16 passed | not run |');
  expect(lines).toContain('| `kube-backend` | not run | not run |');
});

test('what a table says of other releases can be kept', () => {
  const column = new Map([['loop', '16 passed']]);
  const said = columnsOf(tableOf(new Map([['v1.37.2', column]])));
  expect([...said.keys()]).toEqual(['v1.37.2']);
  expect(said.get('v1.37.2')?.get('loop')).toBe('16 passed');
  expect(said.get('v1.37.2')?.get('admission')).toBe('not run');
  expect(columnsOf('nothing yet').size).toBe(0);
});

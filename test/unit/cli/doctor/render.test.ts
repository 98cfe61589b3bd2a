import { expect, test } from '@jest/globals';
import { saying } from '../../../../src/cli/doctor/diagnosis.ts';
import { reportLines, reportOf } from '../../../../src/cli/doctor/render.ts';
import { paletteFor } from '../../../../src/cli/output/palette.ts';
import { painted } from '../../../../src/cli/status/table.ts';

const ABOUT = { server: 'https://10.0.0.1:6443', kubernetes: 'v1.37.2', muster: '0.1.0' };
const plain = paletteFor('never', { env: {}, isTerminal: false });
const text = (...findings: Parameters<typeof reportOf>[1]): string =>
  reportLines(reportOf(ABOUT, findings), 100)
    .map((line) => painted(line, plain))
    .join('\n');

test('groups in the order of mending, each finding with its mark and its fix', () => {
  expect(
    text(
      saying('gangs', 'waiting').ok('2 gangs'),
      saying('webhooks', 'mutating').problem('it is gone', 'apply it'),
      saying('webhooks', 'order').warning(`${'long '.repeat(20)}text`, 'cut it'),
      saying('program', 'leader').notChecked('may not', 'be somebody else'),
    ),
  ).toBe(`https://10.0.0.1:6443, Kubernetes v1.37.2, looked at by Muster 0.1.0

webhooks
  ✗ mutating                     it is gone
                                 fix: apply it
  ! order                        long long long long long long long long long long long long long
                                 long long long long long long long text
                                 fix: cut it

program
  ? leader                       may not
                                 fix: be somebody else

gangs
  ✓ waiting                      2 gangs

1 problem, 1 warning, 1 not checked`);
});

test('what comes from the cluster cannot draw on the terminal', () => {
  const shown = text(saying('gangs', 'waiting').ok('a\u001b[2Jb\nc'));
  expect(shown).not.toContain('\u001b');
  expect(shown.split('\n')).toHaveLength(6);
});

test('the report for programs: counts, and findings in the same order', () => {
  const [ok, problem] = [saying('gangs', 'waiting').ok('x'), saying('rights', 'account').problem('y', 'z')];
  expect(reportOf(ABOUT, [ok, problem])).toEqual({
    ...ABOUT,
    problems: 1,
    warnings: 0,
    notChecked: 0,
    findings: [
      { group: 'rights', check: 'account', severity: 'problem', found: 'y', fix: 'z' },
      { group: 'gangs', check: 'waiting', severity: 'ok', found: 'x' },
    ],
  });
});

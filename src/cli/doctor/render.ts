import { printable } from '../../text/printable.ts';
import { cut, span, wrapped, type Line, type Span } from '../status/table.ts';
import { GROUPS, type Diagnosis, type CheckResult } from './diagnosis.ts';

/** The object that `muster doctor -o json` prints. */
export interface DoctorReport {
  /** URL of the API server. */
  readonly server: string;
  readonly kubernetes: string;
  /** Version of the Muster that ran the doctor. */
  readonly muster: string;
  readonly problems: number;
  readonly warnings: number;
  readonly notChecked: number;
  readonly findings: readonly Diagnosis[];
}

const MARKS: Readonly<Record<CheckResult, Span>> = {
  ok: span('✓ ', 'good'),
  warning: span('! ', 'warn'),
  problem: span('✗ ', 'bad'),
  'not-checked': span('? ', 'reason'),
};

const CHECK_WIDTH = 28;
const INDENT = ' '.repeat(CHECK_WIDTH + 5);

export function reportOf(
  about: Pick<DoctorReport, 'server' | 'kubernetes' | 'muster'>,
  findings: readonly Diagnosis[],
): DoctorReport {
  const count = (severity: CheckResult): number => findings.filter((one) => one.severity === severity).length;
  return {
    ...about,
    problems: count('problem'),
    warnings: count('warning'),
    notChecked: count('not-checked'),
    findings: GROUPS.flatMap((group) => findings.filter((one) => one.group === group)),
  };
}

/**
 * The commands of all fixes, in the order of repair, each below its finding. A fix without a command is a comment, as is
 * everything else that is no command, so that a shell can run the whole text.
 */
export function fixScript({ findings }: DoctorReport): string {
  const wrong = findings.filter(({ severity }) => severity === 'problem' || severity === 'warning');
  const blocks = wrong.map(({ group, check, found, fix = '', commands = [] }) => {
    const what = [`# ${group}/${check}: ${shown(found)}`];
    return [...what, ...(commands.length > 0 ? commands : [`# by hand: ${shown(fix)}`]), ''].join('\n');
  });
  return blocks.length === 0 ? '# nothing is wrong\n' : `${blocks.join('\n')}`;
}

/** The table: one block for each group, one row for each finding, its fix below it. */
export function reportLines(report: DoctorReport, width: number): Line[] {
  const { server, kubernetes, muster, findings } = report;
  const head = [span(shown(`${server}, Kubernetes ${kubernetes}, looked at by Muster ${muster}`))];
  const groups = GROUPS.flatMap((group) => {
    const rows = findings.filter((one) => one.group === group);
    return rows.length === 0
      ? []
      : [[], [span(group, 'strong')], ...rows.flatMap((one) => rowsOf(one, width))];
  });
  return [head, ...groups, [], summaryLine(report)];
}

function rowsOf({ check, severity, found, fix }: Diagnosis, width: number): Line[] {
  const [first = [], ...rest] = wrapped(shown(found), width, INDENT);
  const name = cut(check, CHECK_WIDTH).padEnd(CHECK_WIDTH + 1);
  return [
    [span('  '), MARKS[severity], span(name), ...first.slice(1)],
    ...rest,
    ...(fix === undefined ? [] : wrapped(shown(`fix: ${fix}`), width, INDENT, 'reason')),
  ];
}

/** Names and messages come from the cluster: their control characters are escaped and their length is limited. */
const shown = (text: string): string => printable(text, 1000);

function summaryLine({ problems, warnings, notChecked }: DoctorReport): Line {
  const told = [number(problems, 'problem'), number(warnings, 'warning')].join(', ');
  const tone = problems > 0 ? 'bad' : warnings > 0 ? 'warn' : 'good';
  return [span(told, tone), span(notChecked === 0 ? '' : `, ${notChecked} not checked`)];
}

const number = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

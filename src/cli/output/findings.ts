import { isAbsolute, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { printable } from '../../text/printable.ts';
import type { SourceObject } from '../input/source-object.ts';
import type { InputFault } from '../input/input-fault.ts';
import { toJson } from './structured.ts';
import type { Palette } from './palette.ts';

/** A finding at one position of a file. */
export interface Finding {
  readonly file: string;
  /** 1-based; 0 for the file as a whole. */
  readonly line: number;
  readonly column: number;
  readonly severity: 'error' | 'warning' | 'note';
  /** Path of the field; '' for the object as a whole. */
  readonly path: string;
  readonly message: string;
  /** Name of the broken rule, for tools that count by it. */
  readonly rule: string;
}

/** The finding for a fault at a field of an object of the input. */
export const findingOf = (
  source: SourceObject,
  { field, message, rule }: Pick<Finding, 'message' | 'rule'> & { readonly field: string },
): Finding => ({
  file: source.file,
  ...source.locate(field),
  severity: 'error',
  path: field,
  message: printable(message, 1024),
  rule,
});

/** One line in the format of compilers, so that editors and CI find the position. */
export function findingLine(finding: Finding, palette: Palette): string {
  const { file, line, column, severity } = finding;
  const mark = { error: palette.bad, warning: palette.warn, note: palette.reason }[severity];
  const place = line === 0 ? '' : `:${line}:${column}`;
  return `${printable(file, 4096)}${place}: ${mark(`${severity}:`)} ${textOf(finding)}`;
}

const textOf = ({ path, message }: Finding): string =>
  path === '' ? message : `${printable(path)}: ${message}`;

/** `1 error, 2 warnings`, and notes where there are any. */
export function countsOf(findings: readonly Finding[]): string {
  const of = (severity: Finding['severity']): number =>
    findings.filter((finding) => finding.severity === severity).length;
  const notes = of('note');
  return `${count(of('error'), 'error')}, ${count(of('warning'), 'warning')}${notes === 0 ? '' : `, ${count(notes, 'note')}`}`;
}

export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

const COMMANDS = { error: 'error', warning: 'warning', note: 'notice' } as const;

const data = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

/** Workflow commands of GitHub Actions, one a line, which annotate the lines of a pull request. */
export const asGithub = (findings: readonly Finding[]): string =>
  findings
    .map((finding) => {
      const { file, line, column, severity, rule } = finding;
      const place = line === 0 ? '' : `,line=${line},col=${column}`;
      const title = `,title=${property(printable(rule))}`;
      return `::${COMMANDS[severity]} file=${property(printable(file, 4096))}${place}${title}::${data(textOf(finding))}\n`;
    })
    .join('');

/** A log of SARIF 2.1.0 (OASIS), for code scanning. */
export function asSarif(findings: readonly Finding[], version: string): string {
  const rules = [...new Set(findings.map(({ rule }) => rule))].sort();
  const results = findings.map((finding) => {
    const { file, line, column, severity, rule } = finding;
    const region = line === 0 ? {} : { region: { startLine: line, startColumn: column } };
    return {
      ruleId: rule,
      ruleIndex: rules.indexOf(rule),
      level: severity,
      message: { text: textOf(finding) },
      locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(file) }, ...region } }],
    };
  });
  const driver = { name: 'Muster', version, rules: rules.map((id) => ({ id })) };
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results }],
  };
  return `${toJson(log, 2)}\n`;
}

/** Path relative to the working directory, as readers of SARIF expect it; `<stdin>` would be no valid URI. */
function uriOf(file: string): string {
  if (file === '<stdin>') return 'stdin';
  if (isAbsolute(file)) return pathToFileURL(file).href;
  return file
    .split(sep)
    .map(encodeURIComponent)
    .join('/')
    .replace(/^(?:\.\/)+/, '');
}

/** Unreadable inputs as findings. */
export const faultFindings = (faults: readonly InputFault[]): Finding[] =>
  faults.map(({ file, line, column, message }) => ({
    file,
    line,
    column,
    severity: 'error',
    path: '',
    message,
    rule: 'INPUT_UNREADABLE',
  }));

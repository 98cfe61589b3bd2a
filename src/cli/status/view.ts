import type { GangStatus } from './gang-status.ts';
import { cutLine, span, wrapped, type Line } from './styled-line.ts';
import { duration, phaseOf, tableLines } from './table.ts';
import { treeLines } from './tree.ts';

/** What is made of sentences, and read, may be wrapped at this where there is no terminal. */
export const WIDTH = 100;

/** Where nobody looks: what reads a pipe or a file looks for whole names. */
export const UNBOUNDED = Number.POSITIVE_INFINITY;

/** What was asked for. */
export interface Question {
  /** One gang by its name, or all of them. */
  readonly gang: string | undefined;
  /** undefined: all of them. */
  readonly namespace: string | undefined;
}

/** Why what is shown may be old. */
export interface Trouble {
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly message: string;
}

/** Everything there is to say, at one moment. */
export interface Moment {
  readonly question: Question;
  readonly gangs: readonly GangStatus[];
  readonly trouble: Trouble | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export const placeOf = ({ namespace }: Question): string =>
  namespace === undefined ? 'in any namespace' : `in namespace ${namespace}`;

/** The table or, for one gang, the tree. */
export function bodyLines({ question, gangs, now }: Moment, width: number): Line[] {
  if (question.gang === undefined) {
    return tableLines(gangs, { namespaces: question.namespace === undefined, now, width });
  }
  return gangs.flatMap((gang, index) => [...(index === 0 ? [] : [[]]), ...treeLines(gang, { now, width })]);
}

/** The whole of a terminal: at most `rows` lines of at most `columns` characters. */
export function screenLines(
  moment: Moment,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): Line[] {
  const head = [
    ...troubleLines(moment, columns),
    ...(moment.gangs.length === 0 ? [[span(nothing(moment))]] : []),
  ];
  const body = moment.gangs.length === 0 ? [] : bodyLines(moment, columns);
  const room = rows - head.length;
  const shown =
    body.length <= room ? body : [...body.slice(0, room - 1), moreLine(moment, body.length, room - 1)];
  return [...head, ...shown].slice(0, rows).map((line) => cutLine(line, columns));
}

function troubleLines({ trouble, now }: Moment, columns: number): Line[] {
  if (trouble === undefined) return [];
  const since = `since ${clockTime(trouble.since)} (${duration(now - trouble.since)})`;
  return wrapped(`Not up to date ${since}: ${trouble.message}. Trying again.`, columns, '', 'bad');
}

function nothing({ question }: Moment): string {
  return question.gang === undefined
    ? `no gangs ${placeOf(question)}`
    : `PodGang ${question.gang} does not exist any more ${placeOf(question)}`;
}

/** What did not fit. Of a table the phases as well, for the gang that is stuck may be among them. */
function moreLine({ question, gangs }: Moment, lines: number, shown: number): Line {
  if (question.gang !== undefined) return [span(`… ${lines - shown} more lines`, 'reason')];
  const hidden = gangs.slice(Math.max(0, shown - 1));
  const phases = new Map<string, number>();
  for (const gang of hidden) {
    const { text } = phaseOf(gang);
    phases.set(text, (phases.get(text) ?? 0) + 1);
  }
  const counts = [...phases]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([phase, count]) => `${count} ${phase}`);
  return [span(`… ${hidden.length} more gangs: ${counts.join(', ')}`, 'reason')];
}

const clockTime = (ms: number): string => new Date(ms).toISOString().slice(11, 19) + 'Z';

import type { GangStatus } from '../../status/gang-status.ts';
import { gatesLeft, readyGroups, readyPods, type ReadyCount } from '../../status/gang-counts.ts';
import type { Palette } from '../output/palette.ts';

/** Minimal width of the reason, the column that people read; names are cut for it. */
const WHY_WIDTH = 32;
/** Minimal width of a cut name. */
const NAME_WIDTH = 10;

interface Column {
  readonly head: string;
  /** Whether the column holds names, which are cut where the width is scarce. */
  readonly name?: true;
  readonly cell: (gang: GangStatus) => Span;
}

const NAMESPACE: Column = { head: 'NAMESPACE', name: true, cell: ({ namespace }) => span(namespace) };
const GANG: Column = { head: 'GANG', name: true, cell: ({ name }) => span(name) };
const WORKLOAD: Column = {
  head: 'WORKLOAD',
  name: true,
  cell: ({ summary }) => span(summary?.workload ?? '-'),
};

const columnsAt = (now: number): Column[] => [
  { head: 'BACKEND', name: true, cell: ({ backend }) => span(backend) },
  { head: 'PHASE', cell: phaseOf },
  { head: 'GROUPS', cell: (gang) => span(groupsReady(gang)) },
  { head: 'PODS', cell: (gang) => span(podsReady(gang)) },
  { head: 'GATES', cell: (gang) => span(String(gatesLeft(gang))) },
  { head: 'AGE', cell: (gang) => span(ageOf(gang, now)) },
];

/**
 * One line for each gang below a line of heads, each at most `width` characters.
 * @param now milliseconds since 1970
 */
export function tableLines(
  gangs: readonly GangStatus[],
  given: { readonly namespaces: boolean; readonly now: number; readonly width: number },
): Line[] {
  // Without a gang of a workload the column WORKLOAD is left out.
  const ofWorkloads = gangs.some(({ summary }) => summary?.workload !== undefined);
  const columns = [
    ...(given.namespaces ? [NAMESPACE] : []),
    GANG,
    ...(ofWorkloads ? [WORKLOAD] : []),
    ...columnsAt(given.now),
  ];
  const rows = gangs.map((gang) => columns.map((column) => column.cell(gang)));
  const widths = columns.map(({ head }, index) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[index]?.text ?? '')), head.length),
  );
  makeRoom(widths, columns, given.width - WHY_WIDTH);
  const laidOut = (cells: readonly Span[], why: Span): Line =>
    cutLine(
      [
        ...cells.map(({ text, tone }, index) => {
          const width = widths[index] ?? 0;
          const shown = columns[index]?.name === true ? cutName(text, width) : cut(text, width);
          return span(`${shown}${' '.repeat(width - widthOf(shown))}  `, tone);
        }),
        why,
      ],
      given.width,
    );
  const head = columns.map((column) => span(column.head, 'strong'));
  return [
    laidOut(head, span('WHY', 'strong')),
    ...rows.map((row, index) => laidOut(row, span(gangs[index]?.why ?? ''))),
  ];
}

/** Shortens the widest column of names repeatedly, until all columns fit into `room` or no name can be shorter. */
function makeRoom(widths: number[], columns: readonly Column[], room: number): void {
  const used = (): number => widths.reduce((sum, width) => sum + width + 2, 0);
  while (used() > room) {
    let widest = -1;
    columns.forEach(({ name, head }, index) => {
      const width = widths[index] ?? 0;
      const gives = name === true && width > Math.max(NAME_WIDTH, head.length);
      if (gives && width > (widths[widest] ?? 0)) widest = index;
    });
    if (widest === -1) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
}

/** The phase, or `-` where the PodGang does not exist. */
export function phaseOf({ summary }: GangStatus): Span {
  if (summary === undefined) return span('-', 'bad');
  return span(summary.phase, summary.phase === 'Running' ? 'good' : 'warn');
}

/** Number of groups with their minimum of ready Pods, of all groups. */
export const groupsReady = (gang: GangStatus): string => countText(readyGroups(gang));

/** Number of ready Pods, of the expected ones or of the existing ones, whichever are more. */
export const podsReady = (gang: GangStatus): string => countText(readyPods(gang));

const countText = (count: ReadyCount | undefined): string =>
  count === undefined ? '-' : `${count.ready}/${count.total}`;

/** Age in kubectl's format: `45s`, `12m`, `3h`, `2d`; `-` where there is no PodGang. */
export function ageOf({ creationTimestamp }: GangStatus, now: number): string {
  return creationTimestamp === undefined ? '-' : ageText(now - Date.parse(creationTimestamp));
}

/** @param ms negative where the API server's clock is ahead: counts as 0 */
export function ageText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/** A piece of a line; colours are added last, so that lines are measured and cut without them. */
export interface Span {
  readonly text: string;
  readonly tone?: 'strong' | 'good' | 'warn' | 'bad' | 'reason' | undefined;
}

export type Line = readonly Span[];

export const span = (text: string, tone?: Span['tone']): Span => ({ text, tone });

const ELLIPSIS = '…';

/** Number of Unicode characters; names are ASCII, and a terminal clips wider text. */
export const widthOf = (text: string): number => Array.from(text).length;

/** At most `width` characters, the last of them `…` where text was cut. */
export function cut(text: string, width: number): string {
  const characters = Array.from(text);
  return characters.length <= width
    ? text
    : `${characters.slice(0, Math.max(0, width - 1)).join('')}${width > 0 ? ELLIPSIS : ''}`;
}

/** A name of at most `width` characters, cut in the middle, since its end matters more: `llama-pre…-7`. */
function cutName(name: string, width: number): string {
  const characters = Array.from(name);
  if (characters.length <= width || width < 6) return cut(name, width);
  const tail = Math.floor((width - 1) / 3);
  return `${characters.slice(0, width - 1 - tail).join('')}${ELLIPSIS}${characters.slice(-tail).join('')}`;
}

export function cutLine(line: Line, width: number): Line {
  let left = width;
  if (line.reduce((sum, { text }) => sum + widthOf(text), 0) <= left) return line;
  const kept: Span[] = [];
  for (const { text, tone } of line) {
    // One character is reserved for the ellipsis, in case this piece ends at the edge and another one follows.
    if (widthOf(text) >= left) return [...kept, span(cut(`${text}${ELLIPSIS}`, left), tone)];
    kept.push({ text, tone });
    left -= widthOf(text);
  }
  return kept;
}

/** Words wrapped to lines of at most `width` characters after `indent`. */
export function wrapped(text: string, width: number, indent = '', tone?: Span['tone']): Line[] {
  const room = Math.max(1, width - widthOf(indent));
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').filter((one) => one !== '')) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > room) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, ...(line === '' ? [] : [line])].map((one) => [span(indent), span(cut(one, room), tone)]);
}

/** The line as printed: without trailing blanks, with colours where the palette has them. */
export function painted(line: Line, palette: Palette): string {
  const last = line.findLastIndex(({ text }) => text.trimEnd() !== '');
  return line
    .slice(0, last + 1)
    .map(({ text, tone }, index) => {
      const shown = index === last ? text.trimEnd() : text;
      return tone === undefined ? shown : palette[tone](shown);
    })
    .join('');
}

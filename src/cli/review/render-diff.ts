import { pointer, type Change } from '../../json/patch.ts';
import { own, type Json, type JsonObject } from '../../json/json.ts';
import { printable } from '../../text/printable.ts';
import type { Palette } from '../output/palette.ts';
import { writeYaml, type WrittenYaml } from '../output/structured.ts';

/** Maximal length of a line: a longer one, such as a script in an annotation, is cut. */
const MAX_LINE = 200;

/** The lines of a unified diff of two objects as YAML, with the reason of each change as a comment on its first line. */
export function renderDiff(
  received: JsonObject,
  stored: JsonObject,
  changes: readonly Change[],
  palette: Palette,
): string[] {
  const [before, after] = [writeYaml(received), writeYaml(stored)];
  const reasons = reasonsByLine(received, after, changes);
  const out = [palette.strong('--- as given'), palette.strong('+++ as stored')];
  for (const { header, lines } of hunksOf(diffLines(before.lines, after.lines))) {
    out.push(palette.hunk(header));
    // A replaced list may begin with unchanged lines: the reason then stands at the first line that differs.
    let due: readonly string[] = [];
    for (const { kind, text, after: number } of lines) {
      const shown = printable(text, MAX_LINE);
      if (kind !== 'removed') due = [...due, ...(reasons.get(number) ?? [])];
      if (kind === 'same') out.push(` ${shown}`);
      else if (kind === 'removed') out.push(palette.removed(`-${shown}`));
      else {
        out.push(
          `${palette.added(`+${shown}`)}${due.length === 0 ? '' : palette.reason(`  # ${due.join('; ')}`)}`,
        );
        due = [];
      }
    }
  }
  return out;
}

/** The reasons of the changes, by the number of each change's first line in `after`. */
function reasonsByLine(
  received: JsonObject,
  { lineOf }: WrittenYaml,
  changes: readonly Change[],
): Map<number, string[]> {
  const reasons = new Map<number, string[]>();
  const appended = new Map<string, number>();
  for (const change of changes.flatMap(byKey)) {
    let { path } = change;
    if (path.endsWith('/-')) {
      // `-` appends: its index is the length of the received list and the number of earlier appends.
      const parent = path.slice(0, -2);
      const index = appended.get(parent) ?? lengthOf(received, parent);
      appended.set(parent, index + 1);
      path = `${parent}/${index}`;
    }
    while (path !== '' && !lineOf.has(path)) path = path.slice(0, path.lastIndexOf('/'));
    const line = lineOf.get(path) ?? 1;
    const known = reasons.get(line) ?? [];
    if (!known.includes(change.why)) reasons.set(line, [...known, change.why]);
  }
  return reasons;
}

/**
 * A map or list that is added as a whole has one reason for each key, joined in one string: each reason is shown beside its
 * key. Where the numbers differ, all are shown at the first line.
 */
function byKey({ operation, why }: Change): { path: string; why: string }[] {
  const { path, value } = operation;
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const reasons = why.split('; ');
  if (keys.length < 2 || keys.length !== reasons.length) return [{ path, why }];
  return keys.map((key, index) => ({ path: `${path}/${pointer(key)}`, why: reasons[index] ?? '' }));
}

const unescaped = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

function lengthOf(object: JsonObject, path: string): number {
  let node: Json | undefined = object;
  for (const step of path.slice(1).split('/')) node = own(node, unescaped(step));
  return Array.isArray(node) ? node.length : 0;
}

/** A line of a diff with its numbers, from 1, in the texts that contain it. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
  readonly before: number;
  readonly after: number;
}

/** A hunk of a unified diff. */
export interface Hunk {
  /** Such as `@@ -3,6 +3,14 @@`. */
  readonly header: string;
  readonly lines: readonly DiffLine[];
}

/** Differing lines above which no shortest diff is computed, since its time grows with their square. */
const MAX_EDITS = 1500;

/** All lines of both texts, in order: E. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986). */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  const [oldEnd, newEnd] = [before.length, after.length];
  const trace = furthestPaths(before, after, start, oldEnd, newEnd);
  const steps: DiffLine[] = [];
  let [x, y] = [oldEnd, newEnd];
  const same = (): void => {
    [x, y] = [x - 1, y - 1];
    steps.push({ kind: 'same', text: before[x] ?? '', before: x + 1, after: y + 1 });
  };
  const removed = (): void => {
    x -= 1;
    steps.push({ kind: 'removed', text: before[x] ?? '', before: x + 1, after: y });
  };
  const added = (): void => {
    y -= 1;
    steps.push({ kind: 'added', text: after[y] ?? '', before: x, after: y + 1 });
  };
  if (trace !== undefined) {
    for (let depth = trace.length - 1; depth > 0; depth -= 1) {
      const reached = trace[depth - 1];
      const k = x - y;
      const down = k === -depth || (k !== depth && at(reached, k - 1) < at(reached, k + 1));
      const fromX = at(reached, down ? k + 1 : k - 1);
      while (x > (down ? fromX : fromX + 1)) same();
      if (down) added();
      else removed();
    }
  } else {
    while (y > start) added();
    while (x > start) removed();
  }
  while (x > 0 && y > 0) same();
  return steps.reverse();
}

/** The furthest position on each diagonal after 0, 1, 2 … edits; undefined above {@link MAX_EDITS}. */
function furthestPaths(
  before: readonly string[],
  after: readonly string[],
  start: number,
  oldEnd: number,
  newEnd: number,
): Map<number, number>[] | undefined {
  const trace: Map<number, number>[] = [];
  for (let depth = 0; depth <= MAX_EDITS; depth += 1) {
    const last = trace[depth - 1];
    const reached = new Map<number, number>();
    trace.push(reached);
    for (let k = -depth; k <= depth; k += 2) {
      let x = start;
      if (depth > 0) {
        const down = k === -depth || (k !== depth && at(last, k - 1) < at(last, k + 1));
        x = down ? at(last, k + 1) : at(last, k - 1) + 1;
      }
      let y = x - k;
      while (x < oldEnd && y < newEnd && before[x] === after[y]) [x, y] = [x + 1, y + 1];
      reached.set(k, x);
      if (x >= oldEnd && y >= newEnd) return trace;
    }
  }
  return undefined;
}

const at = (reached: Map<number, number> | undefined, k: number): number => reached?.get(k) ?? -1;

/** The changed lines with `context` lines around them. */
export function hunksOf(lines: readonly DiffLine[], context = 3): Hunk[] {
  const kept = new Set<number>();
  lines.forEach((line, index) => {
    if (line.kind === 'same') return;
    for (let near = index - context; near <= index + context; near += 1) kept.add(near);
  });
  const hunks: DiffLine[][] = [];
  let lastIndex = -2;
  lines.forEach((line, index) => {
    if (!kept.has(index)) return;
    if (index !== lastIndex + 1) hunks.push([]);
    hunks.at(-1)?.push(line);
    lastIndex = index;
  });
  return hunks.map((hunk) => ({ header: headerOf(hunk), lines: hunk }));
}

function headerOf(hunk: readonly DiffLine[]): string {
  const range = (side: 'before' | 'after', other: 'added' | 'removed'): string => {
    const inText = hunk.filter(({ kind }) => kind !== other);
    // An empty side has the number of the line before it, as in diff(1).
    return `${inText[0]?.[side] ?? hunk[0]?.[side] ?? 0},${inText.length}`;
  };
  return `@@ -${range('before', 'added')} +${range('after', 'removed')} @@`;
}

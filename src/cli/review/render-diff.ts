import type { Change } from '../../admission/json-patch.ts';
import { pointer } from '../../json/patch.ts';
import { own, type Json, type JsonObject } from '../../json/json.ts';
import { printable } from '../../text/printable.ts';
import { diffLines, hunksOf } from './line-diff.ts';
import type { Palette } from '../output/palette.ts';
import { writeYaml, type WrittenYaml } from '../output/structured.ts';

/** A line of a manifest that is longer (a whole script in an annotation) is cut. */
const MAX_LINE = 200;

/**
 * A unified diff of two objects as YAML, in lines, with the reason of each change as a comment on its first line.
 */
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
    // Of a list that is replaced and begins as it did, the first line is no change: the reason stands at the one that is.
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

/** Where each change shows in `after`: the number of its first line, and why it was made. */
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
      // The end of the list at that moment: what was there, and what earlier changes appended.
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
 * A map or a list that is added as a whole has its reasons in one string, one for each key: each is shown beside its own.
 * Where they do not come out even, all are shown at the top.
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

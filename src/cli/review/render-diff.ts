import { parseDocument, LineCounter } from 'yaml';
import { pointer, type Change } from '../../admission/json-patch.ts';
import { isObject, own, ownList, type Json, type JsonObject } from '../../api/json.ts';
import { printable } from '../../api/printable.ts';
import { offsetOf } from '../input/field-position.ts';
import { diffLines, hunksOf } from './line-diff.ts';
import type { Palette } from '../output/palette.ts';
import { toYaml } from '../input/yaml-dialect.ts';

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
  const [before, after] = [toYaml(received), toYaml(stored)];
  const reasons = reasonsByLine(received, after, changes);
  const out = [palette.strong('--- as given'), palette.strong('+++ as stored')];
  for (const { header, lines } of hunksOf(diffLines(linesOf(before), linesOf(after)))) {
    out.push(palette.hunk(header));
    for (const { kind, text, after: number } of lines) {
      const shown = printable(text, MAX_LINE);
      if (kind === 'same') out.push(` ${shown}`);
      else if (kind === 'removed') out.push(palette.removed(`-${shown}`));
      else {
        const why = reasons.get(number);
        out.push(
          `${palette.added(`+${shown}`)}${why === undefined ? '' : palette.reason(`  # ${why.join('; ')}`)}`,
        );
      }
    }
  }
  return out;
}

const linesOf = (text: string): string[] => text.replace(/\n$/, '').split('\n');

/** Where each change shows in `after`: the number of its first line, and why it was made. */
function reasonsByLine(
  received: JsonObject,
  after: string,
  changes: readonly Change[],
): Map<number, string[]> {
  const lines = new LineCounter();
  const document = parseDocument(after, { version: '1.1', lineCounter: lines, prettyErrors: false });
  const reasons = new Map<number, string[]>();
  const appended = new Map<string, number>();
  for (const { path, why } of changes.flatMap(byKey)) {
    const steps = path.slice(1).split('/').map(unescaped);
    if (steps.at(-1) === '-') {
      // The end of the list at that moment: what was there, and what earlier changes appended.
      const parent = path.slice(0, -2);
      const index = appended.get(parent) ?? lengthOf(received, steps.slice(0, -1));
      appended.set(parent, index + 1);
      steps[steps.length - 1] = String(index);
    }
    const { line } = lines.linePos(offsetOf(document, steps));
    const known = reasons.get(line) ?? [];
    if (!known.includes(why)) reasons.set(line, [...known, why]);
  }
  return reasons;
}

/**
 * A map that is added as a whole has its reasons in one string, one for each key: each is shown beside its own key.
 * Where they do not come out even, all are shown at the top.
 */
function byKey({ operation, why }: Change): { path: string; why: string }[] {
  const { path, value } = operation;
  const keys = isObject(value) ? Object.keys(value) : [];
  const reasons = why.split('; ');
  if (keys.length < 2 || keys.length !== reasons.length) return [{ path, why }];
  return keys.map((key, index) => ({ path: `${path}/${pointer(key)}`, why: reasons[index] ?? '' }));
}

const unescaped = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

function lengthOf(object: JsonObject, steps: readonly string[]): number {
  const last = steps.at(-1) ?? '';
  let node: Json | undefined = object;
  for (const step of steps.slice(0, -1)) node = own(node, step);
  return ownList(node, last)?.length ?? 0;
}

import { printable } from '../../api/printable.ts';
import type { Position } from '../input/documents.ts';
import type { Palette } from '../output/palette.ts';
import { renderDiff } from './render-diff.ts';
import type { Cause, ReviewResult } from './review-result.ts';

/** All results for a person to read, and a summary. */
export function renderReview(results: readonly ReviewResult[], palette: Palette): string {
  const blocks = results.map((result) => renderResult(result, palette));
  return `${[...blocks, [summary(results)]].map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

type Verdict = 'changed' | 'unchanged' | 'denied' | 'skipped';

const verdictOf = ({ reviewed, allowed, changes }: ReviewResult): Verdict => {
  if (!reviewed) return 'skipped';
  if (!allowed) return 'denied';
  return changes.length > 0 ? 'changed' : 'unchanged';
};

function renderResult(result: ReviewResult, palette: Palette): string[] {
  const { message, backend, gang, code, causes, warnings, changes, received, stored } = result;
  const verdict = verdictOf(result);
  const facts = [
    ...(verdict === 'denied' ? [String(code)] : []),
    ...(backend === undefined ? [] : [`backend ${backend}`]),
    ...(gang === undefined ? [] : [`gang ${printable(gang)}`]),
  ];
  const mark = verdict === 'denied' ? palette.bad : verdict === 'skipped' ? palette.reason : palette.good;
  const head = `${mark(verdict)} ${palette.strong(subjectOf(result))} ${placeOf(result, '')}`;
  const lines = [facts.length === 0 ? head : `${head} (${facts.join(', ')})`];
  if (verdict === 'skipped') return [`${head}: ${message}`];
  if (verdict === 'denied') {
    const told = causes.length > 0 ? causes : [{ field: '', reason: '', message }];
    lines.push(...told.map((cause) => `  ${causeLine(result, cause, palette)}`));
  }
  lines.push(...warnings.map((warning) => `  ${palette.warn('warning:')} ${warning}`));
  if (received !== undefined && stored !== undefined && changes.length > 0) {
    if (result.ref.template !== undefined) {
      lines.push(
        `  the ${printable(result.ref.kind)} is stored as it is; its Pods are prepared when they are created:`,
      );
    }
    lines.push(...renderDiff(received, stored, changes, palette).map((line) => `  ${line}`));
  }
  return lines;
}

/** `Pod default/trainer-0`, `Pods of Job default/train at spec.template`. */
export function subjectOf({ ref }: ReviewResult): string {
  const name = ref.name === '' ? '(no name)' : ref.name;
  const object = printable(
    `${ref.kind || 'object'} ${ref.namespace === '' ? '' : `${ref.namespace}/`}${name}`,
  );
  return ref.template === undefined ? object : `Pods of ${object} at ${printable(ref.template)}`;
}

/** `field` of the reviewed object in its file. */
export function positionOf({ source, root }: ReviewResult, field: string): Position {
  return source.locate(root === '' || field === '' ? root || field : `${root}.${field}`);
}

/** `gang.yaml:12:3` */
export function placeOf(result: ReviewResult, field: string): string {
  const { line, column } = field === '' ? result.source.locate('') : positionOf(result, field);
  return `${printable(result.source.file, 4096)}:${line}:${column}`;
}

/** `gang.yaml:12:3: spec.nodeName: Forbidden: …` */
export function causeLine(result: ReviewResult, { field, message }: Cause, palette: Palette): string {
  const where = field === '' ? '' : `${printable(field)}: `;
  return `${placeOf(result, field)}: ${palette.bad('error:')} ${where}${message}`;
}

/** `4 objects: 1 changed, 2 unchanged, 1 denied, 0 skipped` */
export function summary(results: readonly ReviewResult[]): string {
  const counts: Record<Verdict, number> = { changed: 0, unchanged: 0, denied: 0, skipped: 0 };
  for (const result of results) counts[verdictOf(result)] += 1;
  const parts = Object.entries(counts).map(([verdict, count]) => `${count} ${verdict}`);
  return `${results.length} ${results.length === 1 ? 'review' : 'reviews'}: ${parts.join(', ')}`;
}

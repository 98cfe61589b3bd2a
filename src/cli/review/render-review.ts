import type { Change } from '../../json/patch.ts';
import { printable } from '../../text/printable.ts';
import type { TextPosition, SourceObject } from '../input/source-object.ts';
import { findingLine, type Finding } from '../output/findings.ts';
import type { Palette } from '../output/palette.ts';
import { writeYaml } from '../output/structured.ts';
import { reflowed } from '../output/text-layout.ts';
import { renderDiff } from './render-diff.ts';
import type { JsonObject } from '../../json/json.ts';

export type Verdict = 'made' | 'changed' | 'unchanged' | 'denied' | 'skipped';

export const verdictOf = ({ reviewed, allowed, changes, made }: ReviewResult): Verdict => {
  if (!reviewed) return 'skipped';
  if (!allowed) return 'denied';
  if (made !== undefined) return 'made';
  return changes.length > 0 ? 'changed' : 'unchanged';
};

/**
 * One result for people; a skipped object has no lines of its own.
 * @param width at which sentences are wrapped; lines of a diff are not
 */
export function renderResult(result: ReviewResult, palette: Palette, width: number): string[] {
  const { backend, gang, code, changes, received, stored } = result;
  const verdict = verdictOf(result);
  const facts = [
    ...(verdict === 'denied' ? [String(code)] : []),
    ...(backend === undefined ? [] : [`backend ${backend}`]),
    ...(gang === undefined ? [] : [`gang ${printable(gang)}`]),
  ];
  const mark = verdict === 'denied' ? palette.bad : palette.good;
  const head = `${mark(verdict)} ${palette.strong(subjectOf(result))} ${placeOf(result)}`;
  const lines = [reflowed(facts.length === 0 ? head : `${head} (${facts.join(', ')})`, width)];
  if (verdict === 'denied')
    lines.push(...refusalsOf(result).map((finding) => reflowed(`  ${findingLine(finding, palette)}`, width)));
  lines.push(
    ...result.warnings.map((warning) => reflowed(`  ${palette.warn('warning:')} ${warning}`, width)),
  );
  if (result.made !== undefined && stored !== undefined) {
    lines.push(`  Muster makes it for ${printable(result.made)}, once the first of its Pods is there:`);
    lines.push(...writeYaml(stored).lines.map((line) => `  ${palette.added(`+${printable(line, 200)}`)}`));
  } else if (received !== undefined && stored !== undefined && changes.length > 0) {
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

/** Position in the file of a field of the reviewed object. */
export function positionOf({ source, root }: ReviewResult, field: string): TextPosition {
  return source.locate(root === '' || field === '' ? root || field : `${root}.${field}`);
}

/** `gang.yaml:12:3` */
function placeOf({ source }: ReviewResult): string {
  const { line, column } = source.locate('');
  return `${printable(source.file, 4096)}:${line}:${column}`;
}

/** Every fault of a refusal, with its position. */
export function refusalsOf(result: ReviewResult): Finding[] {
  const { allowed, causes, source } = result;
  if (allowed) return [];
  const reasons = causes.length > 0 ? causes : [{ field: '', message: result.message, rule: '' }];
  return reasons.map(({ field, message, rule }) => ({
    file: source.file,
    ...(field === '' ? source.locate('') : positionOf(result, field)),
    severity: 'error',
    path: field,
    message,
    rule: rule || 'AdmissionReview',
  }));
}

/** Warnings as findings; each names the object, since a warning has no field. */
export const warningsOf = (result: ReviewResult): Finding[] =>
  result.warnings.map((warning) => ({
    file: result.source.file,
    ...result.source.locate(''),
    severity: 'warning',
    path: '',
    message: `${subjectOf(result)}: ${warning}`,
    rule: 'AdmissionWarning',
  }));

/** Name of the reviewed object; for the Pods of a workload the workload's name and the template's path. */
export interface Ref {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly template?: string;
}

export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
  /** Name of the rule; '' where the fault has none. */
  readonly rule: string;
}

/** The outcome of admission for one object. */
export interface ReviewResult {
  readonly source: SourceObject;
  readonly ref: Ref;
  /** False where no webhook is called for such an object; `message` says why. */
  readonly reviewed: boolean;
  readonly allowed: boolean;
  readonly code: number;
  readonly message: string;
  readonly causes: readonly Cause[];
  readonly warnings: readonly string[];
  readonly backend: string | undefined;
  readonly gang: string | undefined;
  readonly changes: readonly Change[];
  /** The object sent; undefined for a review without one (DELETE). */
  readonly received: JsonObject | undefined;
  /** The object as it would be stored; undefined where it is refused or not sent. */
  readonly stored: JsonObject | undefined;
  /** Workload of a PodGang that is in no file and that Muster makes, such as `job/train`. */
  readonly made?: string;
  /** Path of the received object in the source: `spec.template`, `request.object`, or ''. */
  readonly root: string;
}

/** The result for an object for which no webhook is called: it is stored unchanged. */
export const notReviewed = (source: SourceObject, ref: Ref, message: string): ReviewResult => ({
  source,
  ref,
  reviewed: false,
  allowed: true,
  code: 200,
  message,
  causes: [],
  warnings: [],
  backend: undefined,
  gang: undefined,
  changes: [],
  received: source.object,
  stored: source.object,
  root: '',
});

import type { Change } from '../../admission/json-patch.ts';
import type { JsonObject } from '../../json/json.ts';
import type { SourceObject } from '../input/documents.ts';

/** What was reviewed, by name; for the Pods of a workload its name, and the path of the template. */
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
  /** The name of the rule; '' where none has one. */
  readonly rule: string;
}

/** One object as admission would leave it. */
export interface ReviewResult {
  readonly source: SourceObject;
  readonly ref: Ref;
  /** False where admission has nothing to do with such an object; `message` says why. */
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
  /** The object as it would be stored; undefined where it would not be, or is not sent. */
  readonly stored: JsonObject | undefined;
  /** `job/train`: this PodGang is in no file, Muster makes it for that workload. */
  readonly made?: string;
  /** Where the fields of `received` stand in the source: `spec.template`, `request.object`, or ''. */
  readonly root: string;
}

/** An object that admission is not asked about: stored as it is. */
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

import {
  nameOfRequest,
  REVIEW_API_VERSION,
  REVIEW_KIND,
  type AdmissionRequest,
  type Decision,
  type NamedRequest,
} from './review.ts';
import type { Fault } from '../api/fault.ts';
import { isObject, jsonText, printableJson } from '../json/json.ts';
import { MAX_TOTAL_RUNES, printable } from '../text/printable.ts';
import { rules } from '../api/rules.ts';
import { isConstant, type Change } from '../json/patch.ts';

/** The most causes in a refusal, which nobody reads to the end: a PodGang may have 100,000 faults. */
const MAX_CAUSES = 256;

/** A refusal as the API server shows it to the user: a `metav1.Status`. */
export interface Denial {
  readonly code: 403 | 422;
  readonly reason: 'Forbidden' | 'Invalid';
  readonly message: string;
  readonly causes: readonly { reason: string; message: string; field: string }[];
}

/** Builds the refusal: 422 where a fault is in the object, 403 where all faults are in the account or the moment. */
export function denialOf(request: NamedRequest, faults: readonly Fault[]): Denial {
  const code = faults.some((fault) => rules[fault.rule].code === 422) ? 422 : 403;
  return {
    code,
    reason: code === 422 ? 'Invalid' : 'Forbidden',
    message: messageOf(request, faults),
    causes: faults
      .slice(0, MAX_CAUSES)
      .map(({ reason, message, field }) => ({ reason, message, field: printable(field) })),
  };
}

function messageOf(request: NamedRequest, faults: readonly Fault[]): string {
  const subject = printable(`${request.kind.kind} ${nameOfRequest(request)}`, 128);
  const textOf = (fault: Fault): string => `${printable(fault.field)}: ${fault.message}`;
  const [first] = faults;
  if (first !== undefined && faults.length === 1) return `${subject}: ${textOf(first)}`;
  let message = `${subject} has ${faults.length} faults:`;
  for (const [index, fault] of faults.entries()) {
    const next = `${message} (${index + 1}) ${textOf(fault)}`;
    if (next.length > MAX_TOTAL_RUNES - 64) {
      const where =
        faults.length > MAX_CAUSES ? `the first ${MAX_CAUSES} are in the causes` : 'see the causes';
      return `${message} … and ${faults.length - index} more, ${where}`;
    }
    message = next;
  }
  return message;
}

/** Prepares warnings for the API server: printable, without duplicates, and within its limit for all of them. */
export function boundedWarnings(warnings: readonly string[]): string[] {
  const kept: string[] = [];
  let runes = 0;
  for (const warning of new Set(warnings.map((text) => printable(text)))) {
    runes += warning.length;
    if (runes > MAX_TOTAL_RUNES) break;
    kept.push(warning);
  }
  return kept;
}

/** An operation of a patch that was encoded before. */
interface Kept {
  readonly op: string;
  readonly path: string;
  /** A constant itself; of any other value a copy, since a preparer may change its value later. */
  readonly value: unknown;
}

interface Encoded {
  readonly operations: readonly Kept[];
  readonly base64: string;
}

/** How many encoded patches are kept: one for each group of Pods that are created at the same time. */
const MOST = 8;
const known: Encoded[] = [];
let next = 0;

/**
 * Encodes a patch as base64. The Pods of a group are created in a row and mostly get the same patch, and comparing two
 * patches takes a tenth of the time of encoding one.
 */
export function encodedPatch(changes: readonly Change[]): string {
  for (const one of known) if (isSame(one.operations, changes)) return one.base64;
  const operations = changes.map(({ operation }) => operation);
  const base64 = Buffer.from(JSON.stringify(operations)).toString('base64');
  const kept = operations.map(({ op, path, value }) => ({ op, path, value: copyOf(value) }));
  known[next] = { operations: kept, base64 };
  next = (next + 1) % MOST;
  return base64;
}

function isSame(kept: readonly Kept[], changes: readonly Change[]): boolean {
  if (kept.length !== changes.length) return false;
  // From the end: patches of two groups differ in the names of the groups, which come last.
  for (let index = kept.length - 1; index >= 0; index -= 1) {
    const [before, now] = [kept[index], changes[index]?.operation];
    if (before === undefined || now === undefined) return false;
    if (before.path !== now.path || before.op !== now.op || !isSameValue(before.value, now.value))
      return false;
  }
  return true;
}

/** Copies a value as JSON has it. An object that is not plain may define its JSON itself (`toJSON`), so it is serialised. */
function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isConstant(value)) return value;
  if (Array.isArray(value)) return (value as readonly unknown[]).map(copyOf);
  if (!isPlain(value)) return JSON.parse(JSON.stringify(value)) as unknown;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copyOf(inner)]));
}

/**
 * Whether two values have the same JSON, including the order of keys; false for objects that are not plain, whose JSON is
 * unknown.
 */
function isSameValue(kept: unknown, now: unknown): boolean {
  if (kept === now) return true;
  if (Array.isArray(kept)) return Array.isArray(now) && haveSameItems(kept, now);
  if (!isObject(kept) || !isObject(now) || !isPlain(now)) return false;
  const [keys, keysNow] = [Object.keys(kept), Object.keys(now)];
  if (!haveSameItems(keys, keysNow)) return false;
  for (const key of keys) if (!isSameValue(kept[key], now[key])) return false;
  return true;
}

function haveSameItems(kept: readonly unknown[], now: readonly unknown[]): boolean {
  if (kept.length !== now.length) return false;
  for (let index = 0; index < kept.length; index += 1)
    if (!isSameValue(kept[index], now[index])) return false;
  return true;
}

const isPlain = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype;

const HEAD = `{"apiVersion":"${REVIEW_API_VERSION}","kind":"${REVIEW_KIND}","response":{"uid":`;

/**
 * The answer to a review: a whole AdmissionReview as JSON. Patch and patchType come together or not at all. The envelope is
 * always the same, so only the differing fields are serialised.
 */
export function renderResponse(request: AdmissionRequest, decision: Decision): string {
  const { faults, changes, warnings } = decision;
  let text = `${HEAD}${jsonText(request.uid)},"allowed":${faults.length === 0}`;
  if (faults.length > 0) text += `,"status":${JSON.stringify(statusOf(request, faults))}`;
  else if (changes.length > 0) text += `,"patchType":"JSONPatch","patch":"${encodedPatch(changes)}"`;
  if (warnings.length > 0) text += `,"warnings":${JSON.stringify(boundedWarnings(warnings))}`;
  return `${text}${auditAnnotations(decision)}}}`;
}

function statusOf(request: AdmissionRequest, faults: readonly Fault[]): object {
  const { code, reason, message, causes } = denialOf(request, faults);
  const { group, kind } = request.kind;
  const details = { name: printable(nameOfRequest(request)), group, kind, causes };
  return { metadata: {}, status: 'Failure', message, reason, details, code };
}

function auditAnnotations({ backend, gang }: Decision): string {
  if (backend === undefined && gang === undefined) return '';
  const parts: string[] = [];
  if (backend !== undefined) parts.push(`"backend":${jsonText(backend)}`);
  if (gang !== undefined) parts.push(`"gang":${printableJson(gang, 320)}`);
  return `,"auditAnnotations":{${parts.join()}}`;
}

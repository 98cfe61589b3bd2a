import type { Fault } from '../api/fault.ts';
import { own, ownString, type JsonObject } from '../json/json.ts';
import { MAX_TOTAL_RUNES, printable } from '../text/printable.ts';
import { rules } from '../api/rules.ts';

/** As many causes as anybody would read; a PodGang may have a fault in each of 100,000 lines. */
const MAX_CAUSES = 256;

/** What a denial says of the request. */
interface Subject {
  readonly kind: { readonly kind: string };
  readonly name: string;
  readonly object: JsonObject | undefined;
}

/** A refusal as the API server hands it to the user: a `metav1.Status`. */
export interface Denial {
  readonly code: 403 | 422;
  readonly reason: 'Forbidden' | 'Invalid';
  readonly message: string;
  readonly causes: readonly { reason: string; message: string; field: string }[];
}

/** 422 as soon as the object itself is wrong; 403 where only the account or the moment is. */
export function denialOf(request: Subject, faults: readonly Fault[]): Denial {
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

function messageOf(request: Subject, faults: readonly Fault[]): string {
  const subject = printable(`${request.kind.kind} ${nameOf(request)}`, 128);
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

/** The object's name for people; a generated name is still open when the Pod is mutated. */
export function nameOf(request: Subject): string {
  const metadata = own(request.object, 'metadata');
  const generateName = ownString(metadata, 'generateName');
  const name = request.name || ownString(metadata, 'name');
  return name || (generateName ? `${generateName}*` : '(no name)');
}

/** Warnings as the API server passes them on: printable, each once, and within its limit for all of them. */
export function warningsOf(warnings: readonly string[]): string[] {
  const kept: string[] = [];
  let runes = 0;
  for (const warning of new Set(warnings.map((text) => printable(text)))) {
    runes += warning.length;
    if (runes > MAX_TOTAL_RUNES) break;
    kept.push(warning);
  }
  return kept;
}

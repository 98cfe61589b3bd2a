import { keyed, printable, quoted } from '../text/printable.ts';
import type { FaultKind } from './rule.ts';
import { rules, type RuleName } from './rules.ts';

/** The words and the `reason` of `metav1.StatusCause` for each kind of field error, as Kubernetes has them. */
const wording: Record<FaultKind, { readonly prefix: string; readonly reason: string }> = {
  Required: { prefix: 'Required value', reason: 'FieldValueRequired' },
  Invalid: { prefix: 'Invalid value', reason: 'FieldValueInvalid' },
  NotSupported: { prefix: 'Unsupported value', reason: 'FieldValueNotSupported' },
  Duplicate: { prefix: 'Duplicate value', reason: 'FieldValueDuplicate' },
  Forbidden: { prefix: 'Forbidden', reason: 'FieldValueForbidden' },
  TooLong: { prefix: 'Too long', reason: 'FieldValueTooLong' },
};

/** One error of an object: a `metav1.StatusCause` with its rule. */
export interface Fault {
  readonly rule: RuleName;
  /** Path as Kubernetes writes it: `spec.podgroups[1].name`. */
  readonly field: string;
  /** `FieldValueInvalid` and the other reasons of Kubernetes. */
  readonly reason: string;
  /** What is wrong, the rule and the way out, without the field; printable, at most 256 runes. */
  readonly message: string;
}

/**
 * Creates a fault under `rule` at `field`.
 * @param given.value the invalid value, quoted in the message
 * @param given.detail what is particular to this case, placed after the rule's own words
 */
export function fault(
  rule: RuleName,
  field: string,
  given: { value?: unknown; detail?: string | undefined } = {},
): Fault {
  const { kind, says, fix } = rules[rule];
  const { prefix, reason } = wording[kind];
  const value = 'value' in given ? ` ${quoted(given.value)}:` : '';
  const detail = given.detail === undefined ? '' : ` (${given.detail})`;
  const tail = `; ${fix} [${rule}]`;
  // Only the head is cut, so that no value, however long, removes the way out and the rule's name.
  const head = printable(`${prefix}:${value} ${says}${detail}`, 256 - tail.length);
  return { rule, field, reason, message: `${head}${tail}` };
}

export { keyed };

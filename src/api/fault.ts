import { keyed, printable, quoted } from '../text/printable.ts';
import type { FaultKind } from './rule.ts';
import { rules, type RuleName } from './rules.ts';

/** How Kubernetes words each kind of field error, and the `reason` of its `metav1.StatusCause`. */
const wording: Record<FaultKind, { readonly prefix: string; readonly reason: string }> = {
  Required: { prefix: 'Required value', reason: 'FieldValueRequired' },
  Invalid: { prefix: 'Invalid value', reason: 'FieldValueInvalid' },
  NotSupported: { prefix: 'Unsupported value', reason: 'FieldValueNotSupported' },
  Duplicate: { prefix: 'Duplicate value', reason: 'FieldValueDuplicate' },
  Forbidden: { prefix: 'Forbidden', reason: 'FieldValueForbidden' },
  TooLong: { prefix: 'Too long', reason: 'FieldValueTooLong' },
};

/** One thing that is wrong with an object: a `metav1.StatusCause` that knows its rule. */
export interface Fault {
  readonly rule: RuleName;
  /** Path as Kubernetes writes it: `spec.podgroups[1].name`. */
  readonly field: string;
  /** `FieldValueInvalid` and its like. */
  readonly reason: string;
  /** What is wrong, the rule, the way out; printable, at most 256 runes. Without the field. */
  readonly message: string;
}

/**
 * A fault under `rule` at `field`.
 * @param given.value the value found, quoted in the message
 * @param given.detail what is particular to this case, after the rule's own words
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
  // The way out and the rule's name survive whatever a hostile value does to the length.
  const head = printable(`${prefix}:${value} ${says}${detail}`, 256 - tail.length);
  return { rule, field, reason, message: `${head}${tail}` };
}

export { keyed };

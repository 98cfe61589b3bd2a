import type { z } from 'zod';
import { suggestion } from '../text/nearest-key.ts';
import { printable, quoted } from '../text/printable.ts';

/** A value in words: `the string "x"`, `the number 5`, `a list`. */
export function inWords(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return `the string ${quoted(value)}`;
  if (typeof value === 'number' || typeof value === 'bigint')
    return `the number ${printable(String(value), 80)}`;
  return typeof value === 'boolean' ? `${value}` : 'a mapping';
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
};

function unsupportedValue(values: readonly unknown[], input: unknown): string {
  const supported = values.map(String).join(', ');
  if (typeof input !== 'string') {
    // `tlsMinVersion: 1.3` is a number in YAML.
    return values.includes(String(input))
      ? `must be a string: write "${String(input)}" with quotes`
      : `must be one of ${supported}, not ${inWords(input)}`;
  }
  return `unsupported value ${quoted(input)} (supported: ${supported})${suggestion(input, values.map(String))}`;
}

/** Muster's message for a zod issue; undefined: zod’s own message is used. */
export function messageFor(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'is required';
  if (issue.code === 'invalid_type') {
    return `must be ${EXPECTED[issue.expected] ?? issue.expected}, not ${inWords(issue.input)}`;
  }
  if (issue.code === 'invalid_value') return unsupportedValue(issue.values, issue.input);
  if (issue.code === 'too_small') {
    return `must be ${issue.inclusive === true ? 'at least' : 'greater than'} ${issue.minimum}`;
  }
  if (issue.code === 'too_big') {
    return `must be ${issue.inclusive === true ? 'at most' : 'less than'} ${issue.maximum}`;
  }
  return undefined;
}

import { isConstant } from '../api/constant.ts';
import type { Change } from './json-patch.ts';

/** A patch that was encoded, by what it consists of. */
interface Encoded {
  readonly changes: readonly Change[];
  /** Of each change: its value as it is compared. */
  readonly values: readonly unknown[];
  readonly base64: string;
}

/** Groups of gangs whose Pods come at the same time. */
const MOST = 8;
const known: Encoded[] = [];
let next = 0;

/**
 * A patch as an answer carries it. The Pods of a group come one after the other and mostly get the same patch, and
 * comparing two patches is a tenth of encoding one.
 */
export function encodedPatch(changes: readonly Change[]): string {
  const values = changes.map(({ operation: { value } }) => comparable(value));
  for (const one of known) if (isSame(one, changes, values)) return one.base64;
  const operations = changes.map(({ operation }) => operation);
  const base64 = Buffer.from(JSON.stringify(operations)).toString('base64');
  known[next] = { changes, values, base64 };
  next = (next + 1) % MOST;
  return base64;
}

/** What two values have in common that are the same. What might have changed since is compared by its text. */
function comparable(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return isConstant(value) ? value : JSON.stringify(value);
}

function isSame(one: Encoded, changes: readonly Change[], values: readonly unknown[]): boolean {
  if (one.values.length !== values.length) return false;
  // From the end: patches of two groups differ in what names the group, and that comes last.
  for (let index = values.length - 1; index >= 0; index -= 1) {
    const [a, b] = [one.changes[index]?.operation, changes[index]?.operation];
    if (one.values[index] !== values[index] || a?.path !== b?.path || a?.op !== b?.op) return false;
    // A list is no string, even where its JSON is the same text.
    if (typeof a?.value !== typeof b?.value) return false;
  }
  return true;
}

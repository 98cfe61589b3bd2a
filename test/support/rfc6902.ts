/**
 * A second opinion on patches, written from RFC 6902 and RFC 6901 and independent of both Muster and
 * fast-json-patch. As strict as the API server's library: the parent must exist and be no null, `replace` and
 * `remove` need the member. Works on `document` itself.
 */
import jsonPatch from 'fast-json-patch';
import { json } from './pods.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';

interface AnyOperation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}
type Container = Record<string, unknown> | unknown[];

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;

export function applyStrictly(document: unknown, operations: readonly AnyOperation[]): void {
  for (const { op, path, value } of operations) {
    if (!path.startsWith('/')) throw new Error(`${path}: not the pointer of a member`);
    const keys = path.slice(1).split('/').map(unescape);
    const last = keys.pop() ?? '';
    let parent: unknown = document;
    for (const key of keys) parent = isContainer(parent) ? memberOf(parent, key) : undefined;
    if (!isContainer(parent)) throw new Error(`${path}: the parent is missing`);
    if (op === 'add' && Array.isArray(parent)) parent.splice(indexOf(last, parent.length), 0, value);
    else if (op === 'add' || (op === 'replace' && Object.hasOwn(parent, last))) {
      Object.defineProperty(parent, last, { value, writable: true, enumerable: true, configurable: true });
    } else if (op === 'remove' && !Array.isArray(parent) && Object.hasOwn(parent, last)) {
      Reflect.deleteProperty(parent, last);
    } else throw new Error(`${path}: ${op} of a member that is not there`);
  }
}

function unescape(key: string): string {
  if (/~(?![01])/.test(key)) throw new Error(`${key}: a lone ~`);
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
}

const memberOf = (container: Container, key: string): unknown =>
  Object.hasOwn(container, key) ? (container as Record<string, unknown>)[key] : undefined;

function indexOf(key: string, length: number): number {
  if (key === '-') return length;
  if (!/^(0|[1-9][0-9]*)$/.test(key) || Number(key) > length) throw new Error(`${key}: no index`);
  return Number(key);
}

/** `text` with a patch applied, after both implementations have agreed on the outcome. */
export function applied(text: string, operations: readonly AnyOperation[]): JsonObject {
  const wire = JSON.stringify(operations);
  const one = JSON.parse(text) as JsonObject;
  jsonPatch.applyPatch(one, JSON.parse(wire) as jsonPatch.Operation[], true, true);
  const other = JSON.parse(text) as JsonObject;
  applyStrictly(other, JSON.parse(wire) as AnyOperation[]);
  if (JSON.stringify(one) !== JSON.stringify(other)) throw new Error(`${wire}: two outcomes`);
  return other;
}

/** {@link applied} for an object. */
export const patched = (object: Json, operations: readonly unknown[]): JsonObject =>
  applied(JSON.stringify(json(object)), operations as AnyOperation[]);

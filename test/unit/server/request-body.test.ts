import { describe, expect, test } from '@jest/globals';
import { ENVIRONMENT_AND_VOLUMES, MANAGED_FIELDS } from '../../../src/json/unread-lists.ts';
import { parseJson, parseLarge } from '../../../src/server/request-body.ts';

const UNREAD = [MANAGED_FIELDS, ENVIRONMENT_AND_VOLUMES];
const KIB = 1024;

function inSteps(bytes: Buffer): { value: unknown; steps: number } {
  const parts = parseLarge(bytes, UNREAD);
  for (let steps = 1; ; steps += 1) {
    const { done, value } = parts.next();
    if (done === true) return { value, steps };
  }
}

const list = <T>(length: number, make: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => make(index));
const environment = (length: number) => list(length, (at) => ({ name: `OPTION_${at}`, value: ']"[{' }));

const DOCUMENTS: [string, unknown][] = [
  ['volumes', { spec: { volumes: list(20_000, (at) => ({ name: `volume-${at}`, emptyDir: {} })) } }],
  ['a long environment', { spec: { containers: [{ env: environment(9_000), image: 'a' }] }, after: [1] }],
  [
    'many environments',
    { spec: { containers: list(900, (at) => ({ name: `${at}`, env: environment(9), ports: [{ at }] })) } },
  ],
  [
    'managed fields',
    {
      metadata: { managedFields: list(9_000, (at) => ({ 'f:labels': { at, b: ['some words'] } })) },
      spec: {},
    },
  ],
  [
    'some of each',
    list(300, (at) => ({
      metadata: { managedFields: [{ 'f:a': ['x'] }], name: `ü-${at}` },
      env: environment(3),
      note: 'n'.repeat(300),
    })),
  ],
  ['one long string', { note: 'F[{"name'.repeat(40_000) }],
];

describe('a large body in steps', () => {
  test.each(DOCUMENTS)('%s: the same as at once', (_, document) => {
    const bytes = Buffer.from(JSON.stringify(document));
    expect(bytes.length).toBeGreaterThan(64 * KIB);
    const { value, steps } = inSteps(bytes);
    expect(JSON.stringify(value)).toBe(JSON.stringify(parseJson(bytes, UNREAD)));
    // A step searches 64 KiB for one of the keys, or parses 32.
    expect(steps).toBeGreaterThanOrEqual(Math.floor((bytes.length / KIB / 64) * UNREAD.length));
  });

  const big = `"${'x'.repeat(80 * KIB)}",`;
  test.each([
    ['no JSON', `[${big}"a" "b"]`, 400, /^the body is not JSON: /],
    ['no JSON, of which nothing is quoted', `[${big}secret]`, 400, /^the body is not JSON: [^"]*$/],
    ['no end', `{"a":[${big}`, 400, /^the body is not JSON: /],
    ['a list that is never closed', `{"a":${big}"managedFields":[${big}`, 400, /^the body is not JSON: /],
    [
      'depth',
      `[${big.repeat(4)}${'['.repeat(300)}${']'.repeat(300)}]`,
      413,
      /nested more than 256 levels deep$/,
    ],
    ['brackets', `[${'[{}],'.repeat(20_000)}0]`, 413, /lists, objects and keys in \d+ bytes/],
    ['half a character', Buffer.from(`["${'ü'.repeat(40 * KIB)}`).subarray(0, -1), 400, /not valid UTF-8/],
  ] as [string, string | Buffer, number, RegExp][])('%s is refused', (_, text, code, message) => {
    const parse = (): unknown => inSteps(Buffer.from(text));
    expect(parse).toThrow(message);
    expect(parse).toThrow(expect.objectContaining({ code }));
  });
});

/** What is a difference, of objects in general: what is empty, the order of names, added fields, items by name. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import jsonPatch from 'fast-json-patch';
import type { Json, JsonObject } from '../../../../../src/json/json.ts';
import { withDefaults } from '../../../../../src/cli/doctor/installed/equivalence.ts';
import { differences } from '../../../../../src/cli/doctor/installed/differences.ts';

const how = (strict: boolean) => ({ strict, whole: new Set(['resources']), exact: new Set(['selector']) });
const told = (wanted: JsonObject, found: JsonObject, strict = true): string[] =>
  differences(wanted, found, how(strict)).map(
    ({ field, wanted: a, found: b }) => `${field}: ${JSON.stringify(b)}, not ${JSON.stringify(a)}`,
  );

describe('strictly', () => {
  test.each<[string, JsonObject, JsonObject, string[]]>([
    ['the same', { a: { b: [1] } }, { a: { b: [1] } }, []],
    ['metadata and status', { metadata: { name: 'x' } }, { metadata: { uid: 'y' }, status: {} }, []],
    ['empty or not there', { a: {}, b: [], c: { d: null } }, { c: {} }, []],
    ['the order of strings', { a: ['x', 'y'] }, { a: ['y', 'x'] }, []],
    ['another value', { a: { b: 1 } }, { a: { b: 2 } }, ['a.b: 2, not 1']],
    ['a field more', { a: {} }, { a: { b: 2 } }, ['a.b: 2, not undefined']],
    ['a field less', { a: { b: 1, c: 1 } }, { a: { c: 1 } }, ['a.b: undefined, not 1']],
    [
      'items by name',
      { l: [{ name: 'x', v: 1 }, { name: 'y' }] },
      { l: [{ name: 'y' }, { name: 'z' }, { name: 'x', v: 2 }] },
      ['l[x].v: 2, not 1', 'l[z]: {"name":"z"}, not undefined'],
    ],
    ['items by place', { l: [{ v: 1 }] }, { l: [{ v: 2 }] }, ['l[0].v: 2, not 1']],
    ['fewer items', { l: [{ v: 1 }, { v: 2 }] }, { l: [{ v: 2 }] }, ['l: [{"v":2}], not [{"v":1},{"v":2}]']],
    [
      'a selector as a whole',
      { selector: { a: 'b' } },
      { selector: { a: 'b', c: 'd' } },
      ['selector: {"a":"b","c":"d"}, not {"a":"b"}'],
    ],
  ])('%s', (_what, wanted, found, expected) => {
    expect(told(wanted, found)).toEqual(expected);
  });
});

test('of what runs, more is no difference, but for a selector', () => {
  const wanted = { a: { b: 1 }, l: [{ name: 'x' }], s: ['p'], resources: { limits: { memory: '1' } } };
  const more = {
    ...{ a: { b: 1, c: 2 }, l: [{ name: 'w' }, { name: 'x', v: 1 }], s: ['q', 'p'], z: 1 },
    resources: { limits: { memory: '1', cpu: '2' } },
  };
  expect(told(wanted, more, false)).toEqual([]);
  expect(told({ selector: { a: 'b' } }, { selector: { a: 'b', c: 'd' } }, false)).toHaveLength(1);
  expect(told({ s: ['p', 'q'] }, { s: ['p'] }, false)).toEqual(['s: ["p"], not ["p","q"]']);
});

test('the patches make it as wanted, whatever it is', () => {
  const value = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<Json>('p', 'q', 1, 2, true),
      fc.uniqueArray(fc.constantFrom('p', 'q', 'r')),
      fc.uniqueArray(
        fc.record({ name: fc.constantFrom('x', 'y', 'z'), v: tie('value') }, { requiredKeys: ['name'] }),
        { selector: ({ name }) => name },
      ),
      fc.dictionary(fc.constantFrom('a', 'b/c', 'd~e', 'selector', 'rules'), tie('value')),
    ),
  })).value;
  const object = fc.dictionary(fc.constantFrom('spec', 'webhooks', 'l'), value);
  fc.assert(
    fc.property(object, object, (wanted, found) => {
      const operations = differences(wanted, found, how(true)).flatMap(({ patch }) => patch);
      const patched = jsonPatch.applyPatch(structuredClone(found), operations, true).newDocument;
      expect(told(wanted, patched)).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test('what the API server fills in is filled in where its parent is, and stays where it is said', () => {
  const webhook = (more: object) => ({
    ...{
      kind: 'ValidatingWebhookConfiguration',
      webhooks: [{ name: 'a', rules: [{}, { scope: 'Cluster' }], ...more }],
    },
  });
  expect(withDefaults(webhook({ timeoutSeconds: 3, clientConfig: { url: 'x' } }))).toEqual(
    webhook({
      ...{ failurePolicy: 'Fail', matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} },
      ...{ timeoutSeconds: 3, clientConfig: { url: 'x' }, rules: [{ scope: '*' }, { scope: 'Cluster' }] },
    }),
  );
  expect(withDefaults({ kind: 'Secret', data: {} })).toEqual({ kind: 'Secret', data: {} });
});

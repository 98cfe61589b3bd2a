import { describe, expect, test } from '@jest/globals';
import { inLength } from '../../support/length.ts';
import fc from 'fast-check';
import { ENVIRONMENT_AND_VOLUMES, MANAGED_FIELDS, withoutLists } from '../../../src/json/unread-lists.ts';

const cut = (text: string): string =>
  withoutLists(Buffer.from(text), [MANAGED_FIELDS, ENVIRONMENT_AND_VOLUMES]);

/** Such a list is told by the first key of its first item. */
const isNamed = (key: string, [first]: readonly unknown[]): boolean =>
  ['env', 'volumes', 'volumeMounts'].includes(key) &&
  typeof first === 'object' &&
  first !== null &&
  (Object.keys(first)[0]?.startsWith('name') ?? false);

/** What the cut must amount to: the document with every list under one of the keys emptied. */
function emptied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(emptied);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [
    key,
    Array.isArray(item) && (key === 'managedFields' || isNamed(key, item)) ? [] : emptied(item),
  ]);
  return Object.fromEntries(entries);
}

const hostile = fc.constantFrom(
  '"managedFields":[',
  ',"managedFields":[1,2],',
  '{"managedFields":["x',
  'managedFields',
  '"env":[{"name',
  ',"volumeMounts":[{"name":"x"}],"',
  ',"env":[{"name":"x"}],"',
  '[{"name',
  ']},{"name":',
  '\\',
  '"',
  ']',
  '[',
  ']},"spec":{',
  'ü😀',
);
const text = fc.oneof(
  hostile,
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.tuple(hostile, hostile).map(([a, b]) => a + b),
);
const { document } = fc.letrec<{ document: unknown }>((tie) => ({
  document: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, 0, -1.5e10),
    text,
    fc.array(tie('document'), { maxLength: 4 }),
    fc
      .array(
        fc.tuple(
          fc.oneof(
            fc.constantFrom('managedFields', 'metadata', 'spec', 'env', 'volumes', 'volumeMounts', 'name'),
            text,
          ),
          tie('document'),
        ),
        { maxLength: 4 },
      )
      .map((entries) => Object.fromEntries(entries.filter(([key]) => key !== '__proto__'))),
  ),
}));

describe('lists that nobody reads are left out before parsing', () => {
  test.each([
    ['{"a":1}', '{"a":1}'],
    [
      '{"metadata":{"managedFields":[{"a":[1,"]"]}],"name":"x"}}',
      '{"metadata":{"managedFields":[],"name":"x"}}',
    ],
    [
      '{"a":1,"managedFields":[1],"b":{"managedFields":[2]}}',
      '{"a":1,"managedFields":[],"b":{"managedFields":[]}}',
    ],
    // As in a Pod: the list is the last of its metadata, and the spec comes next.
    [
      '{"metadata":{"managedFields":[{"a":{}}]},"spec":{"b":1}}',
      '{"metadata":{"managedFields":[]},"spec":{"b":1}}',
    ],
    [
      '{"metadata":{"managedFields":[{"metadata":{"a":[1]},"spec":{"a":[2]}}]},"spec":{"b":1}}',
      '{"metadata":{"managedFields":[]},"spec":{"b":1}}',
    ],
    [
      '{"metadata":{"managedFields":[{"a":"]},"},{"b":"[]},"}]},"spec":{}}',
      '{"metadata":{"managedFields":[]},"spec":{}}',
    ],
    [
      String.raw`{"metadata":{"managedFields":["]},\"spec\":{",{}]},"spec":{}}`,
      '{"metadata":{"managedFields":[]},"spec":{}}',
    ],
    ['{"metadata":{"managedFields":[1]},"spec":', '{"metadata":{"managedFields":[]},"spec":'],
    // Of a container: what follows is its next field, the next container, a field of the Pod, or the end.
    [
      '{"spec":{"containers":[{"env":[{"name":"A","value":"1"}],"resources":{}}]}}',
      '{"spec":{"containers":[{"env":[],"resources":{}}]}}',
    ],
    [
      '{"containers":[{"env":[{"name":"A"}]},{"env":[{"name":"B"},{"name":"C"}]}],"a":1}',
      '{"containers":[{"env":[]},{"env":[]}],"a":1}',
    ],
    // Of a template in a list: lists and objects end behind it.
    ['{"tasks":[{"env":[{"name":"A"}]}],"a":1}', '{"tasks":[{"env":[]}],"a":1}'],
    ['{"tasks":[{"env":[{"name":"A]}]"}]}],"a":1}', '{"tasks":[{"env":[]}],"a":1}'],
    ['{"env":[{"name":"A","value":"[1]"}],"a":["b"]}', '{"env":[],"a":["b"]}'],
    ['{"env":[{"name":"],\\"a"},{"name":"]"}],"a":1}', '{"env":[],"a":1}'],
    ['{"env":[{"name":"],"},{"b":"]}"}],"a":1}', '{"env":[],"a":1}'],
    ['{"env":[{"name":"A","of":["B"]}],"a":1}', '{"env":[],"a":1}'],
    [
      '{"volumes":[{"name":"A","emptyDir":{}}],"containers":[{"volumeMounts":[{"name":"A"}],"env":[{"name":"B"}]}]}',
      '{"volumes":[],"containers":[{"volumeMounts":[],"env":[]}]}',
    ],
    [
      '{"volumes":[{"emptyDir":{}}],"mounts":[{"name":1}]}',
      '{"volumes":[{"emptyDir":{}}],"mounts":[{"name":1}]}',
    ],
    // Within another that is left out, and one that holds another.
    ['{"managedFields":[{"env":[{"name":"A"}]}],"a":1}', '{"managedFields":[],"a":1}'],
    ['{"env":[{"name":{"managedFields":[1]}}],"a":1}', '{"env":[],"a":1}'],
    ['{"ü":"ü","env":[{"name":"ü"}],"ä":"ä"}', '{"ü":"ü","env":[],"ä":"ä"}'],
    // None, or not as the API server writes it.
    ['{"env":[],"a":1}', '{"env":[],"a":1}'],
    ['{"env":[{"value":"1","name":"A"}]}', '{"env":[{"value":"1","name":"A"}]}'],
    ['{"myenv":[{"name":"A"}],"ports":[{"name":"B"}]}', '{"myenv":[{"name":"A"}],"ports":[{"name":"B"}]}'],
    [String.raw`{"a":",\"env\":[{\"name\":1}]"}`, String.raw`{"a":",\"env\":[{\"name\":1}]"}`],
    // Inside a string: as text, with its quotes escaped.
    [String.raw`{"a":",\"managedFields\":[1]"}`, String.raw`{"a":",\"managedFields\":[1]"}`],
    // Not as the API server writes it: parsed like everything else.
    ['{"managedFields": [1]}', '{"managedFields": [1]}'],
    ['{"managedFields":{"a":[1]}}', '{"managedFields":{"a":[1]}}'],
    // Broken: stays broken.
    ['{"managedFields":[1', '{"managedFields":[1'],
    ['{"managedFields":["', '{"managedFields":["'],
    ['{"a":"x,"managedFields":[1]}', '{"a":"x,"managedFields":[]}'],
  ])('%s', (before, after) => {
    expect(cut(before)).toBe(after);
  });

  test('of any document: the same document with those lists empty, and nothing else', () => {
    fc.assert(
      fc.property(document, (value) => {
        const wire = JSON.stringify(value);
        expect(JSON.parse(cut(wire))).toEqual(emptied(JSON.parse(wire)));
      }),
      { numRuns: inLength({ short: 1_000, long: 5_000 }) },
    );
  });

  test('a megabyte of lists that are never closed is looked at once, not once for each of them', () => {
    const open = `,"env":[{"name${'x'.repeat(16)}`;
    const text = `{"a":1${open.repeat(36_000)}`;
    const start = process.cpuUsage();
    expect(cut(text)).toBe(text);
    // It would be a minute.
    expect(process.cpuUsage(start).user / 1000).toBeLessThan(5_000);
  });

  test('a document broken outside of those lists stays broken', () => {
    fc.assert(
      fc.property(document, fc.nat(), fc.constantFrom('"', '{', ']', ',', ':', 'x'), (value, where, what) => {
        const wire = JSON.stringify(value);
        const at = where % (wire.length + 1);
        // By way of UTF-8, since a pair of surrogates may have been parted.
        const broken = Buffer.from(wire.slice(0, at) + what + wire.slice(at)).toString();
        const valid = isJson(broken);
        // Valid stays valid; invalid may only become valid where the fault was inside of a list that is cut.
        if (valid) expect(isJson(cut(broken))).toBe(true);
        else if (!/"(managedFields|env|volumes|volumeMounts)":\[/.test(broken))
          expect(cut(broken)).toBe(broken);
      }),
      { numRuns: inLength({ short: 1_000, long: 5_000 }) },
    );
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

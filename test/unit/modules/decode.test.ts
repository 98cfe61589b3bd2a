import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Json } from '../../../src/json/json.ts';
import { JsonPodPatch } from '../../../src/admission/pod-patch.ts';
import {
  decodeBackendFacts,
  decodeOwnedObject,
  decodePath,
  decodeMessage,
  decodeResource,
  decodeVerdict,
} from '../../../src/modules/decode.ts';
import { Lines } from '../../../src/modules/wire.ts';
import { replay } from '../../../src/modules/pod-edits.ts';
import { guardedPatch } from '../../../src/preparers/prepare.ts';

const anything = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;

/** Anything under keys that are looked for, so that more than the first is come to. */
const nearly = (...keys: string[]): fc.Arbitrary<Json> =>
  fc.oneof(
    anything,
    fc.record(Object.fromEntries(keys.map((key) => [key, anything])), { requiredKeys: [] }),
  ) as fc.Arbitrary<Json>;

test.each<[string, (value: Json) => unknown, fc.Arbitrary<Json>]>([
  ['facts', decodeBackendFacts, nearly('name', 'contractVersion', 'schedulerName', 'patchSurface', 'has')],
  ['a verdict', decodeVerdict, nearly('faults', 'warnings')],
  ['a kind', decodeResource, nearly('group', 'version', 'plural', 'kind')],
  ['an object', decodeOwnedObject, nearly('resource', 'name', 'spec', 'labels', 'writtenOnce', 'despite')],
  ['a path', decodePath, anything],
])('%s: whatever is said is taken or refused in words', (_what, read, said) => {
  fc.assert(
    fc.property(said, (value) => {
      try {
        read(value);
      } catch (thrown) {
        expect(String(thrown)).toMatch(/^Error: the module gave /);
      }
    }),
  );
});

test('a line is a message or none, whatever is in it', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        nearly('what', 'id', 'value').map((one) => JSON.stringify(one)),
      ),
      (line) => void decodeMessage(line),
    ),
  );
  expect(decodeMessage('{"what":"ask","id":1,"number":2,"method":"read","given":["/api"]}')).toEqual({
    what: 'ask',
    id: 1,
    number: 2,
    method: 'read',
    given: ['/api'],
  });
  expect(decodeMessage('{"what":"last","reason":"\\u001b[31mred"}')).toEqual({
    what: 'last',
    reason: expect.not.stringContaining('\u001b'),
  });
});

test('edits of a Pod, whatever they are, do nothing beyond the surface', () => {
  const word = fc.constantFrom(
    'setSchedulerName',
    'annotate',
    'label',
    'addGate',
    'setWorkloadRef',
    'add',
    'set',
    'changes',
    'constructor',
    '__proto__',
  );
  const edit = fc.tuple(word, anything, anything, anything).map((parts) => parts as Json);
  const surface = { name: 'mine', schedulerName: 'mine', patchSurface: { schedulerName: true } };
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 5 }), (edits) => {
      const patch = new JsonPodPatch({ metadata: {}, spec: {} });
      try {
        replay(
          { who: 'backend mine', method: 'preparePod' },
          { edits },
          guardedPatch(patch, surface, 'backend'),
        );
      } catch (thrown) {
        expect(thrown).toMatchObject({ code: 'BACKEND_CONTRACT' });
      }
      expect(patch.changes()).toEqual([]);
    }),
  );
});

test('a key that is no text, and cannot become one, is outside of the surface as any other', () => {
  const surface = { name: 'mine', schedulerName: 'mine', patchSurface: {} };
  const patch = guardedPatch(new JsonPodPatch({ metadata: {}, spec: {} }), surface, 'backend');
  const edits: Json = [['annotate', { toString: {} }, false, null]];
  expect(() => replay({ who: 'backend mine', method: 'preparePod' }, { edits }, patch)).toThrow(
    'backend mine called annotate, which is outside its patchSurface',
  );
});

test('lines are cut wherever their parts end, and one that is too long is told once and passed over', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 12 }).map((text) => text.replaceAll('\n', '.'))),
      fc.array(fc.nat(20)),
      (texts, cuts) => {
        const [heard, long]: [string[], string[]] = [[], []];
        const lines = new Lines(
          8,
          (line) => heard.push(line),
          () => long.push('long'),
        );
        let rest = texts.map((text) => `${text}\n`).join('');
        for (const cut of cuts) {
          lines.push(rest.slice(0, cut));
          rest = rest.slice(cut);
        }
        lines.push(rest);
        expect(heard).toEqual(texts.filter(({ length }) => length <= 8));
        expect(long).toHaveLength(texts.filter(({ length }) => length > 8).length);
      },
    ),
  );
});

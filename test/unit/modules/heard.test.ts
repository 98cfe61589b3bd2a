import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Json } from '../../../src/json/json.ts';
import { JsonPodPatch } from '../../../src/admission/pod-patch.ts';
import { BackOff } from '../../../src/modules/back-off.ts';
import {
  factsOf,
  ownedObjectOf,
  pathOf,
  readMessage,
  resourceOf,
  verdictOf,
} from '../../../src/modules/heard.ts';
import { Lines } from '../../../src/modules/lines.ts';
import { Recent } from '../../../src/modules/recent.ts';
import { replay } from '../../../src/modules/replay.ts';
import { guardedPatch } from '../../../src/preparers/guarded-patch.ts';

const anything = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;

/** Anything under keys that are looked for, so that more than the first is come to. */
const nearly = (...keys: string[]): fc.Arbitrary<Json> =>
  fc.oneof(
    anything,
    fc.record(Object.fromEntries(keys.map((key) => [key, anything])), { requiredKeys: [] }),
  ) as fc.Arbitrary<Json>;

test.each<[string, (value: Json) => unknown, fc.Arbitrary<Json>]>([
  ['facts', factsOf, nearly('name', 'contractVersion', 'schedulerName', 'patchSurface', 'has')],
  ['a verdict', verdictOf, nearly('faults', 'warnings')],
  ['a kind', resourceOf, nearly('group', 'version', 'plural', 'kind')],
  ['an object', ownedObjectOf, nearly('resource', 'name', 'spec', 'labels', 'writtenOnce', 'despite')],
  ['a path', pathOf, anything],
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
      (line) => void readMessage(line),
    ),
  );
  expect(readMessage('{"what":"ask","id":1,"number":2,"method":"read","given":["/api"]}')).toEqual({
    what: 'ask',
    id: 1,
    number: 2,
    method: 'read',
    given: ['/api'],
  });
  expect(readMessage('{"what":"last","reason":"\\u001b[31mred"}')).toEqual({
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

test('what ended rests twice as long each time, up to a minute, unless it ran for a while', () => {
  let now = 0;
  const backOff = new BackOff(() => now);
  const rests = Array.from({ length: 8 }, () => {
    backOff.began();
    return backOff.ended();
  });
  expect(rests).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  expect(backOff.leftMs).toBe(60_000);
  now += 60_000;
  expect(backOff.leftMs).toBe(0);
  backOff.began();
  now += 60_000;
  expect(backOff.ended()).toBe(1_000);
});

test('what was set longest ago is forgotten first', () => {
  const recent = new Recent<number>(2);
  for (const [key, value] of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
    ['c', 4],
  ] as const)
    recent.set(key, value);
  expect(['a', 'b', 'c'].map((key) => recent.get(key))).toEqual([3, undefined, 4]);
  recent.delete('a');
  expect(recent.get('a')).toBeUndefined();
});

import { describe, expect, test } from '@jest/globals';
import type { Json } from '../../../src/json/json.ts';
import { ObjectEdit } from '../../../src/admission/pod-patch.ts';
import { pointer } from '../../../src/json/patch.ts';
import { applyStrictly, patched } from '../../support/rfc6902.ts';

const edit = (object: Json | undefined, ...sets: [string, string][]) => {
  const changed = new ObjectEdit('/map', object);
  for (const [key, value] of sets) changed.set(key, value, `${key} is wanted`);
  return changed.changes().map(({ operation }) => operation);
};

describe('a key in a JSON pointer', () => {
  test.each([
    ['plain', 'plain'],
    ['kai.scheduler/podgang', 'kai.scheduler~1podgang'],
    ['a~b', 'a~0b'],
    ['~1', '~01'],
    ['/~/', '~1~0~1'],
    ['', ''],
    ['ключ ü', 'ключ ü'],
  ])('%p is written %p, and read back', (key, written) => {
    expect(pointer(key)).toBe(written);
    const document = { map: { other: 'x' } };
    expect(patched(document, edit(document.map, [key, 'v']))).toEqual({ map: { other: 'x', [key]: 'v' } });
  });
});

describe('a key that is taken away', () => {
  const without = (object: Json | undefined, ...keys: string[]) => {
    const changed = new ObjectEdit('/map', object);
    for (const key of keys) changed.remove(key, 'it is in the way');
    changed.set('b', '2', 'b is wanted');
    return changed.changes().map(({ operation }) => operation);
  };

  test('is one operation where it is there, and none where it is not', () => {
    const document = { map: { a: 1, b: '1' } };
    const operations = without(document.map, 'a', 'c');
    expect(operations).toEqual([
      { op: 'remove', path: '/map/a' },
      { op: 'replace', path: '/map/b', value: '2' },
    ]);
    expect(patched(document, operations)).toEqual({ map: { b: '2' } });
    expect(without(undefined, 'a')).toEqual([{ op: 'add', path: '/map', value: { b: '2' } }]);
  });
});

describe('values set in an object', () => {
  test('are one operation each where it exists, add or replace', () => {
    expect(edit({ a: '1', b: null }, ['a', '2'], ['b', '3'], ['c', '4'])).toEqual([
      { op: 'replace', path: '/map/a', value: '2' },
      { op: 'replace', path: '/map/b', value: '3' },
      { op: 'add', path: '/map/c', value: '4' },
    ]);
  });

  test.each([
    ['is absent', undefined],
    ['is null', null],
    ['is something else', 'text'],
  ])('are one operation in all where it %s', (_what, object) => {
    const operations = edit(object, ['a/b', '1'], ['c', '2']);
    expect(operations).toEqual([{ op: 'add', path: '/map', value: { 'a/b': '1', c: '2' } }]);
    expect(patched(object === undefined ? {} : { map: object }, operations)).toEqual({
      map: { 'a/b': '1', c: '2' },
    });
  });

  test('are none where they are there already, or nothing is set', () => {
    expect(edit({ a: '1' }, ['a', '1'])).toEqual([]);
    expect(edit(undefined)).toEqual([]);
  });

  test('are the last ones that were asked for', () => {
    expect(edit({ a: '1' }, ['a', '2'], ['a', '3'])).toEqual([{ op: 'replace', path: '/map/a', value: '3' }]);
    expect(edit({ a: '1' }, ['a', '2'], ['a', '1'])).toEqual([]);
  });

  test.each(['constructor', 'toString', 'hasOwnProperty'])('named %s are values like any other', (key) => {
    expect(edit({}, [key, 'v'])).toEqual([{ op: 'add', path: `/map/${key}`, value: 'v' }]);
  });

  test('named __proto__ change nothing but the document', () => {
    const operations = edit(undefined, ['__proto__', 'v']);
    expect(JSON.stringify(operations)).toBe('[{"op":"add","path":"/map","value":{"__proto__":"v"}}]');
    expect(({} as Record<string, unknown>)['v']).toBeUndefined();
  });

  test('come with their reasons, each once', () => {
    const changed = new ObjectEdit('/map', undefined);
    changed.set('a', '1', 'it is so');
    changed.set('b', '2', 'it is so');
    changed.set('c', '3', 'and so');
    expect(changed.changes().map(({ why }) => why)).toEqual(['it is so; and so']);
  });
});

describe('the second opinion itself', () => {
  test.each([
    ['a missing parent', {}, { op: 'add', path: '/a/b', value: 1 }, 'the parent is missing'],
    ['a parent that is null', { a: null }, { op: 'add', path: '/a/b', value: 1 }, 'the parent is missing'],
    ['a parent that is text', { a: 'b' }, { op: 'add', path: '/a/b', value: 1 }, 'the parent is missing'],
    ['replace of nothing', { a: {} }, { op: 'replace', path: '/a/b', value: 1 }, 'not there'],
    ['an inherited member', {}, { op: 'replace', path: '/constructor', value: 1 }, 'not there'],
    ['an index past the end', { a: [] }, { op: 'add', path: '/a/1', value: 1 }, 'no index'],
    ['a lone ~', { a: {} }, { op: 'add', path: '/a/~', value: 1 }, 'a lone ~'],
  ])('refuses %s', (_what, document, operation, why) => {
    expect(() => {
      applyStrictly(document, [operation]);
    }).toThrow(why);
  });

  test('appends to lists', () => {
    const document = { a: [1] };
    applyStrictly(document, [{ op: 'add', path: '/a/-', value: 2 }]);
    expect(document).toEqual({ a: [1, 2] });
  });
});

import { describe, expect, test } from '@jest/globals';
import { own, ownList, ownObject, ownString } from '../../../src/json/json.ts';

describe('reading JSON that somebody else wrote', () => {
  test.each(['toString', 'constructor', '__proto__', 'hasOwnProperty'])(
    '%s is there only where it was written',
    (key) => {
      expect(own({}, key)).toBeUndefined();
      expect(own(JSON.parse(`{"${key}":"x"}`), key)).toBe('x');
    },
  );

  test('nothing is read from a prototype, not even a polluted one', () => {
    const heir: unknown = Object.create({ labels: 'inherited' });
    expect(own(heir, 'labels')).toBeUndefined();
    expect(ownString(heir, 'labels')).toBeUndefined();
  });

  test.each([undefined, null, 'text', 7, true, ['list']])('%p has no members', (value) => {
    expect(own(value, 'length')).toBeUndefined();
    expect(own(value, '0')).toBeUndefined();
  });

  test('a member of another type counts as absent', () => {
    const object = { text: 'a', list: [1], object: { b: 1 }, nothing: null };
    expect(
      ['text', 'list', 'object', 'nothing'].map((key) => [
        ownString(object, key),
        ownList(object, key),
        ownObject(object, key),
      ]),
    ).toEqual([
      ['a', undefined, undefined],
      [undefined, [1], undefined],
      [undefined, undefined, { b: 1 }],
      [undefined, undefined, undefined],
    ]);
  });
});

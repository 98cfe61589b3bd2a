import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Cache, type ObjectChange, type Identified } from '../../../../src/kube/loop/cache.ts';
import { Listing } from '../../../../src/kube/loop/listing.ts';

interface Thing extends Identified {
  readonly gang?: string | readonly string[];
}

const thing = (name: string, resourceVersion: string | number, more: Partial<Thing> = {}): Thing => ({
  namespace: 'crew',
  name,
  uid: `uid-${name}`,
  resourceVersion: String(resourceVersion),
  ...more,
});
const told = (changes: Iterable<ObjectChange<Thing>>): string[] =>
  Array.from(changes, ({ type, old, new: now }) =>
    [type, old && `${old.uid}@${old.resourceVersion}`, now && `${now.uid}@${now.resourceVersion}`]
      .filter(Boolean)
      .join(' '),
  );
/** By a whole list, as a reflector receives it. */
function replaced(cache: Cache<Thing>, objects: readonly Thing[]): Iterable<ObjectChange<Thing>> {
  const listing = new Listing(cache, {
    trim: ({ metadata: { name } }) => objects.find((object) => object.name === name),
    admit: (object) => object,
    begun: () => undefined,
  });
  listing.begin();
  for (const { name } of objects) listing.take({ metadata: { name } });
  return listing.changes();
}

describe('a cache', () => {
  test('tells what changed, with both states', () => {
    const cache = new Cache<Thing>();
    expect(told(cache.put(thing('a', 1)))).toEqual(['added uid-a@1']);
    expect(told(cache.put(thing('a', 2)))).toEqual(['updated uid-a@1 uid-a@2']);
    expect(told(cache.remove(thing('a', 3)))).toEqual(['deleted uid-a@2']);
    expect(cache.size).toBe(0);
  });

  test('ignores what it knows, what is older, and what it never had', () => {
    const cache = new Cache<Thing>();
    cache.put(thing('a', 9));
    cache.put(thing('a', 10));
    expect(told(cache.put(thing('a', 10)))).toEqual([]);
    expect(told(cache.put(thing('a', 9)))).toEqual([]);
    expect(told(cache.remove(thing('a', 9, { uid: 'predecessor' })))).toEqual([]);
    expect(told(cache.remove(thing('b', 99)))).toEqual([]);
    expect(cache.get('crew', 'a')?.resourceVersion).toBe('10');
  });

  test('takes versions that are no numbers as they come', () => {
    const cache = new Cache<Thing>();
    cache.put(thing('a', 'z'));
    expect(told(cache.put(thing('a', 'b')))).toEqual(['updated uid-a@z uid-a@b']);
    expect(told(cache.put(thing('a', 'b')))).toEqual([]);
    expect(told(cache.remove(thing('a', 'c')))).toEqual(['deleted uid-a@b']);
  });

  test('takes another uid under the same name for another object', () => {
    const cache = new Cache<Thing>();
    cache.put(thing('a', 1));
    expect(told(cache.put(thing('a', 5, { uid: 'second' })))).toEqual(['deleted uid-a@1', 'added second@5']);
  });

  test('takes a list for the truth, also an older one', () => {
    const cache = new Cache<Thing>();
    for (const name of ['a', 'b', 'c', 'd']) cache.put(thing(name, 50));
    const list = [thing('a', 50), thing('b', 60), thing('c', 7), thing('e', 61)];
    expect(told(replaced(cache, list))).toEqual([
      'updated uid-b@50 uid-b@60',
      'updated uid-c@50 uid-c@7',
      'added uid-e@61',
      'deleted uid-d@50',
    ]);
  });

  test('finds by index, and forgets values that nobody has', () => {
    const cache = new Cache<Thing>({ gang: ({ gang }) => gang });
    cache.put(thing('a', 1, { gang: 'g' }));
    cache.put(thing('b', 2, { gang: ['g', 'h'] }));
    cache.put(thing('c', 3));
    const names = (gang: string): string[] => cache.byIndex('gang', gang).map(({ name }) => name);
    expect([names('g'), names('h'), names('i')]).toEqual([['a', 'b'], ['b'], []]);
    cache.put(thing('b', 4, { gang: 'i' }));
    expect([names('g'), names('h'), names('i')]).toEqual([['a'], [], ['b']]);
    cache.remove(thing('a', 5));
    expect([...cache.indexValues('gang')]).toEqual(['i']);
    expect(() => cache.byIndex('planet', 'x')).toThrow('no index "planet"');
  });

  test('keeps index and content together through any history', () => {
    const object = fc.record({
      name: fc.constantFrom('a', 'b', 'c'),
      uid: fc.constantFrom('1', '2'),
      resourceVersion: fc.nat(20).map((version) => String(version + 1)),
      gang: fc.constantFrom('g', 'h'),
    });
    const step = fc.oneof(
      fc.record({ do: fc.constantFrom('put', 'remove'), object }),
      fc.record({
        do: fc.constant('replace'),
        list: fc.uniqueArray(object, { selector: ({ name }) => name }),
      }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (history) => {
        const cache = new Cache<Thing>({ gang: ({ gang }) => gang });
        const replayed = new Map<string, Thing>();
        for (const one of history) {
          const changes =
            'list' in one
              ? replaced(
                  cache,
                  one.list.map((given) => ({ namespace: 'crew', ...given })),
                )
              : cache[one.do === 'put' ? 'put' : 'remove']({ namespace: 'crew', ...one.object });
          for (const { old, new: now } of changes) {
            // Whoever follows the changes alone has the same picture, never two additions nor two deletions.
            expect(replayed.get((old ?? now)?.name ?? '')).toBe(old);
            if (now === undefined) replayed.delete(old?.name ?? '');
            else replayed.set(now.name, now);
          }
        }
        expect(new Set(replayed.values())).toEqual(new Set(cache.values()));
        for (const gang of ['g', 'h']) {
          const expected = [...replayed.values()].filter((one) => one.gang === gang);
          expect(new Set(cache.byIndex('gang', gang))).toEqual(new Set(expected));
          expect(cache.hasAny('gang', gang)).toBe(expected.length > 0);
        }
      }),
      { numRuns: 300 },
    );
  });
});

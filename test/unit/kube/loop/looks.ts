import { jest } from '@jest/globals';
import { Cache } from '../../../../src/kube/loop/cache.ts';

/** How often something is looked up in caches from now on, and how many objects that gives; `end` tells it. */
export function countLooks(): { end: () => { lookUps: number; objects: number } } {
  let [lookUps, objects] = [0, 0];
  const spies = [
    jest.spyOn(Cache.prototype, 'get'),
    jest.spyOn(Cache.prototype, 'hasAny'),
    jest.spyOn(Cache.prototype, 'byIndex'),
    jest.spyOn(Cache.prototype, 'values'),
    jest.spyOn(Cache.prototype, 'indexValues'),
  ] as const;
  const [get, , byIndex, values, indexValues] = spies;
  return {
    end: () => {
      lookUps = spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
      objects = get.mock.calls.length;
      for (const { value } of byIndex.mock.results) objects += (value as unknown[]).length;
      // Whoever begins with all of them may look at all.
      const all = [...values.mock.contexts, ...indexValues.mock.contexts] as Cache<never>[];
      for (const { size } of all) objects += size;
      for (const spy of spies) spy.mockRestore();
      return { lookUps, objects };
    },
  };
}

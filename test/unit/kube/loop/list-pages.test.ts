/** Lists of objects that may be large: never more in memory than a page may have. */
import { expect, test } from '@jest/globals';
import type { KubeClient, ListOptions } from '../../../../src/kube/client/client.ts';
import { ApiError } from '../../../../src/kube/client/errors.ts';
import { AnswerTooLarge } from '../../../../src/kube/client/pending-call.ts';
import { PODS, type KubeObject, type Resource } from '../../../../src/kube/client/resources.ts';
import { listAll, listPages } from '../../../../src/kube/loop/list-pages.ts';

const MIB = 2 ** 20;

/** Objects of so many MiB each, a page at a time; `refuse` throws instead of the answer to a request. */
async function listed(
  sizes: readonly number[],
  refuse: (options: ListOptions) => void = () => undefined,
): Promise<{ names: string[]; limits: (number | undefined)[] }> {
  const limits: (number | undefined)[] = [];
  const client = {
    list: (_: Resource, options: ListOptions) => {
      const { limit, maxBytes = Infinity } = options;
      limits.push(limit);
      refuse(options);
      const from = Number(options.continue ?? 0);
      const to = Math.min(sizes.length, from + (limit ?? Infinity));
      const bytes = sizes.slice(from, to).reduce((sum, size) => sum + size * MIB, 0);
      if (bytes > maxBytes) return Promise.reject(new AnswerTooLarge(maxBytes));
      const items = sizes.slice(from, to).map((_size, index) => ({ metadata: { name: `o${from + index}` } }));
      return Promise.resolve({
        items,
        resourceVersion: '9',
        continue: to < sizes.length ? String(to) : undefined,
      });
    },
  } as unknown as KubeClient;
  const found: KubeObject[] = [];
  const { signal } = new AbortController();
  const version = await listPages({ client, resource: PODS }, 100, signal, (page, first) => {
    if (first) found.length = 0;
    found.push(...page);
  });
  expect(version).toBe('9');
  return { names: found.map(({ metadata }) => metadata.name), limits };
}
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `o${index}`);

test('small objects come a hundred at a time', async () => {
  expect(await listed(Array.from({ length: 250 }, () => 0.01))).toEqual({
    names: names(250),
    limits: [100, 100, 100],
  });
});

test('where a page would be too large it goes on from there with fewer', async () => {
  const sizes = [...Array.from({ length: 100 }, () => 0.01), ...Array.from({ length: 12 }, () => 1.5)];
  expect(await listed(sizes)).toEqual({
    names: names(112),
    limits: [100, 100, 25, 6, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
  });
  expect(await listed([9, 9, 9])).toEqual({ names: names(3), limits: [100, 25, 6, 1, 1, 1] });
});

test('pages that expire begin again without any, and with smaller ones where that is too much', async () => {
  let expired = false;
  const once = ({ continue: token }: ListOptions): void => {
    if (token === undefined || expired) return;
    expired = true;
    throw new ApiError('list', { status: 410, message: 'expired' });
  };
  expect(
    await listed(
      Array.from({ length: 120 }, () => 0.15),
      once,
    ),
  ).toMatchObject({
    names: names(120),
    limits: [100, 25, 25, undefined, 25, ...Array.from({ length: 4 }, () => 25)],
  });
});

test('one object that is too large by itself is an error', async () => {
  await expect(listed([20])).rejects.toThrow('the answer has more than 16 MiB');
});

test('a list into one array has each object once where it begins again, with its apiVersion and kind', async () => {
  const items = (...of: readonly string[]) => of.map((name) => ({ metadata: { name } }));
  const again = [{ items: items('old'), continue: '1' }, 'expired', { items: items('a', 'b') }];
  const client = {
    list: () => {
      const answer = again.shift();
      return typeof answer === 'object'
        ? Promise.resolve(answer)
        : Promise.reject(new ApiError('list', { status: 410, message: answer ?? '' }));
    },
  } as unknown as KubeClient;
  const found = await listAll({ client, resource: PODS }, (object) => object);
  expect(found).toEqual(['a', 'b'].map((name) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name } })));
});

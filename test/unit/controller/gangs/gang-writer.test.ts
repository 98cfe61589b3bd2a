/** What a leader asks for before it takes names out of references: enough to be sure, and never one request a name. */
import { beforeEach, expect, test } from '@jest/globals';
import { gangWriter } from '../../../../src/controller/gangs/actions.ts';
import type { JsonObject } from '../../../../src/json/json.ts';
import type { KubeClient, ListOptions } from '../../../../src/kube/client/client.ts';
import { ApiError } from '../../../../src/kube/client/errors.ts';
import type { Resource } from '../../../../src/kube/client/resources.ts';

const GANG = { namespace: 'ml', name: 'train' };
const pod = (name: string): JsonObject => ({
  metadata: { name, namespace: 'ml', uid: `uid-${name}`, labels: { 'grove.io/podgang': 'train' } },
});
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `pod-${index}`);

let there: JsonObject[];
let asked: { resource: string; options: ListOptions }[];
const client = {
  list: (resource: Resource, options: ListOptions) => {
    asked.push({ resource: resource.plural, options });
    const { fieldSelector, limit = Infinity } = options;
    if (fieldSelector === 'metadata.name=no name') {
      return Promise.reject(new ApiError('list pods', { status: 400, message: 'invalid' }));
    }
    const matching = there.filter((one) => {
      const { name } = one['metadata'] as { name: string };
      return fieldSelector === undefined || fieldSelector === `metadata.name=${name}`;
    });
    const from = Number(options.continue ?? 0);
    const next = from + limit < matching.length ? String(from + limit) : undefined;
    return Promise.resolve({
      items: matching.slice(from, from + limit),
      resourceVersion: '9',
      continue: next,
    });
  },
} as unknown as KubeClient;
const freshPods = async (of: readonly string[]): Promise<string[]> => {
  const pods = await gangWriter(client, new AbortController().signal).freshPods(GANG, of);
  return pods.map(({ name }) => name).sort();
};

beforeEach(() => {
  [there, asked] = [[], []];
});

test('a few names are read one by one; a name that no Pod can have is nobody', async () => {
  there = [pod('pod-0'), pod('pod-2'), pod('other')];
  expect(await freshPods([...names(3), 'no name'])).toEqual(['pod-0', 'pod-2']);
  expect(asked).toHaveLength(4);
});

test('ten thousand names cost one list of the Pods that claim the gang, page by page', async () => {
  there = [pod('pod-7'), pod('pod-9999'), pod('other')];
  expect(await freshPods(names(10_000))).toEqual(['pod-7', 'pod-9999']);
  expect(asked).toMatchObject([
    { resource: 'pods', options: { namespace: 'ml', labelSelector: 'grove.io/podgang=train', limit: 100 } },
  ]);
  asked = [];
  there = names(250).map(pod);
  expect(await freshPods(names(10_000))).toHaveLength(250);
  expect(asked).toHaveLength(3);
});

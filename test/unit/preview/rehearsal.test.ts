import { expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/json/json.ts';
import { Rehearsal } from '../../../src/preview/rehearsal.ts';
import { pod, podGang } from '../preemption/small-cluster.ts';

const member = (name: string, gang = 'train'): JsonObject => pod({ name, gang });
const generated: JsonObject = {
  ...member(''),
  metadata: { generateName: 'w-', labels: { 'grove.io/podgang': 'train' } },
};

function rehearsal(): (object: JsonObject, now?: number, user?: string) => string[] | undefined {
  const kept = new Rehearsal();
  return (object, now = 0, user = 'alice') => {
    const tried = kept.add({ user, namespace: 'ns', object }, now);
    if (tried === undefined) return undefined;
    const names = tried.pods.map(({ metadata }) => (metadata as { name: string }).name);
    return [...(tried.gang === undefined ? [] : ['gang']), ...names];
  };
}

test('what one person tries out of one gang is counted together', () => {
  const add = rehearsal();
  expect(add(podGang('train'))).toEqual(['gang']);
  expect(add(member('a'))).toEqual(['gang', 'a']);
  expect(add(member('b'))).toEqual(['gang', 'a', 'b']);
  expect(add(member('c', 'other'))).toEqual(['c']);
  expect(add(member('b'), 0, 'bob')).toEqual(['b']);
  expect(add(pod({ name: 'single' }))).toBeUndefined();
});

test('names that are still to be generated are told apart', () => {
  const add = rehearsal();
  expect(add(generated)).toEqual(['w-0']);
  expect(add(generated)).toEqual(['w-0', 'w-1']);
});

test('the same again begins anew', () => {
  const add = rehearsal();
  add(podGang('train'));
  add(member('a'));
  add(member('b'));
  expect(add(member('a'))).toEqual(['gang', 'a']);
  expect(add(podGang('train'))).toEqual(['gang']);
});

test('Pods may come before their PodGang', () => {
  const add = rehearsal();
  add(member('a'));
  expect(add(podGang('train'))).toEqual(['gang', 'a']);
});

test('after half a minute it is forgotten', () => {
  const add = rehearsal();
  add(member('a'));
  expect(add(member('b'), 30_000)).toEqual(['a', 'b']);
  expect(add(member('c'), 60_001)).toEqual(['c']);
});

test('what no plan goes by is not kept, and of the rest not more than 16 MiB', () => {
  const big = (name: string, gang: string, part: object): JsonObject => {
    const object = member(name, gang);
    return { ...object, spec: { ...(object['spec'] as JsonObject), ...part } };
  };
  const MEBIBYTE = 'x'.repeat(1024 * 1024);
  const kept = new Rehearsal();
  const env = big('a', 'train', { containers: [{ name: 'main', env: [{ name: 'A', value: MEBIBYTE }] }] });
  const tried = kept.add({ user: 'alice', namespace: 'ns', object: env }, 0);
  expect(JSON.stringify(tried).length).toBeLessThan(1_000);
  const add = rehearsal();
  const chosen = (index: number, gang: string): JsonObject =>
    big(`p${index}`, gang, { nodeSelector: { a: MEBIBYTE } });
  for (let index = 0; index < 15; index += 1) add(chosen(index, 'large'));
  expect(add(chosen(15, 'large'))).toHaveLength(15);
  expect(add(member('small', 'large'))).toHaveLength(16);
  // The one that was used longest ago is forgotten first.
  add(chosen(0, 'next'));
  expect(add(member('again', 'large'))).toEqual(['again']);
});

test('it does not grow without end', () => {
  const add = rehearsal();
  for (let index = 0; index < 100; index += 1) add(member('a', `g${index}`));
  expect(add(member('b', 'g35'))).toEqual(['b']);
  expect(add(member('b', 'g99'))).toEqual(['a', 'b']);
  const many = rehearsal();
  for (let index = 0; index < 2_048; index += 1) many(member(`p${index}`, 'large'));
  expect(many(member('more', 'large'))).toHaveLength(2_048);
  many(member('a', 'next'));
  expect(many(member('again', 'large'))).toEqual(['again']);
});

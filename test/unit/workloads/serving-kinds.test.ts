/** Gangs of the kinds that serve models, as docs/examples has them. */
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { JsonObject } from '../../../src/json/json.ts';
import { gangNumbers } from '../../../src/workloads/gang-numbers.ts';
import { gangKindOf } from '../../../src/workloads/kinds.ts';
import type { GangKind } from '../../../src/workloads/kind.ts';

const numbersOf = (short: string, file: string) => {
  const text = readFileSync(new URL(`../../../docs/examples/${file}`, import.meta.url), 'utf8');
  const { groups, asked } = gangNumbers(parse(text) as JsonObject, gangKindOf(short) as GangKind);
  return { asked, groups: groups.map((one) => `${one.name} ${one.minReplicas}/${one.replicas}`) };
};

test('each serving group of a ModelServing is a gang, with the least that its gangPolicy says', () => {
  expect(numbersOf('modelserving', 'model-serving.yaml')).toEqual({
    asked: { whole: false, parts: [], numbered: 2 },
    groups: ['prefill-entry 1/1', 'prefill-worker 1/1', 'decode-entry 1/2', 'decode-worker 3/6'],
  });
});

test('a RoleBasedGroup is one gang of all its roles', () => {
  expect(numbersOf('rbg', 'role-based-group.yaml')).toEqual({
    asked: { whole: true, parts: [], numbered: 0 },
    groups: ['router 1/1', 'prefill 2/2', 'decode-leader 1/1', 'decode-worker 3/3'],
  });
});

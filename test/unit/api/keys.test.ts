/** The list of keys with Muster's prefix, held against whatever reads or writes one. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { keys, ownKeys } from '../../../src/api/keys.ts';
import * as names from '../../../src/api/names.ts';
import { CONDITION_REASONS } from '../../../src/gang/plan/conditions.ts';
import { rules } from '../../../src/api/rules.ts';

/** Names with the prefix that are no keys of an object. */
const NO_KEYS = [
  // The group in an apiVersion, and the name by which the loop reports events.
  ...['v1alpha1', 'v1', 'loop'],
];

test('is whole: no key of the source or of the manifests is missing, and none is in it that nobody knows', () => {
  const keys = globSync(['src/**/*.ts', 'manifests/**/*.yaml']).flatMap((file) => {
    if (/^src\/api\/([a-z]+-)?keys\.ts$/.test(file)) return [];
    const text = readFileSync(file, 'utf8');
    const found = text.matchAll(/(?<![\w.])(?:muster\.dev\/|`\$\{MUSTER_PREFIX\})([a-z][a-z0-9-]*)/g);
    return [...found].flatMap(([, name = '']) => (NO_KEYS.includes(name) ? [] : `muster.dev/${name}`));
  });
  expect([...new Set(keys)].toSorted()).toEqual(Object.keys(ownKeys).toSorted());
});

test('every key that has a name in names.ts is in it', () => {
  const named = Object.entries(names).flatMap(([name, value]) =>
    /^(LABEL|ANNOTATION|MARK|GATE)_|_FINALIZER_PREFIX$/.test(name) && typeof value === 'string'
      ? [value]
      : [],
  );
  expect(named.length).toBeGreaterThan(20);
  const known = keys.map(({ key }) => key.replace('<backend>', ''));
  expect(named.filter((key) => !known.includes(key))).toEqual([]);
});

test('every condition of a PodGang is in it', () => {
  const known = keys.flatMap(({ key, as, on }) => (as === 'condition' && on === 'PodGang' ? [key] : []));
  expect(known).toEqual(Object.keys(CONDITION_REASONS));
});

test('rules that are named in it are rules of admission or of a policy', () => {
  const manifests = globSync('manifests/**/*.yaml')
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const events = readFileSync('src/gang/plan/conditions.ts', 'utf8');
  const named = keys.flatMap(({ wrong }) =>
    [...wrong.matchAll(/`([A-Z]\w+)`/g)].map(([, rule = '']) => rule),
  );
  expect(named.length).toBeGreaterThan(40);
  expect(
    [...new Set(named)].filter(
      (rule) =>
        !(rule in rules) &&
        !manifests.includes(`[${rule}]`) &&
        !events.includes(`'${rule}'`) &&
        rule !== 'Scheduled',
    ),
  ).toEqual([]);
});

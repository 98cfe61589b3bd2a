/** The list of keys with Muster's prefix, held against whatever reads or writes one. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ownKeys } from '../../../src/api/own-keys.ts';

/** Names with the prefix that are no keys of an object. */
const NO_KEYS = [
  // The group in an apiVersion, and the name by which the loop reports events.
  ...['v1alpha1', 'v1', 'loop'],
];

test('is whole: no key of the source or of the manifests is missing, and none is in it that nobody knows', () => {
  const keys = globSync(['src/**/*.ts', 'manifests/**/*.yaml']).flatMap((file) => {
    if (file === 'src/api/own-keys.ts') return [];
    const text = readFileSync(file, 'utf8');
    const found = text.matchAll(/(?<![\w.])(?:muster\.dev\/|`\$\{MUSTER_PREFIX\})([a-z][a-z0-9-]*)/g);
    return [...found].flatMap(([, name = '']) => (NO_KEYS.includes(name) ? [] : `muster.dev/${name}`));
  });
  expect([...new Set(keys)].toSorted()).toEqual(Object.keys(ownKeys).toSorted());
});

import { expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { installYaml } from '../../release/install-yaml.ts';
import { kustomized } from '../../src/cli/doctor/installed/kustomize.ts';
import type { JsonObject } from '../../src/json/json.ts';

const IMAGE = 'registry.example/muster@sha256:abc';
const text = installYaml({ image: IMAGE, version: '1.2.3' });
const objects = parseAllDocuments(text).map((document) => {
  expect(document.errors).toEqual([]);
  return document.toJS() as JsonObject;
});
const keyOf = ({ kind, metadata }: JsonObject): string =>
  JSON.stringify([kind, (metadata as { name: string }).name]);
const inOrder = (list: readonly JsonObject[]): JsonObject[] =>
  [...list].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));

test('install.yaml is the overlay in-cluster, but for the image', () => {
  const source = JSON.stringify(inOrder(kustomized('manifests/overlays/in-cluster')));
  expect(source.split('"image":"muster:dev"')).toHaveLength(2);
  const expected = JSON.parse(source.replace('"image":"muster:dev"', `"image":"${IMAGE}"`)) as JsonObject[];
  expect(inOrder(objects)).toEqual(expected);
});

test('its namespace and definitions stand first, and nothing in it needs another project', () => {
  const kinds = objects.map(({ kind }) => kind);
  expect(kinds.slice(0, 4)).toEqual(['Namespace', ...Array<string>(3).fill('CustomResourceDefinition')]);
  expect(new Set(kinds).size).toBeGreaterThan(10);
  expect(kinds.filter((kind) => kind === 'Certificate' || kind === 'Issuer')).toEqual([]);
  expect(text.startsWith('# Muster 1.2.3: kubectl apply --server-side -f install.yaml')).toBe(true);
});

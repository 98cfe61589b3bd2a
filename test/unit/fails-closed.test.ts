/** Pages that are read while Muster is down: what fails closed stands in the manifests, and the pages are made from these. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { definedKinds, failsClosedOf, manifestFolders } from '../support/fails-closed.ts';
import { withMade } from '../support/made-documents.ts';

test.each(failsClosedOf().map((made) => [made.file, made] as const))('%s is up to date', (file, made) => {
  const page = readFileSync(file, 'utf8');
  const now = withMade(page, made);
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(file, now);
  else expect(page).toBe(now);
});

const FOLDERS = readFileSync('docs/manifests.md', 'utf8').split('## Folders\n')[1]?.split('\n## ')[0] ?? '';

test('docs/manifests.md has every folder', () => {
  const named = [...FOLDERS.matchAll(/^\| `(manifests\/[^`]+)` \|/gm)].map(([, folder]) => folder ?? '');
  const isNamed = (folder: string): boolean =>
    named.includes(folder) || named.includes(folder.replace(/[^/]+$/, '<backend>'));
  expect(manifestFolders().filter((folder) => !isNamed(folder))).toEqual([]);
  const there = manifestFolders();
  expect(named.filter((folder) => !folder.endsWith('<backend>') && !there.includes(folder))).toEqual([]);
});

test('docs/manifests.md names every kind that is defined', () => {
  const row = /^\| `manifests\/crds` \| (.*?) \|/m.exec(FOLDERS)?.[1] ?? '';
  const kinds = [...row.matchAll(/\b(?:[A-Z]\w*[a-z]\w*)\b/g)].map(([kind]) => kind);
  expect(kinds.toSorted()).toEqual(definedKinds().toSorted());
});

test('no page says that Muster is asked about one label alone', () => {
  for (const file of ['three-in-the-morning', 'operations', 'manifests', 'migration'])
    expect(readFileSync(`docs/${file}.md`, 'utf8')).not.toMatch(
      /only (?:what carries|Pods with)\s+the\s+label\s+`grove\.io\/podgang`(?!\s+or)/i,
    );
});

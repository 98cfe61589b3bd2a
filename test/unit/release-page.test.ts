/** docs/release.md: its table is made from the releases that are tested and from what ships, its list from what is made. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { withMade } from '../support/made-documents.ts';
import { manifestsIn } from '../support/manifests.ts';
import { KNOWN_RELEASES } from '../cluster/control-plane/releases.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

interface Definition {
  readonly spec: {
    readonly names: { readonly kind: string };
    readonly versions: readonly { name: string; served: boolean }[];
  };
}

async function supportTable(): Promise<string> {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const chart = parse(read('charts/muster/Chart.yaml')) as { version: string };
  const definitions = (await manifestsIn('crds')) as unknown as Definition[];
  const kinds = definitions.map(({ spec }) => {
    const served = spec.versions.filter((one) => one.served).map(({ name }) => name);
    return `${spec.names.kind} ${served.join(', ')}`;
  });
  const rows = Object.values(KNOWN_RELEASES).map(({ version: kubernetes, gangApi, mutatingPolicies }) =>
    [
      kubernetes.slice(1),
      version,
      chart.version,
      kinds.join('; '),
      gangApi === undefined ? 'none' : `scheduling.k8s.io/${gangApi}`,
      mutatingPolicies ? '`cert-manager` or `in-cluster`' : '`kubernetes-1.35`',
    ].join(' | '),
  );
  return [
    '| Kubernetes | Muster | Chart | Definitions | Native gangs | Overlay |',
    '|---|---|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
  ].join('\n');
}

test('the table of what runs where is made from the releases that are tested and from what ships', async () => {
  const page = read('docs/release.md');
  const made = withMade(page, {
    file: 'docs/release.md',
    between: ['<!-- support -->\n', '<!-- /support -->'],
    text: `${await supportTable()}\n`,
  });
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(join(ROOT, 'docs/release.md'), made);
  else expect(page).toBe(made);
});

test('every refusal and flag of npm run release is on the pages, and every file that it writes', () => {
  const page = `${read('docs/release.md')}${read('CONTRIBUTING.md')}`;
  const main = read('release/main.ts');
  const codes = [...read('release/refusals.ts').matchAll(/'(RELEASE_[A-Z_]+)'/g)].map(
    ([, code = '']) => code,
  );
  expect(codes.length).toBeGreaterThan(3);
  const flags = [...main.matchAll(/^ {4}'?([\w-]+)'?: \{ type:/gm)].map(([, flag = '']) => flag);
  expect(flags).toContain('snapshot');
  const files = [...main.matchAll(/\bput\('([^']+)'/g)].map(([, file = '']) => file);
  expect(files).toContain('SHA256SUMS');
  const missing = [
    ...codes,
    ...flags.map((flag) => (flag === 'image' ? '--no-image' : `--${flag}`)),
    ...files,
  ].filter((name) => !page.includes(name));
  expect(missing).toEqual([]);
});

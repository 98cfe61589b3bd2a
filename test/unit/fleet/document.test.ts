/** docs/fleet.md and manifests/karmada say what the table of workloads says. `UPDATE_DOCS=1 npm run test:unit` rewrites both. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { isMultiTemplate } from '../../../src/workloads/components.ts';
import { path } from '../../../src/workloads/path.ts';
import { titleOf, type HealthSigns, type WorkloadKind } from '../../../src/workloads/workload-kind.ts';
import { workloadKinds } from '../../../src/workloads/kinds.ts';
import { interpreterManifest } from '../../support/interpreter-manifest.ts';

const FILE = join(import.meta.dirname, '../../../docs/fleet.md');

const code = (text: string): string => `\`${text}\``;

function unhealthy({ phases, conditions, ready = [] }: HealthSigns): string {
  return [
    ...phases.map(({ path: at, values }) => `${code(at)} is ${values.map(code).join(' or ')}`),
    ...conditions.map((type) => `condition ${code(type)}`),
    ...ready.map(({ has, wants }) => `${code(has)} below ${code(wants)}`),
  ].join('; ');
}

/** `spec.tasks.*.minAvailable`, as people write it. */
const fields = (list: readonly string[]): string =>
  list.map((one) => code(path(one).join('.').replaceAll('.*', '[]'))).join(', ');

const kept = ({ always, scaled, templates }: WorkloadKind['kept']): string =>
  [
    ...(always.length > 0 ? [fields(always)] : []),
    ...(scaled ? [`with ${code(scaled.flag)} ${fields(scaled.paths)}`] : []),
    ...(templates.length > 0 ? ['what a queue adds to templates'] : []),
  ].join('; ') || 'nothing';

const rows = workloadKinds.map((kind) => {
  const { says, health } = kind;
  return `| ${titleOf(kind)} | ${says.components} | ${says.minimum} | ${unhealthy(health)} | ${kept(kind.kept)} |`;
});

test('docs/fleet.md has the table of workloads, and their names for Lua', () => {
  const text = readFileSync(FILE, 'utf8');
  const table = [
    '| Workload | Components | Minimum | Not healthy | Kept as the member cluster has it |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
  const names = workloadKinds.map(({ group, kind }) => code(`${kind}.${group}`)).join(', ');
  const wanted = text
    .replace(
      /<!-- workloads -->\n[^]*<!-- \/workloads -->/,
      () => `<!-- workloads -->\n${table}\n<!-- /workloads -->`,
    )
    .replace(
      /<!-- lua kinds -->\n[^]*?<!-- \/lua kinds -->/,
      () => `<!-- lua kinds -->\n  ${names}\n  <!-- /lua kinds -->`,
    );
  expect(wanted).toContain(table);
  expect(wanted).toContain(names);
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, wanted);
  else expect(text).toBe(wanted);
});

test('manifests/karmada registers the same kinds, for what does not hurt', () => {
  const file = join(import.meta.dirname, '../../../manifests/karmada/interpreter.yaml');
  const wanted = interpreterManifest();
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(file, wanted);
  else expect(readFileSync(file, 'utf8')).toBe(wanted);
  const { webhooks } = parse(wanted) as {
    webhooks: { rules: { operations: string[]; apiGroups: string[]; kinds: string[] }[] }[];
  };
  const rules = webhooks.flatMap((webhook) => webhook.rules);
  const operations = new Set(rules.flatMap((rule) => rule.operations));
  expect([...operations].filter((one) => /Replica|\*|Prune/.test(one))).toEqual([]);
  const kinds = rules.flatMap((rule) => rule.kinds.map((kind) => `${rule.apiGroups.join()} ${kind}`));
  const several = workloadKinds.filter(isMultiTemplate).map(({ group, kind }) => `${group} ${kind}`);
  expect(kinds.sort()).toEqual(several.sort());
});

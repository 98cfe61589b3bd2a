/** What native gangs need of a control plane: one table, by which the page, the doctor and our own control planes go. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  GATED_COMPONENTS,
  GATED_RELEASES,
  gatedReleaseOf,
  strangeGates,
  type FeatureGate,
  type GatedRelease,
} from '../../../../src/backends/native-gates.ts';
import { GANG_APIS } from '../../../../src/backends/native/gang-api.ts';
import { KNOWN_RELEASES } from '../../../cluster/control-plane/releases.ts';
import { withMade } from '../../../support/made-documents.ts';

const FILE = 'src/backends/native/README.md';
const PAGE = join(import.meta.dirname, '../../../..', FILE);

const rows = (cells: readonly (readonly string[])[]): string =>
  cells.map((row) => `| ${row.join(' | ')} |\n`).join('');
const code = (text: string): string => `\`${text}\``;
const apiOf = (version: string | undefined) => GANG_APIS.find((api) => api.version === version);

const releases = rows([
  ['Kubernetes', '`--runtime-config`', 'Objects of a gang', 'A Pod names it in', 'All or none'],
  ['---', '---', '---', '---', '---'],
  ...GATED_RELEASES.map(({ kubernetes, versions, allOrNone }) => {
    const api = apiOf(versions[0]);
    const kinds = [api?.workloads.kind, api?.podGroups?.kind].filter((kind) => kind !== undefined);
    const served = code(`scheduling.k8s.io/${versions[0]}=true`);
    return [kubernetes, served, kinds.join(', '), code(api?.linkField ?? ''), allOrNone];
  }),
  ['older, or gates off', '', 'none', '', 'nothing: Pod by Pod'],
]);

const gates = rows([
  ['Kubernetes', 'Feature gate', 'Stage', ...GATED_COMPONENTS.map(code), 'Gives'],
  ['---', '---', '---', ...GATED_COMPONENTS.map(() => '---'), '---'],
  ...GATED_RELEASES.flatMap((release) =>
    release.gates.map(({ name, stage, components, needed, gives, ...more }) => [
      release.kubernetes,
      `\`${name}\`${needed ? '' : ', if wanted'}`,
      stage,
      ...GATED_COMPONENTS.map((component) => (components.includes(component) ? '✓' : '')),
      gives + besides(release, more),
    ]),
  ),
]);

/** What an optional gate takes beyond those that are needed anyway. */
function besides(release: GatedRelease, { needs, serves }: Pick<FeatureGate, 'needs' | 'serves'>): string {
  const optional = release.gates.filter(({ name, needed }) => !needed && needs.includes(name));
  const takes = [
    ...optional.map(({ name }) => code(name)),
    ...(serves === undefined || serves === release.versions[0]
      ? []
      : [code(`--runtime-config=scheduling.k8s.io/${serves}=true`)]),
  ];
  return takes.length === 0 ? '' : `; takes ${takes.join(' and ')} as well`;
}

/** For `--runtime-config`: all versions that something of a release is served in. */
const servedBy = ({ gates }: GatedRelease): string[] => [
  ...new Set(gates.flatMap(({ serves }) => serves ?? [])),
];

/** The flags with all that is there. */
const flags = GATED_RELEASES.map((release) => {
  const { kubernetes, gates } = release;
  const lines = GATED_COMPONENTS.flatMap((component) => {
    const names = gates.filter(({ components }) => components.includes(component)).map(({ name }) => name);
    const versions = servedBy(release).map((version) => `scheduling.k8s.io/${version}=true`);
    const served = component === 'kube-apiserver' ? [`  --runtime-config=${versions.join(',')}`] : [];
    const on = names.map((name) => `${name}=true`).join(',');
    return names.length === 0 ? [] : [component, `  --feature-gates=${on}`, ...served];
  });
  return `# ${kubernetes}\n${lines.join('\n')}\n`;
}).join('\n');

/** kind gives gates to every component. */
const [newest] = GATED_RELEASES;
const kind = `kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
featureGates:
${newest?.gates.map(({ name }) => `  ${name}: true\n`).join('') ?? ''}runtimeConfig:
${(newest === undefined ? [] : servedBy(newest)).map((version) => `  scheduling.k8s.io/${version}: "true"\n`).join('')}`;

test.each([
  ['releases', releases],
  ['gates', gates],
  ['flags', `\`\`\`text\n${flags}\`\`\`\n`],
  ['kind', `\`\`\`yaml\n${kind}\`\`\`\n`],
])('the page says %s as the table has it', (name, text) => {
  const page = readFileSync(PAGE, 'utf8');
  const made = { file: FILE, between: [`<!-- ${name} -->\n\n`, `\n<!-- /${name} -->`] as const, text };
  const wanted = withMade(page, made);
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(PAGE, wanted);
  else expect(page).toBe(wanted);
});

test('every version that the backend speaks is one of a release', () => {
  const versions = GATED_RELEASES.flatMap((release) => release.versions);
  expect(versions).toEqual(GANG_APIS.map(({ version }) => version));
});

test('what builds on a gate is of the same release, and is served where it is read', () => {
  for (const { gates, versions } of GATED_RELEASES) {
    const names = gates.map(({ name }) => name);
    for (const { needs } of gates) expect(names).toEqual(expect.arrayContaining([...needs]));
    const served = gates.flatMap(({ serves }) => serves ?? []);
    expect(gates.flatMap(({ reads }) => reads ?? []).toSorted()).toEqual(served.toSorted());
    expect(versions).toEqual(expect.arrayContaining(served));
  }
});

test.each([
  ['1.37', ['GangScheduling', 'WorkloadAwarePreemption']],
  ['1.36', ['CompositePodGroup', 'PodGroupPreemptionPolicy']],
  ['1.38', []],
])('gates of others that %s does not have', (minor, names) => {
  expect(strangeGates(minor).toSorted()).toEqual(names);
});

describe('the control planes of the tests', () => {
  test.each(Object.entries(KNOWN_RELEASES))(
    '%s runs with what the table says is needed, and with no gate beside it',
    (minor, given) => {
      const release = gatedReleaseOf(given.version);
      expect(release?.kubernetes).toBe(release && minor);
      const names = Object.keys(given.featureGates);
      const gates = release?.gates ?? [];
      expect(gates.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
      for (const { name, needed } of gates) if (needed) expect(names).toContain(name);
      expect(given.gangApi).toBe(release?.versions[0]);
    },
  );
});

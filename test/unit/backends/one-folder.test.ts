/** A backend is a folder and a line in the registry: whatever else speaks of backends is made from these. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { BackendFactory } from '../../../src/backends/backend.ts';
import { builtInBackends, BackendRegistry } from '../../../src/backends/registry.ts';
import { checkBackends } from '../../../src/cli/doctor/check-backends.ts';
import { expectedRights } from '../../../src/cli/doctor/expected-rights.ts';
import { ABSENT, found } from '../../../src/cli/doctor/diagnosis.ts';
import { pagesListOf, rightsTableOf, settingsOf, withMade, type Made } from '../../support/made-documents.ts';
import { componentsOf, policiesOf, rolesOf } from '../../support/made-manifests.ts';
import { changed } from '../../support/broken-backends/sound.ts';

const ROOT = join(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** Folder by backend: each folder's page begins with the name of its backend. */
const FOLDERS = new Map(
  readdirSync(join(ROOT, 'src/backends'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => {
      const [, backend = ''] = /^# The backend `(.*)`\n/.exec(read(`src/backends/${name}/README.md`)) ?? [];
      return [backend, `src/backends/${name}`];
    }),
);
const folderOf = (name: string): string => FOLDERS.get(name) ?? `src/backends/${name}`;

const madeFrom = (factories: readonly BackendFactory[]): Made[] => [
  rolesOf(factories),
  rightsTableOf(factories),
  pagesListOf(factories, folderOf),
  ...policiesOf(factories),
];

test('every folder has a line in the registry, and every line a folder', () => {
  expect([...FOLDERS.keys()].sort()).toEqual(builtInBackends.map(({ name }) => name).sort());
});

describe('made from the registry', () => {
  const made = [
    ...madeFrom(builtInBackends),
    ...builtInBackends.map((factory) => settingsOf(factory, folderOf(factory.name))),
  ];
  test.each(made)('$file', (part) => {
    const page = read(part.file);
    const wanted = withMade(page, part);
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(join(ROOT, part.file), wanted);
    else expect(page).toBe(wanted);
  });

  test.each(componentsOf(builtInBackends))('$file, as a whole', ({ file, text }) => {
    if (process.env['UPDATE_DOCS'] === '1') {
      mkdirSync(dirname(join(ROOT, file)), { recursive: true });
      writeFileSync(join(ROOT, file), text);
    }
    expect(read(file)).toBe(text);
  });

  test('no component is left of a backend that is not there any more', () => {
    const made = componentsOf(builtInBackends).map(({ file }) => dirname(file));
    const folders = readdirSync(join(ROOT, 'manifests/components')).map(
      (name) => `manifests/components/${name}`,
    );
    const ofNoBackend =
      /\/(grove-operator|client-certificate|dashboard|in-cluster-certificates|karmada-.*|hpc|workloads|monitoring|preemption.*)$/;
    expect(folders.filter((folder) => !ofNoBackend.test(folder)).sort()).toEqual([...new Set(made)].sort());
  });

  test.each([
    'docs/backends.md',
    'docs/migration.md',
    ...[...FOLDERS.values()].map((folder) => `${folder}/README.md`),
  ])('%s links to files that are there', (file) => {
    const links = [...read(file).matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) => match[1] ?? '');
    expect(links.filter((link) => !existsSync(join(ROOT, file, '..', link)))).toEqual([]);
  });

  test('the package holds the pages that docs/backends.md leads to', () => {
    const { files } = JSON.parse(read('package.json')) as { files: string[] };
    expect(files).toContain('src/backends/*/README.md');
  });

  test.each(builtInBackends)('docs/migration.md says what $name changes in a Pod', ({ name }) => {
    const [, table = ''] = read('docs/migration.md').split('\n## What changes\n');
    expect(table).toContain(`\n| \`${name}\` | `);
  });
});

describe('one line more', () => {
  const sound = changed(() => ({}));
  const toy: BackendFactory = {
    ...sound,
    settings: { lane: { type: 'string', default: 'slow', description: 'Which lane.' } },
    rights: [
      {
        group: 'toy.example.com',
        resources: ['toys'],
        verbs: ['get', 'create'],
        schedulersFields: ['moved'],
        why: 'the Toy of a gang',
      },
    ],
    countedBy: {
      labels: ['toy.example.com/lane'],
      annotations: ['toy.example.com/toy'],
      groupNamedBy: ['toy.example.com/toy'],
    },
    traces: { deployment: /\/toy$/, lease: { namespace: 'toys', name: 'toy' } },
  };
  const factories = [...builtInBackends, toy];

  test('has a component with its rights, and is in the table of rights and in the list of pages', () => {
    const [roles, table, pages] = madeFrom(factories).map(({ text }) => text);
    expect(roles).not.toContain(toy.name);
    const role = componentsOf(factories).find(
      ({ file }) => file === `manifests/components/${toy.name}/rbac.yaml`,
    );
    expect(role?.text).toContain(
      `  # The backend ${toy.name}: the Toy of a gang.\n  - apiGroups: [toy.example.com]\n    resources: [toys]\n    verbs: [get, create]\n`,
    );
    expect(table).toContain(
      `| backend \`${toy.name}\` | \`toys\` of \`toy.example.com\`: get, create | the Toy of a gang |`,
    );
    expect(pages).toContain(`(../src/backends/${toy.name}/README.md)`);
    expect(settingsOf(toy, folderOf(toy.name))).toMatchObject({
      file: `src/backends/${toy.name}/README.md`,
      text: expect.stringContaining('| `lane` | string | `"slow"` | Which lane. |') as unknown,
    });
  });

  test('is what the policies go by: its keys of a Pod, its objects, and what its scheduler writes into them', () => {
    const texts = policiesOf(factories).map(({ text }) => text);
    const [identity, binding, objects, account, fields, strangers] = texts;
    expect(strangers).toContain(`'${toy.name}': ['toy.example.com/toy']}`);
    for (const keys of [identity, binding]) {
      expect(keys).toMatch(/name: countedLabels\n.*\n.*'toy.example.com\/lane'\]/);
    }
    expect(identity).toMatch(/name: countedAnnotations\n.*\n.*'toy.example.com\/toy'\]/);
    expect(texts.at(-1)).toContain("'toy.example.com/toy'].exists(k,");
    for (const rules of [objects, account]) {
      expect(rules).toMatch(/apiGroups: \[toy.example.com\]\n.*\n.*DELETE\]\n +resources: \[toys\]/);
    }
    expect(fields).toMatch(/'moved'\]/);
  });

  test('is what the doctor asks for and looks for', () => {
    const asked = expectedRights({ namespace: 'n', name: 'l' }, [toy]);
    expect(asked).toContainEqual(
      expect.objectContaining({ group: 'toy.example.com', resource: 'toys', verb: 'get' }),
    );
    const looked = (lease: { holder: string } | undefined) =>
      checkBackends({
        now: new Date(0),
        defaultBackend: toy.name,
        enabled: [
          {
            name: toy.name,
            readiness: { state: 'ready', facts: { version: 'v1' } },
            traces: toy.traces,
            room: undefined,
            lease:
              lease && found({ ...lease, renewTime: '1970-01-01T00:00:00Z', durationMs: 15_000 } as never),
            blind: false,
          },
        ],
        published: ABSENT,
        deployments: found([{ metadata: { namespace: 'toys', name: 'toy' }, status: { readyReplicas: 1 } }]),
      }).map(({ found: text }) => text);
    expect(looked(undefined)).toContain('its scheduler seems to run: toys/toy');
    expect(looked({ holder: 'toy-1' })).toContain('toy runs (toy-1 holds its Lease)');
  });

  test('serves its gangs', () => {
    const registry = new BackendRegistry([{ name: toy.name }], toy.name, { factories });
    expect(registry.enabled).toEqual([toy.name]);
  });
});

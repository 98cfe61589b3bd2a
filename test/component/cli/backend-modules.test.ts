import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cli } from '../../cluster/support/muster-cli.ts';

/** A backend in as few words as there can be; `warning` shows which one answered. */
const backend = (name: string, warning: string, version = 'BACKEND_CONTRACT_VERSION'): string => `{
  name: '${name}',
  create: () => ({
    contractVersion: ${version}, name: '${name}', schedulerName: '${name}',
    patchSurface: { schedulerName: true },
    init: () => Promise.resolve({ version: '1' }),
    preparePod: (_pod, _gang, patch) => patch.setSchedulerName('${name}', 'asked for'),
    validatePodGang: () => ({ faults: [], warnings: ['${warning}'] }),
    syncPodGang: () => Promise.resolve(),
    onPodGangDelete: () => Promise.resolve(),
  }),
}`;
const IMPORT = "import { BACKEND_CONTRACT_VERSION } from 'muster';\n";

const FILES: Readonly<Record<string, string>> = {
  'default.js': `${IMPORT}export default ${backend('mine', 'from default.js')};`,
  'named.mjs': `${IMPORT}export const other = 1;\nexport const backend = ${backend('mine', 'from named.mjs')};`,
  'typed.ts': `${IMPORT}import type { BackendFactory } from 'muster';\nexport const backend: BackendFactory = ${backend('mine', 'from typed.ts')};`,
  'common.cjs': `exports.default = ${backend('mine', 'from common.cjs', '1')};`,
  'node_modules/@team/line/package.json': '{"name": "@team/line", "type": "module", "exports": "./main.js"}',
  'node_modules/@team/line/main.js': `${IMPORT}export default ${backend('mine', 'from a package')};`,
  'empty.mjs': '',
  'wrong.mjs': 'export const one = 1; export const create = () => 1;',
  'throwing.mjs': "throw new Error('no licence found');",
  'syntax.mjs': 'export const = 1;',
  'old.mjs': `export default ${backend('mine', '', '7')};`,
  'hanging.mjs': 'setInterval(() => 0, 1000); await new Promise(() => {});',
  'gang.yaml':
    'apiVersion: scheduler.grove.io/v1alpha1\nkind: PodGang\nmetadata: {name: train}\nspec: {podgroups: [{name: a, minReplicas: 1, podReferences: []}]}\n',
};
const hashOf = (algorithm: string, file: string): string =>
  `${algorithm}-${createHash(algorithm)
    .update(FILES[file] ?? '')
    .digest('base64')}`;

describe('a backend from a module', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-modules-'));
    for (const [file, text] of Object.entries(FILES)) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text);
    }
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** Of `muster validate` under a configuration with this profile as the default; paths without the folder. */
  async function validated(profile: object, name = 'mine'): Promise<{ code: number; out: string }> {
    const config = join(folder, `${createHash('md5').update(JSON.stringify(profile)).digest('hex')}.yaml`);
    const scheduler = { defaultProfileName: name, profiles: [{ name, ...profile }] };
    const header = { apiVersion: 'operator.config.grove.io/v1alpha1', kind: 'OperatorConfiguration' };
    await writeFile(config, JSON.stringify({ ...header, scheduler }));
    const { code, out } = await cli(['validate', '-f', join(folder, 'gang.yaml'), '--config', config]);
    return { code, out: out.replaceAll(config, 'config.yaml').replaceAll(folder, '/here') };
  }

  test.each([
    ['the default export', './default.js', 'from default.js'],
    ['an export called backend', 'named.mjs', 'from named.mjs'],
    ['TypeScript', './typed.ts', 'from typed.ts'],
    ['CommonJS', './common.cjs', 'from common.cjs'],
    ['a package', '@team/line', 'from a package'],
  ])('%s', async (_what, module, says) => {
    const path = module === 'named.mjs' ? join(folder, module) : module;
    const { code, out } = await validated({ module: path });
    expect([code, out]).toEqual([0, expect.stringContaining(`warning: ${says}\n`)]);
  });

  test.each(['sha512', 'sha256'])('with its %s', async (algorithm) => {
    const integrity = hashOf(algorithm, 'default.js');
    expect(await validated({ module: './default.js', integrity })).toMatchObject({ code: 0 });
  });

  test('review and status load it too', async () => {
    const config = join(folder, 'both.yaml');
    await writeFile(
      config,
      'apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\nscheduler: {profiles: [{name: mine, module: ./throwing.mjs}]}\n',
    );
    const says =
      'error[BACKEND_MODULE_INVALID]: scheduler.profiles[0].module: ./throwing.mjs does not load: no licence found\nfix: correct the module: `node --check` tells more of a syntax error, `node` of what it throws\n';
    const gang = join(folder, 'gang.yaml');
    expect(await cli(['review', '-f', gang, '--config', config])).toEqual({ code: 1, out: says });
    expect(await cli(['status', '--config', config])).toEqual({ code: 1, out: says });
    // Whoever serves runs nothing of it yet, and begins; a file that is not there is for a person to mend.
    await writeFile(config, (await readFile(config, 'utf8')).replace('throwing', 'gone'));
    const served = await cli(['serve', '--no-controller', '--config', config]);
    expect({ ...served, out: JSON.parse(served.out) as unknown }).toMatchObject({
      code: 2,
      out: { level: 'error', code: 'BACKEND_MODULE_MISSING', msg: expect.stringContaining('gone.mjs') },
    });
  });

  test.each<[string, object, number, string]>([
    [
      'a file that is not there',
      { module: './gone.js' },
      2,
      "error[BACKEND_MODULE_MISSING]: scheduler.profiles[0].module: cannot read ./gone.js (/here/gone.js): ENOENT: no such file or directory, open '/here/gone.js'\nfix: name a file that this user may read, relative to /here, or an installed package\n",
    ],
    [
      'a package that is not there',
      { module: 'no-such-backend' },
      2,
      'error[BACKEND_MODULE_MISSING]: scheduler.profiles[0].module: there is no package "no-such-backend" in a node_modules above /here or Muster itself\nfix: install it there, or write ./no-such-backend if it is a file beside the configuration\n',
    ],
    [
      'what a package does not let out',
      { module: '@team/line/inside.js' },
      2,
      `error[BACKEND_MODULE_MISSING]: scheduler.profiles[0].module: cannot read @team/line/inside.js: Package subpath './inside.js' is not defined by "exports" in /here/node_modules/@team/line/package.json\nfix: name a file that this user may read, relative to /here, or an installed package\n`,
    ],
    [
      'a way out of a package',
      { module: '@team/line/../../../default.js' },
      2,
      'error[BACKEND_MODULE_MISSING]: scheduler.profiles[0].module: "@team/line/../../../default.js" is no path that begins with "." or "/", and no name of a package\nfix: write ./@team/line/../../../default.js if it is a file beside the configuration\n',
    ],
    [
      'no factory',
      { module: './wrong.mjs' },
      1,
      'error[BACKEND_MODULE_INVALID]: scheduler.profiles[0].module: ./wrong.mjs has no backend as its default export or as "backend" (its exports: create, one)\nfix: export a BackendFactory, an object with name and create()\n',
    ],
    [
      'nothing at all',
      { module: './empty.mjs' },
      1,
      'error[BACKEND_MODULE_INVALID]: scheduler.profiles[0].module: ./empty.mjs has no backend as its default export or as "backend" (it exports nothing)\nfix: export a BackendFactory, an object with name and create()\n',
    ],
    [
      'no JavaScript',
      { module: './syntax.mjs' },
      1,
      "error[BACKEND_MODULE_INVALID]: scheduler.profiles[0].module: ./syntax.mjs does not load: Unexpected token '='\nfix: correct the module: `node --check` tells more of a syntax error, `node` of what it throws\n",
    ],
    [
      'another version of the contract',
      { module: './old.mjs' },
      1,
      'error[BACKEND_CONTRACT]: backend "mine" is written for version 7 of the contract, this is version 1\nfix: use the release of the backend that goes with this Muster\n',
    ],
    [
      'another file than the one that was hashed',
      { module: './default.js', integrity: hashOf('sha256', 'named.mjs') },
      1,
      `error[BACKEND_MODULE_INTEGRITY]: scheduler.profiles[0].integrity: ./default.js should be ${hashOf('sha256', 'named.mjs')}, and is ${hashOf('sha256', 'default.js')}\nfix: put back the file that was meant, or, if the change is yours, write the hash that it has now\n`,
    ],
    [
      'never done with loading',
      { module: './hanging.mjs' },
      1,
      'error[BACKEND_MODULE_INVALID]: scheduler.profiles[0].module: ./hanging.mjs does not load: ./hanging.mjs did not answer within 10 s\nfix: correct the module: `node --check` tells more of a syntax error, `node` of what it throws\n',
    ],
  ])('%s', async (_what, profile, code, out) => {
    expect(await validated(profile)).toEqual({ code, out });
  });

  test('conformance is told of another name', async () => {
    const module = join(folder, 'default.js');
    const { code, out } = await cli(['conformance', '--module', module, '--name', 'yours']);
    expect([code, out.replaceAll(folder, '')]).toEqual([
      2,
      'error[USAGE]: --module /default.js exports the backend "mine", and --name says "yours"\nfix: leave out --name, or name the module of that backend\n',
    ]);
  });

  test('conformance of a module that takes any setting, and ends though the module goes on', async () => {
    const module = join(folder, 'restless.mjs');
    await writeFile(module, `${FILES['default.js'] ?? ''}\nsetInterval(() => 0, 1000);`);
    const { code, out } = await cli(['conformance', '--module', module]);
    expect(code).toBe(1);
    expect(out).toMatch(/^✗ config-keys: create\(\) took config\.noBackendHasThisSetting: /m);
    expect(out).toMatch(/^✗ priorities: /m);
    expect(out).toMatch(/\nmine: \d+ passed, 2 failed, 0 skipped\n$/);
  });

  test('another name than the profile’s', async () => {
    expect(await validated({ module: './default.js' }, 'yours')).toEqual({
      code: 1,
      out: 'error[BACKEND_MODULE_INVALID]: scheduler.profiles[0].module: ./default.js exports the backend "mine", and the profile is called "yours"\nfix: call the profile "mine", or name the module of "yours"\n',
    });
  });
});

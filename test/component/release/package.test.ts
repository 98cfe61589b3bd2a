/** The npm package as a release has it, in a project of somebody else's. */
import { execFile } from 'node:child_process';
import {
  existsSync,
  linkSync,
  readlinkSync,
  symlinkSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { productionPackages } from '../../../release/image/application.ts';
import { packPackage, stagePackage } from '../../../release/package.ts';
import { compiledProgram } from '../../support/compiled.ts';
import { inLength } from '../../support/length.ts';

const ROOT = join(import.meta.dirname, '../../..');
const COMMIT = '0123456789abcdef0123456789abcdef01234567';
/** Bytes; it had 1.2 MB when this was written. */
const LARGEST = 2_000_000;

let folder = '';
let tarball = '';
const project = (): string => join(folder, 'project');

interface Ran {
  readonly code: number;
  readonly out: string;
}

/** Runs a program in the project, with this Node first on the PATH, without any cache of npm. */
const ran = (program: string, ...args: string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const env = {
      PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      HOME: folder,
      npm_config_cache: join(folder, 'cache'),
    };
    const child = execFile(program, args, { cwd: project(), env, maxBuffer: 2 ** 26 }, (_, out, err) =>
      resolve({ code: child.exitCode ?? 1, out: `${out}${err}` }),
    );
  });

/** Hard links where the file system has them: what is installed is as large as the checkout's packages. */
function copied(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copied(source, target);
    else
      try {
        linkSync(source, target);
      } catch {
        cpSync(source, target);
      }
  }
}

/** Links to the programs of packages: npm installs a package without them anew. */
function linkedPrograms(): void {
  const [from, to] = [ROOT, project()].map((root) => join(root, 'node_modules/.bin')) as [string, string];
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) symlinkSync(readlinkSync(join(from, name)), join(to, name));
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'muster-package-'));
  const stage = join(folder, 'stage');
  stagePackage(ROOT, stage, `${COMMIT} 1764100000`, await compiledProgram());
  tarball = join(folder, packPackage(stage, folder));
  await mkdir(project());
  await writeFile(join(project(), 'package.json'), '{"name": "mine", "version": "1.0.0", "type": "module"}');
  // npm installs what is not there yet: the dependencies are, so that no registry is asked.
  linkedPrograms();
  const outermost = productionPackages(ROOT, {}).filter((path) => !path.includes('/node_modules/'));
  for (const path of outermost) copied(join(ROOT, path), join(project(), path));
  const { code, out } = await ran('npm', 'install', '--offline', '--ignore-scripts', tarball);
  if (code !== 0) throw new Error(`npm install: ${out}`);
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe('the npm package', () => {
  test('has the program and its pages, and no test, bench or demo', () => {
    const installed = join(project(), 'node_modules/@muster-dev/muster');
    expect(readdirSync(installed).sort()).toEqual([
      ...['LICENSE', 'README.md', 'bin', 'dist', 'docs', 'manifests', 'monitoring', 'package.json', 'src'],
    ]);
    expect(readdirSync(join(installed, 'dist')).sort()).toEqual(['BUILD', 'src']);
    const outside = readdirSync(join(installed, 'src'), { recursive: true, encoding: 'utf8' });
    expect(
      outside.filter(
        (path) => statSync(join(installed, 'src', path)).isFile() && !path.endsWith('README.md'),
      ),
    ).toEqual([]);
    expect(statSync(tarball).size).toBeLessThan(LARGEST);
    const { name, publishConfig } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
      name: string;
      publishConfig: unknown;
    };
    expect([name, publishConfig]).toEqual(['@muster-dev/muster', { access: 'public' }]);
  });

  test('brings the kubectl plugin, which reviews and knows its commit', async () => {
    const plugin = join(project(), 'node_modules/.bin/kubectl-muster');
    const review = await ran(plugin, 'review', '-f', join(ROOT, 'docs/examples/job.yaml'));
    expect(review).toEqual({
      code: 0,
      out: expect.stringMatching(/^1 review: 1 changed, 0 unchanged, 0 denied, 0 skipped;/m),
    });
    const version = await ran(plugin, 'version');
    expect(version.out).toContain(`muster 0.1.0 (commit ${COMMIT}, 2025-11-25T19:46:40Z)\n`);
    // It reads pages and manifests of the package.
    expect((await ran(plugin, 'explain', 'GangLabelValue')).code).toBe(0);
    expect(existsSync(join(project(), 'node_modules/.bin/muster'))).toBe(true);
  });

  test('has the page of muster dashboard, compiled, and the package that the page loads', async () => {
    const installed = join(project(), 'node_modules/@muster-dev/muster/dist/src/dashboard/page-files.js');
    const program = `const { pageFiles } = await import(${JSON.stringify(installed)}); console.log([...pageFiles().kept.keys()].map((path) => path.slice(17)).join());`;
    const { code, out } = await ran(process.execPath, '--input-type=module', '--eval', program);
    expect([code, out.trim().split(',')]).toEqual([
      0,
      expect.arrayContaining(['/style.css', '/page/main.js', '/packages/preact.mjs']),
    ]);
    expect(out).not.toContain('.ts');
  });

  test('exports what modules import, to Node and in the long form, with types, to the compiler', async () => {
    await writeFile(
      join(project(), 'mine.ts'),
      `import { PodRefused, type BackendFactory } from '@muster-dev/muster';
import { conformanceChecks } from '@muster-dev/muster/conformance';

const factory: Partial<BackendFactory> = { name: 'mine' };
console.log(typeof PodRefused, typeof conformanceChecks, factory.name);
// @ts-expect-error: a name is text.
const wrong: BackendFactory['name'] = 1;
void wrong;
`,
    );
    const compilerOptions = {
      ...{ module: 'NodeNext', target: 'ES2023', lib: ['ES2024'], strict: true, noEmit: true },
      ...{ types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')], skipLibCheck: false },
    };
    await writeFile(
      join(project(), 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['mine.ts'] }),
    );
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    if (inLength({ short: false, long: true }))
      expect(await ran(process.execPath, tsc, '-p', '.')).toEqual({ code: 0, out: '' });
    expect(await ran(process.execPath, 'mine.ts')).toEqual({ code: 0, out: 'function function mine\n' });
  });
});

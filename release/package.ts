/** The npm package, the kubectl plugin and the chart, from a folder of what git knows and what the compiler makes of it. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeArchive, copyTracked } from './archive.ts';
import { applicationFiles } from './image/application.ts';

/** Compiles into `stage`/dist, beside the files of the package. @param stamp for dist/BUILD @param compiled where it is already */
export function stagePackage(root: string, stage: string, stamp: string, compiled?: string): void {
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
  // npm packs the first three whatever package.json says.
  copyTracked(root, ['package.json', 'README.md', 'LICENSE', ...files], stage);
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const out = join(stage, 'dist');
  if (compiled !== undefined) cpSync(compiled, out, { recursive: true });
  else
    execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', out], {
      cwd: root,
      stdio: 'inherit',
    });
  writeFileSync(join(out, 'BUILD'), `${stamp}\n`);
}

/** @returns name of the .tgz in `out` */
export function packPackage(stage: string, out: string): string {
  const said = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', out], {
    cwd: stage,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 2 ** 26,
  });
  const [packed] = JSON.parse(said) as { filename: string }[];
  return packed?.filename ?? '';
}

/** The plugin: the program with the packages that it loads, in one folder that needs Node alone. */
export function packPlugin(
  root: string,
  stage: string,
  given: { readonly out: string; readonly seconds: number },
): string {
  const version = versionOf(root);
  const folder = join(stage, 'plugin');
  const put = (from: string, to: string): void => {
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    cpSync(from, join(folder, to), { recursive: true });
  };
  // Credential plugins are what most people's kubeconfigs have, so nothing is left out as it is of the image.
  for (const [path, source] of applicationFiles(root, join(stage, 'dist'), {})) put(source, path);
  for (const path of ['bin', 'docs/reference']) put(join(stage, path), path);
  const name = `kubectl-muster-${version}.tar.gz`;
  writeArchive(join(given.out, name), folder, 'kubectl-muster', given.seconds);
  rmSync(folder, { recursive: true });
  return name;
}

/** The chart as `helm package` packs it, but for the times of its files. @returns name of the archive */
export function packChart(
  root: string,
  stage: string,
  given: { readonly out: string; readonly seconds: number },
): string {
  const name = `muster-${versionOf(root)}.tgz`;
  copyTracked(root, ['charts/muster'], stage);
  writeArchive(join(given.out, name), join(stage, 'charts/muster'), 'muster', given.seconds);
  return name;
}

const versionOf = (root: string): string =>
  (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;

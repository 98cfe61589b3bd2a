/**
 * The files of the image's /app, for the Dockerfile and for build.ts alike: what `muster serve` and the other commands read,
 * and of each package only what can be loaded. `node release/image/application.ts DIST FOLDER` copies them.
 */
import { copyFileSync, globSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Packages that the image does without, each with the reason. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  '@kubernetes/client-node':
    'only kubeconfigs with a credential plugin load it; Muster says so when one is used',
};

interface Lock {
  readonly packages: Readonly<
    Record<string, { dependencies?: Record<string, string>; optionalDependencies?: Record<string, string> }>
  >;
}

/** Folders of the packages that package.json's dependencies need, as package-lock.json places them, without those of `leftOut`. */
export function productionPackages(root: string, leftOut = LEFT_OUT): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const found = new Set<string>();
  const needs = (folder: string): void => {
    const { dependencies, optionalDependencies } = packages[folder] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      if (name in leftOut) continue;
      const place = placeOf(packages, folder, name);
      if (place === undefined)
        throw new Error(
          `package-lock.json: ${folder || 'the root'} needs ${name}, which has no place; run npm install`,
        );
      if (found.has(place)) continue;
      found.add(place);
      needs(place);
    }
  };
  needs('');
  return [...found].sort();
}

/** Node looks in the package's own node_modules first, then in that of each package around it. */
function placeOf(packages: Lock['packages'], from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const place = join(folder, 'node_modules', name);
    if (place in packages) return place;
    if (folder === '') return undefined;
  }
}

const LOADED = /\.(?:[cm]?js|json|node|wasm|proto)$/;
/** Redistribution needs the licence beside the code. */
const LICENCE = /^(?:licen[cs]e|notice|copying)/i;
const NOT_LOADED = /^(?:\..*|tests?|__tests__|docs?|examples?|bench(?:marks?)?|browser)$/;

/** @returns by the path below /app, sorted, the file that is copied there */
export function applicationFiles(
  root: string,
  dist: string,
  leftOut = LEFT_OUT,
): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const add = (from: string, to: string, wanted: (path: string) => boolean): void => {
    for (const path of globSync('**', { cwd: from, exclude: (name) => name === 'node_modules' }))
      if (wanted(path) && statSync(join(from, path)).isFile()) files.set(join(to, path), join(from, path));
  };
  for (const name of ['package.json', 'LICENSE']) files.set(name, join(root, name));
  files.set('openssl.cnf', join(root, 'release', 'image', 'openssl.cnf'));
  add(join(dist, 'src'), 'dist/src', (path) => path.endsWith('.js'));
  for (const entry of globSync('*', { cwd: dist }))
    if (statSync(join(dist, entry)).isFile()) files.set(join('dist', entry), join(dist, entry));
  add(join(root, 'manifests'), 'manifests', (path) => !path.endsWith('.ts'));
  for (const folder of productionPackages(root, leftOut))
    add(join(root, folder), folder, (path) =>
      LICENCE.test(basename(path)) ? true : LOADED.test(path) && !NOT_LOADED.test(path.split('/')[0] ?? ''),
    );
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function copyApplication(root: string, dist: string, into: string): void {
  for (const [path, source] of applicationFiles(root, dist)) {
    mkdirSync(dirname(join(into, path)), { recursive: true });
    copyFileSync(source, join(into, path));
  }
}

if (process.argv[1] === import.meta.filename) {
  const [dist, into] = process.argv.slice(2);
  if (dist === undefined || into === undefined)
    throw new Error('needs two arguments: the folder of the compiled program, and the folder to fill');
  copyApplication(process.cwd(), dist, into);
}

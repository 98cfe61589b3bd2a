/** The image as `npm run image` writes it, unpacked as a runtime unpacks it, and what a test reads of it. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { assemble, buildImage } from '../../../release/image/build.ts';
import { runConfig, type RunConfig } from '../../../release/image/dockerfile.ts';
import { writeImage, type Image } from '../../../release/image/oci.ts';
import { compiledProgram } from '../../support/compiled.ts';
import { inLength } from '../../support/length.ts';

export const ROOT = join(import.meta.dirname, '../../..');
/** Commit and time that the build leaves in the image: a made one, so that the checkout's state does not matter. */
export const STAMP = ['0123456789abcdef0123456789abcdef01234567', '1767225600'] as const;

interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

interface Written {
  /** The compiled program. */
  readonly dist: string;
  readonly out: string;
  /** What a runtime unpacks. */
  readonly rootfs: string;
}

export interface Assembled extends Written {
  readonly digest: string;
  readonly layers: readonly Descriptor[];
  readonly config: RunConfig;
}

/** Configuration and layers of the image in `out`, by the way that a runtime takes from the index. */
export function readImage(out: string): Pick<Assembled, 'layers' | 'config'> {
  const json = (file: string): unknown => JSON.parse(readFileSync(join(out, 'image', file), 'utf8'));
  const blob = ({ digest }: Descriptor): unknown => json(join('blobs', digest.replace(':', '/')));
  const index = json('index.json') as { manifests: [Descriptor] };
  const manifest = blob(index.manifests[0]) as { config: Descriptor; layers: Descriptor[] };
  return { layers: manifest.layers, config: (blob(manifest.config) as { config: RunConfig }).config };
}

export async function assembled(folder: string): Promise<Assembled> {
  const [dist, out, rootfs] = ['dist', 'out', 'rootfs'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  cpSync(await compiledProgram(), dist, { recursive: true });
  writeFileSync(join(dist, 'BUILD'), `${STAMP.join(' ')}\n`);
  process.env['SOURCE_DATE_EPOCH'] = STAMP[1];
  const write = inLength({ short: writeApplication, long: buildImage });
  const { digest } = await write({ out, dist, rootfs });
  const image = readImage(out);
  mkdirSync(rootfs, { recursive: true });
  for (const layer of image.layers) {
    const file = join(out, 'image/blobs', layer.digest.replace(':', '/'));
    execFileSync('tar', ['--extract', '--gzip', '--same-permissions', '--directory', rootfs, '--file', file]);
  }
  return { dist, out, rootfs, digest, ...image };
}

/** The layer of Node takes most of the time to compress and to unpack: the short form has its files in `rootfs` at once. */
async function writeApplication({ out, dist, rootfs }: Written): Promise<Image> {
  const [runtime = '', application = ''] = assemble(`${out}-layers`, dist);
  renameSync(runtime, rootfs);
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', rootfs]);
  const [COMMIT, seconds] = STAMP;
  const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
  const { version: VERSION } = JSON.parse(read('package.json')) as { version: string };
  const config = runConfig(read('Dockerfile'), { VERSION, COMMIT });
  return writeImage([application], { config, name: `muster:${VERSION}`, seconds: Number(seconds), out });
}

/** What is in `below`, by path: the mode, and a file's content. Throws for what is neither a file nor a folder. */
export function treeOf(below: string): Map<string, { readonly mode: number; readonly sha256?: string }> {
  const found = new Map<string, { mode: number; sha256?: string }>();
  for (const entry of readdirSync(below, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const { mode, uid, gid } = statSync(path);
    // Only root may give files away, so that they are the test's own where that is run by another.
    if (uid !== process.getuid?.() || gid !== process.getgid?.())
      throw new Error(`${path} is of ${uid}:${gid}`);
    if (!entry.isDirectory() && !entry.isFile()) throw new Error(`${path} is neither a file nor a folder`);
    const content = entry.isFile() && { sha256: sha256Of(path) };
    found.set(relative(below, path), { mode: mode & 0o7777, ...content });
  }
  return found;
}

export const sha256Of = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('hex');

/**
 * The folder that the Dockerfile copies to /app: its copies and commands, carried out in `folder`, where `npm ci` and
 * `npm run build` are stood in for by what they made here.
 */
export function byDockerfile(folder: string, dist: string): string {
  const context = join(folder, 'context');
  const [, build = ''] = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').split(/^FROM /m);
  for (const [, sources = '', to = ''] of build.matchAll(/^COPY ((?:\S+ )+)(\S+)$/gm))
    for (const source of sources.trim().split(' '))
      cpSync(join(ROOT, source), join(context, to, to === './' ? source : ''), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(context, 'node_modules'));
  cpSync(join(dist, 'src'), join(context, 'dist/src'), { recursive: true });
  const [COMMIT, SOURCE_DATE_EPOCH] = STAMP;
  const [, , ...commands] = [...build.matchAll(/^RUN (.*)$/gm)].map(([, command = '']) => command);
  for (const command of commands)
    execFileSync('sh', ['-c', command.replace(/ \/image$/, ' ../docker')], {
      cwd: context,
      env: { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, COMMIT, SOURCE_DATE_EPOCH },
    });
  return join(folder, 'docker');
}

/** The megabytes in the table of docs/manifests.md. */
export function documentedSizes(): readonly number[] {
  const page = readFileSync(join(ROOT, 'docs/manifests.md'), 'utf8');
  const [, table = ''] = /<!-- sizes -->\n([^]*?)<!-- \/sizes -->/.exec(page) ?? [];
  const [, , ...rows] = table.trim().split('\n');
  return rows.map((row) => Number(row.split('|').at(-2)));
}

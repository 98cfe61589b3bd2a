/**
 * `npm run image`: compiles the program and writes its image to dist/release/image (an OCI layout) and image.tar, without
 * Docker and without a registry. The same commit, machine and lockfile give the same digest.
 *
 *   npm run image -- --out FOLDER --name registry.example/muster:0.1.0
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { copyApplication } from './application.ts';
import { runConfig } from './dockerfile.ts';
import { writeImage, type Image } from './oci.ts';
import { copyRuntime } from './runtime.ts';

const ROOT = join(import.meta.dirname, '../..');

export interface ImageOptions {
  /** Folder that image/ and image.tar are written to. */
  readonly out: string;
  /** With its tag; `muster:VERSION` by default. */
  readonly name?: string;
  /** The compiled program, where it is compiled already: a folder with src/ and BUILD. */
  readonly dist?: string;
}

const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();

/** Time of all files of the image, in seconds since 1970: what the builder asks for, or the commit's. */
function sourceDate(): number {
  const asked = process.env['SOURCE_DATE_EPOCH'];
  if (asked === undefined) return Number(git('log', '-1', '--format=%ct'));
  if (!/^\d{1,11}$/.test(asked))
    throw new Error(`SOURCE_DATE_EPOCH is "${asked}"; it is a number of whole seconds since 1970`);
  return Number(asked);
}

/** Compiles into `dist`, and leaves there which commit it is, as the Dockerfile does. */
function compile(dist: string, stamp: string): void {
  execFileSync(
    process.execPath,
    [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json', '--outDir', dist],
    { cwd: ROOT, stdio: 'inherit' },
  );
  writeFileSync(join(dist, 'BUILD'), `${stamp}\n`);
}

/** The layers' folders below `folder`, the rarely changing first. */
export function assemble(folder: string, dist: string): readonly string[] {
  const layers = [join(folder, 'runtime'), join(folder, 'application')] as const;
  copyRuntime(ROOT, layers[0]);
  copyApplication(ROOT, dist, join(layers[1], 'app'));
  return layers;
}

export async function buildImage({ out, name, dist }: ImageOptions): Promise<Image> {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const commit = git('describe', '--always', '--abbrev=40', '--exclude=*', '--dirty');
  const seconds = sourceDate();
  const work = mkdtempSync(join(tmpdir(), 'muster-image-'));
  try {
    const compiled = dist ?? join(work, 'dist');
    if (dist === undefined) compile(compiled, `${commit} ${seconds}`);
    const layers = assemble(work, compiled);
    const text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
    rmSync(join(out, 'image'), { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    return await writeImage(layers, {
      config: runConfig(text, { VERSION: version, COMMIT: commit }),
      name: name ?? `muster:${version}`,
      seconds,
      out,
    });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** What a container runtime may call an image: lower case, and a tag at the end. */
const NAME = /^[a-z0-9][a-z0-9._:/-]*:[\w][\w.-]{0,127}$/;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { out: { type: 'string' }, name: { type: 'string' } } });
  const { out = join(ROOT, 'dist/release'), name } = values;
  if (name !== undefined && !NAME.test(name))
    throw new Error(`--name "${name}" is no name with a tag; write it as registry.example/muster:0.1.0`);
  const { digest, archive, compressed } = await buildImage({ out, ...(name !== undefined && { name }) });
  process.stdout.write(`${archive}\n${digest}\n${(compressed / 1e6).toFixed(1)} MB compressed\n`);
}

if (process.argv[1] === import.meta.filename)
  await main().catch((error: unknown) => {
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  });

/** Writes an image as an OCI layout and as one archive that `ctr`, `kind`, `skopeo`, `podman` and `docker` load. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { RunConfig } from './dockerfile.ts';

const OCI = 'application/vnd.oci.image';

interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export interface Image {
  /** Of the manifest: what a registry calls the image's digest. */
  readonly digest: string;
  readonly archive: string;
  /** Bytes of the compressed layers, which are what a node pulls. */
  readonly compressed: number;
}

/** Passes bytes on and knows their count and hash. */
function counted(): { readonly through: Transform; readonly sum: () => { digest: string; size: number } } {
  const hash = createHash('sha256');
  let size = 0;
  const through = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      size += chunk.length;
      done(null, chunk);
    },
  });
  return { through, sum: () => ({ digest: `sha256:${hash.digest('hex')}`, size }) };
}

/** A tar of all that is in `folder`: the same bytes for the same files, whoever owns them and whenever they were written. */
async function tarred(
  folder: string,
  seconds: number,
  into: (tar: Readable) => Promise<void>,
): Promise<void> {
  const same = [
    '--format=ustar',
    '--sort=name',
    `--mtime=@${seconds}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
  ];
  const names = readdirSync(folder).sort();
  const tar = spawn(
    'tar',
    ['--create', ...same, '--mode=u=rwX,go=rX', '--hard-dereference', '--directory', folder, ...names],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { PATH: process.env['PATH'], LC_ALL: 'C' } },
  );
  const [, [code]] = await Promise.all([into(tar.stdout), once(tar, 'close') as Promise<[number]>]);
  if (code !== 0) throw new Error(`tar of ${folder} ended with ${code}`);
}

/**
 * @param layers folders whose content becomes a layer each, the rarely changing first
 * @param name as the container runtime shall call it, with its tag
 * @param seconds since 1970, the time of every file and of the image
 */
export async function writeImage(
  layers: readonly string[],
  given: {
    readonly config: RunConfig;
    readonly name: string;
    readonly seconds: number;
    readonly out: string;
  },
): Promise<Image> {
  const { config, name, seconds, out } = given;
  const layout = join(out, 'image');
  const blobs = join(layout, 'blobs/sha256');
  mkdirSync(blobs, { recursive: true });
  const keep = (mediaType: string, value: object): Blob => {
    const text = JSON.stringify(value);
    const hex = createHash('sha256').update(text).digest('hex');
    writeFileSync(join(blobs, hex), text);
    return { mediaType, digest: `sha256:${hex}`, size: Buffer.byteLength(text) };
  };
  const created = new Date(seconds * 1000).toISOString();
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;

  const kept: { readonly blob: Blob; readonly diffId: string }[] = [];
  for (const folder of layers) {
    const [plain, zipped] = [counted(), counted()];
    const file = join(blobs, 'layer');
    await tarred(folder, seconds, (tar) =>
      pipeline(tar, plain.through, createGzip(), zipped.through, createWriteStream(file)),
    );
    const blob = { mediaType: `${OCI}.layer.v1.tar+gzip`, ...zipped.sum() };
    renameSync(file, join(blobs, blob.digest.slice('sha256:'.length)));
    kept.push({ blob, diffId: plain.sum().digest });
  }
  const configBlob = keep(`${OCI}.config.v1+json`, {
    created,
    architecture,
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: kept.map(({ diffId }) => diffId) },
    history: kept.map(() => ({ created, created_by: 'release/image/build.ts' })),
  });
  const manifest = keep(`${OCI}.manifest.v1+json`, {
    schemaVersion: 2,
    mediaType: `${OCI}.manifest.v1+json`,
    config: configBlob,
    layers: kept.map(({ blob }) => blob),
    annotations: config.Labels,
  });
  const annotations = {
    'io.containerd.image.name': fullName(name),
    'org.opencontainers.image.ref.name': name.split(':').at(-1),
  };
  const files = {
    'oci-layout': { imageLayoutVersion: '1.0.0' },
    'index.json': {
      schemaVersion: 2,
      mediaType: `${OCI}.index.v1+json`,
      manifests: [{ ...manifest, platform: { architecture, os: 'linux' }, annotations }],
    },
    // `docker load` before 25 reads this one alone.
    'manifest.json': [
      { Config: pathOf(configBlob), RepoTags: [name], Layers: kept.map(({ blob }) => pathOf(blob)) },
    ],
  };
  for (const [file, value] of Object.entries(files)) writeFileSync(join(layout, file), JSON.stringify(value));
  const archive = join(out, 'image.tar');
  await tarred(layout, seconds, (tar) => pipeline(tar, createWriteStream(archive)));
  return {
    digest: manifest.digest,
    archive,
    compressed: kept.reduce((sum, { blob }) => sum + blob.size, 0),
  };
}

const pathOf = ({ digest }: Blob): string => `blobs/${digest.replace(':', '/')}`;

/** The name as runtimes complete it: a first part without a dot or a port is no registry. */
function fullName(name: string): string {
  const [first = '', ...rest] = name.split('/');
  if (rest.length === 0) return `docker.io/library/${name}`;
  return /[.:]|^localhost$/.test(first) ? name : `docker.io/${name}`;
}

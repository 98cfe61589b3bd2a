// `npm run release`: everything that a release consists of, into dist/release. The same commit gives the same bytes.
// On a machine that is no Debian `--no-image` leaves the image to the Dockerfile.
// With `--snapshot` whatever is in the checkout, with the notes of what is unreleased, to try it without publishing.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { buildImage } from './image/build.ts';
import { runtimePackages } from './image/runtime.ts';
import { installYaml } from './install-yaml.ts';
import { krewManifest } from './krew.ts';
import { packChart, packPackage, packPlugin, stagePackage } from './package.ts';
import { checksums, digestsOf, provenance, type Source } from './provenance.ts';
import { checkVersions, releaseNotes, ReleaseRefused, sectionOf, type Checkout } from './refusals.ts';
import { billOfMaterials } from './sbom.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trimEnd();
const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

const { values: flags } = parseArgs({
  options: {
    out: { type: 'string', default: join(ROOT, 'dist/release') },
    snapshot: { type: 'boolean', default: false },
    image: { type: 'boolean', default: true },
    url: { type: 'string' },
    repository: { type: 'string' },
    builder: { type: 'string' },
    'image-name': { type: 'string' },
  },
  allowNegative: true,
});

interface Package {
  readonly name: string;
  readonly version: string;
}
const { name, version } = JSON.parse(read('package.json')) as Package;

function checkout(): Checkout {
  const chart = parse(read('charts/muster/Chart.yaml')) as { version?: string; appVersion?: string };
  return {
    version,
    versions: {
      'package-lock.json': (JSON.parse(read('package-lock.json')) as Package).version,
      'charts/muster/Chart.yaml (version)': chart.version,
      'charts/muster/Chart.yaml (appVersion)': chart.appVersion,
    },
    changelog: read('CHANGELOG.md'),
    changes: lines(git('status', '--porcelain')),
    tags: lines(git('tag', '--points-at', 'HEAD')),
  };
}

function notes(): string {
  const state = checkout();
  if (!flags.snapshot) return releaseNotes(state);
  checkVersions(version, state.versions);
  return sectionOf(state.changelog, 'Unreleased') ?? sectionOf(state.changelog, version) ?? '\n';
}

/** The definitions of all kinds as one file, for `kubectl apply --server-side -f`. */
function definitions(): string {
  const folder = join(ROOT, 'manifests/crds');
  const files = readdirSync(folder).filter((file) => file !== 'kustomization.yaml');
  return files
    .sort()
    .map((file) => `---\n${readFileSync(join(folder, file), 'utf8')}`)
    .join('');
}

async function release(stage: string): Promise<void> {
  const text = notes();
  const out = resolve(flags.out);
  const image = flags['image-name'] ?? `muster:${version}`;
  const seconds = Number(git('show', '-s', '--format=%ct'));
  const source: Source = {
    version,
    snapshot: flags.snapshot,
    commit: git('describe', '--always', '--abbrev=40', '--exclude=*', '--dirty'),
    ...(flags.repository !== undefined && { repository: flags.repository }),
    ...(flags.builder !== undefined && { builder: flags.builder }),
  };
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const put = (file: string, content: string): void => writeFileSync(join(out, file), content);

  stagePackage(ROOT, stage, `${source.commit} ${seconds}`);
  packPackage(stage, out);
  const plugin = packPlugin(ROOT, stage, { out, seconds });
  packChart(ROOT, stage, { out, seconds });
  if (flags.image) {
    const { archive } = await buildImage({ out: stage, name: image, dist: join(stage, 'dist') });
    cpSync(archive, join(out, `muster-image-${version}-${process.platform}-${process.arch}.tar`));
  }
  put('crds.yaml', definitions());
  put('install.yaml', installYaml({ image, version }));
  put(
    'sbom.cdx.json',
    billOfMaterials(ROOT, {
      name,
      date: new Date(seconds * 1000).toISOString(),
      debian: flags.image ? runtimePackages(ROOT) : [],
    }),
  );
  put('RELEASE_NOTES.md', text);
  const sha256 = digestsOf(out).get(plugin) ?? '';
  put('kubectl-muster.yaml', krewManifest(version, { name: plugin, sha256 }, flags.url));
  put('provenance.json', provenance(ROOT, source, digestsOf(out)));
  put('SHA256SUMS', checksums(digestsOf(out)));
  process.stdout.write(`${out}\n${readFileSync(join(out, 'SHA256SUMS'), 'utf8')}`);
}

if (!existsSync(join(ROOT, 'node_modules'))) throw new Error('run npm ci first');
const stage = mkdtempSync(join(tmpdir(), 'muster-release-'));
try {
  await release(stage);
} catch (thrown) {
  if (!(thrown instanceof ReleaseRefused)) throw thrown;
  process.stderr.write(`${thrown.message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(stage, { recursive: true, force: true });
}

/** What `npm run release` refuses, and its parts that need no build. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { copyTracked, writeArchive } from '../../release/archive.ts';
import { krewManifest } from '../../release/krew.ts';
import { checksums, digestsOf, provenance } from '../../release/provenance.ts';
import { releaseNotes, sectionOf, type Checkout } from '../../release/refusals.ts';
import { billOfMaterials } from '../../release/sbom.ts';

const ROOT = join(import.meta.dirname, '../..');
const CHANGELOG = `# Changelog

## Unreleased

- What comes.

## 0.2.0 (2026-12-01)

### Added

- One thing.

## 0.1.0

`;

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-release-test-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a release is refused', () => {
  const sound: Checkout = {
    version: '0.2.0',
    versions: { 'package-lock.json': '0.2.0' },
    changelog: CHANGELOG,
    changes: [],
    tags: ['v0.2.0', 'nightly'],
  };

  test('not where all is in order: the notes are those of its version alone', () => {
    expect(releaseNotes(sound)).toBe('### Added\n\n- One thing.\n');
    expect(releaseNotes({ ...sound, tags: [] })).toBe('### Added\n\n- One thing.\n');
  });

  test.each<[string, Partial<Checkout>, string]>([
    [
      'with changes',
      { changes: [' M a.ts', '?? b c.ts', ' D d', ' M e', ' M f'] },
      'error[RELEASE_DIRTY]: the checkout has changes that are not committed: a.ts, b c.ts, d and 2 more\n' +
        'fix: commit or remove them; to try a release without publishing it: npm run release -- --snapshot',
    ],
    [
      'without a section',
      { version: '0.3.0', versions: {}, tags: [] },
      'error[RELEASE_NO_NOTES]: CHANGELOG.md has no section "## 0.3.0", and package.json has that version\n' +
        'fix: rename the section "## Unreleased" to "## 0.3.0" and begin a new one above it',
    ],
    [
      'with an empty section',
      { version: '0.1.0', versions: {}, tags: [] },
      'error[RELEASE_NO_NOTES]: CHANGELOG.md has no section "## 0.1.0", and package.json has that version\n' +
        'fix: rename the section "## Unreleased" to "## 0.1.0" and begin a new one above it',
    ],
    [
      'with the tag of another version',
      { tags: ['v0.2.1'] },
      'error[RELEASE_TAG_MISMATCH]: the commit has the tag v0.2.1, and package.json the version 0.2.0, whose tag is v0.2.0\n' +
        'fix: tag the commit whose package.json says 0.2.1, or delete the tag: git tag -d v0.2.1',
    ],
    [
      'with two versions',
      { versions: { 'package-lock.json': '0.1.0' } },
      'error[RELEASE_VERSION_MISMATCH]: package-lock.json has the version 0.1.0, and package.json 0.2.0\nfix: run npm install',
    ],
    [
      'where a file has none',
      { versions: { 'charts/muster/Chart.yaml': undefined } },
      'error[RELEASE_VERSION_MISMATCH]: charts/muster/Chart.yaml has the version (none), and package.json 0.2.0\n' +
        'fix: write 0.2.0 into charts/muster/Chart.yaml',
    ],
  ])('%s', (_, wrong, text) => {
    expect(() => releaseNotes({ ...sound, ...wrong })).toThrow(new Error(text));
  });

  test('a heading that only begins alike is another section', () => {
    expect(sectionOf('## 0.2.0-rc.1\n\na\n\n## 0.2.0\n\nb\n', '0.2.0')).toBe('b\n');
  });
});

describe('an archive', () => {
  const made = (name: string, at: number): Buffer => {
    const source = join(folder, name);
    for (const [path, mode] of [
      ['bin/run', 0o700],
      ['a.txt', 0o600],
    ] as const) {
      mkdirSync(join(source, path, '..'), { recursive: true });
      writeFileSync(join(source, path), path);
      chmodSync(join(source, path), mode);
      utimesSync(join(source, path), at, at);
    }
    writeArchive(join(folder, `${name}.tgz`), source, 'top', 1_764_100_000);
    return readFileSync(join(folder, `${name}.tgz`));
  };

  test('has the same bytes whoever made its files, and when', () => {
    expect(made('one', 1).equals(made('two', 2))).toBe(true);
    const listed = execFileSync('tar', ['--list', '--verbose', '--utc', '--file', join(folder, 'one.tgz')], {
      encoding: 'utf8',
    });
    expect(
      listed
        .trim()
        .split('\n')
        .map((line) => line.replaceAll(/ +/g, ' ')),
    ).toEqual([
      'drwxr-xr-x 0/0 0 2025-11-25 19:46 top/',
      '-rw-r--r-- 0/0 5 2025-11-25 19:46 top/a.txt',
      'drwxr-xr-x 0/0 0 2025-11-25 19:46 top/bin/',
      '-rwxr-xr-x 0/0 7 2025-11-25 19:46 top/bin/run',
    ]);
  });

  test('gets what git knows: a stray file in a folder of the package stays out', () => {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder });
    git('init', '--quiet');
    mkdirSync(join(folder, 'docs'));
    for (const file of ['docs/page.md', 'docs/stray.md', 'other.md']) writeFileSync(join(folder, file), file);
    git('add', 'docs/page.md', 'other.md');
    copyTracked(folder, ['docs'], join(folder, 'out'));
    expect(execFileSync('find', ['out', '-type', 'f'], { cwd: folder, encoding: 'utf8' })).toBe(
      'out/docs/page.md\n',
    );
  });
});

describe('checksums and provenance', () => {
  const digest = '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881';
  const source = { version: '0.2.0', commit: '89abcdef', snapshot: false };
  beforeEach(() => writeFileSync(join(folder, 'x.tgz'), 'x'));

  test('are what sha256sum reads', () => {
    const digests = digestsOf(folder);
    expect(checksums(digests)).toBe(`${digest}  x.tgz\n`);
    writeFileSync(join(folder, 'SHA256SUMS'), checksums(digests));
    expect(execFileSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd: folder, encoding: 'utf8' })).toBe(
      'x.tgz: OK\n',
    );
  });

  test('name every artefact, the commit, the lockfile and Node', () => {
    const said = JSON.parse(
      provenance(
        ROOT,
        { ...source, repository: 'https://h/o/r', builder: 'https://h/ci' },
        digestsOf(folder),
      ),
    ) as object;
    const [lock] = execFileSync('sha256sum', ['package-lock.json'], { cwd: ROOT, encoding: 'utf8' }).split(
      ' ',
    );
    expect(said).toEqual({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: 'x.tgz', digest: { sha256: digest } }],
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: {
        buildDefinition: {
          buildType: 'https://muster.dev/release/npm-run-release/v1',
          externalParameters: { version: '0.2.0', snapshot: false },
          internalParameters: { platform: `${process.platform}/${process.arch}` },
          resolvedDependencies: [
            {
              uri: 'git+https://h/o/r@refs/tags/v0.2.0',
              name: 'source',
              digest: { gitCommit: '89abcdef' },
            },
            { name: 'package-lock.json', digest: { sha256: lock } },
            {
              name: 'node',
              uri: `pkg:npm/node@${process.versions.node}`,
              digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
            },
          ],
        },
        runDetails: { builder: { id: 'https://h/ci' } },
      },
    });
  });

  test('say that there were changes', () => {
    const said = provenance(ROOT, { ...source, commit: '89abcdef-dirty', snapshot: true }, new Map());
    expect(said).toContain('"gitCommit": "89abcdef"\n');
    expect(said).toContain('"changed": true');
    expect(said).toContain('"snapshot": true');
  });
});

test('the bill of materials has the packages, Node and its libraries, and is the same twice', () => {
  const made = (): string =>
    billOfMaterials(ROOT, {
      name: '@muster-dev/muster',
      date: '2026-01-02T03:04:05Z',
      debian: ['pkg:deb/debian/libc6@2.36-9+deb12u10?arch=amd64&distro=debian-12'],
    });
  const text = made();
  expect(made()).toBe(text);
  const bom = JSON.parse(text) as {
    metadata: { timestamp: string; component: object };
    serialNumber: string;
    components: { 'bom-ref': string; purl: string; version: string }[];
    dependencies: { ref: string; dependsOn: string[] }[];
  };
  expect(bom.metadata).toMatchObject({
    timestamp: '2026-01-02T03:04:05Z',
    component: { name: '@muster-dev/muster', type: 'application' },
  });
  expect(bom.serialNumber).toMatch(
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const purls = bom.components.map(({ purl }) => purl);
  for (const [name, version] of Object.entries(dependencies))
    expect(purls).toContain(`pkg:npm/${name.replace('@', '%40')}@${version}`);
  expect(purls).toContain(`pkg:npm/node@${process.versions.node}`);
  expect(purls).toContain(`pkg:generic/openssl@${process.versions.openssl}`);
  expect(purls.filter((purl) => purl.startsWith('pkg:npm/jest@'))).toEqual([]);
  expect(bom.components.at(-1)).toMatchObject({ name: 'libc6', version: '2.36-9+deb12u10', type: 'library' });
  // Whatever is depended on is there.
  const refs = new Set(bom.components.map((component) => component['bom-ref']));
  expect(bom.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.has(ref))).toEqual([]);
  expect(refs.size).toBe(bom.components.length);
});

describe('the manifest for krew', () => {
  const archive = { name: 'kubectl-muster-0.2.0.tar.gz', sha256: 'a'.repeat(64) };

  test('has each system once, with the checksum and the URL', () => {
    const { spec } = parse(krewManifest('0.2.0', archive, 'https://h/v0.2.0')) as {
      spec: { version: string; shortDescription: string; platforms: Record<string, unknown>[] };
    };
    expect(spec.version).toBe('v0.2.0');
    // `krew` cuts longer ones.
    expect(spec.shortDescription.length).toBeLessThanOrEqual(50);
    expect(spec.platforms.map(({ selector }) => selector)).toEqual(
      ['linux', 'darwin'].flatMap((os) => ['amd64', 'arm64'].map((arch) => ({ matchLabels: { os, arch } }))),
    );
    for (const platform of spec.platforms)
      expect(platform).toMatchObject({
        uri: 'https://h/v0.2.0/kubectl-muster-0.2.0.tar.gz',
        sha256: archive.sha256,
        files: [{ from: 'kubectl-muster/*', to: '.' }],
        bin: 'bin/muster',
      });
  });

  test('is a template where nobody knows the URL yet', () => {
    expect(krewManifest('0.2.0', archive)).toContain('uri: RELEASE_URL/kubectl-muster-0.2.0.tar.gz\n');
  });
});

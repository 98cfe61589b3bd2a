/** `npm run release` from beginning to end, in a clone of the checkout that has a version of its own. */
import { execFile, execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { inLength } from '../../support/length.ts';

const ROOT = join(import.meta.dirname, '../../..');
const VERSION = '9.8.7';
const ON_DEBIAN = process.platform === 'linux' && existsSync('/usr/bin/dpkg-query');

let folder = '';
const clone = (): string => join(folder, 'clone');
const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
    cwd: clone(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const release = (...args: string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const env = { ...process.env, TZ: 'Asia/Tokyo' };
    const child = execFile(
      process.execPath,
      ['release/main.ts', ...args, ...(ON_DEBIAN ? [] : ['--no-image'])],
      { cwd: clone(), env, maxBuffer: 2 ** 26 },
      (_, out, err) => resolve({ code: child.exitCode, out, err }),
    );
  });

const replaced = (file: string, ...pairs: [string | RegExp, string][]): void => {
  const path = join(clone(), file);
  writeFileSync(
    path,
    pairs.reduce((text, [from, to]) => text.replace(from, to), readFileSync(path, 'utf8')),
  );
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-whole-release-'));
  execFileSync('git', ['clone', '--quiet', '--depth', '1', `file://${ROOT}`, clone()]);
  symlinkSync(join(ROOT, 'node_modules'), join(clone(), 'node_modules'));
  // In .gitignore it is a folder.
  appendFileSync(join(clone(), '.git/info/exclude'), '/node_modules\n');
  const version = /"version": "[^"]+"/;
  replaced('package.json', [version, `"version": "${VERSION}"`]);
  replaced('package-lock.json', [version, `"version": "${VERSION}"`], [version, `"version": "${VERSION}"`]);
  replaced(
    'charts/muster/Chart.yaml',
    [/^version: .*/m, `version: ${VERSION}`],
    [/^appVersion: .*/m, `appVersion: ${VERSION}`],
  );
  replaced('CHANGELOG.md', [
    /^## Unreleased$/m,
    `## Unreleased\n\n## ${VERSION} (2026-12-01)\n\n- One thing.\n\n## Before`,
  ]);
  git('commit', '--quiet', '--all', '--message', 'a release');
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe('npm run release', () => {
  test('is refused with its code, and writes nothing', async () => {
    const out = join(folder, 'refused');
    git('tag', 'v1.0.0');
    expect(await release('--out', out)).toEqual({
      code: 1,
      out: '',
      err:
        `error[RELEASE_TAG_MISMATCH]: the commit has the tag v1.0.0, and package.json the version ${VERSION}, whose tag is v${VERSION}\n` +
        'fix: tag the commit whose package.json says 1.0.0, or delete the tag: git tag -d v1.0.0\n',
    });
    git('tag', '--delete', 'v1.0.0');
    writeFileSync(join(clone(), 'new.ts'), '');
    expect((await release('--out', out)).err).toMatch(/^error\[RELEASE_DIRTY\]: .*: new\.ts\nfix: /);
    rmSync(join(clone(), 'new.ts'));
    expect(existsSync(out)).toBe(false);
  });

  const twice = inLength({ short: test.skip, long: test });
  if (twice === test.skip) process.stderr.write('SKIPPED: two whole releases are dear: npm run test:long\n');

  twice(
    'makes every artefact, the same twice',
    async () => {
      const [one, two] = [join(folder, 'one'), join(folder, 'two')];
      for (const out of [one, two]) {
        const { code, err } = await release('--out', out, '--url', `https://example.com/v${VERSION}`);
        expect([code, err]).toEqual([0, '']);
      }
      const sums = readFileSync(join(one, 'SHA256SUMS'), 'utf8');
      expect(readFileSync(join(two, 'SHA256SUMS'), 'utf8')).toBe(sums);
      expect(
        execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: one, encoding: 'utf8' }),
      ).toBe('');
      expect(readdirSync(one)).toEqual(
        [
          ...[
            'RELEASE_NOTES.md',
            'SHA256SUMS',
            'crds.yaml',
            'install.yaml',
            'kubectl-muster.yaml',
            'provenance.json',
            'sbom.cdx.json',
          ],
          ...[
            `kubectl-muster-${VERSION}.tar.gz`,
            `muster-${VERSION}.tgz`,
            `muster-dev-muster-${VERSION}.tgz`,
          ],
          ...(ON_DEBIAN ? [`muster-image-${VERSION}-${process.platform}-${process.arch}.tar`] : []),
        ].sort(),
      );
      expect(readFileSync(join(one, 'RELEASE_NOTES.md'), 'utf8')).toBe('- One thing.\n');
      const { subject, predicate } = JSON.parse(readFileSync(join(one, 'provenance.json'), 'utf8')) as {
        subject: { name: string; digest: { sha256: string } }[];
        predicate: { buildDefinition: { resolvedDependencies: { digest: object }[] } };
      };
      // All but the statement itself.
      expect(subject.map(({ name, digest }) => `${digest.sha256}  ${name}`)).toEqual(
        sums
          .trimEnd()
          .split('\n')
          .filter((line) => !line.endsWith(' provenance.json')),
      );
      const commit = git('rev-parse', 'HEAD').trim();
      expect(predicate.buildDefinition.resolvedDependencies[0]?.digest).toEqual({ gitCommit: commit });
      // The plugin runs from its archive alone.
      execFileSync('tar', ['--extract', '--file', `kubectl-muster-${VERSION}.tar.gz`], { cwd: one });
      const said = execFileSync(process.execPath, ['kubectl-muster/bin/muster', 'version'], {
        cwd: one,
        encoding: 'utf8',
      });
      expect(said).toContain(`muster ${VERSION} (commit ${commit}, 20`);
    },
    600_000,
  );
});

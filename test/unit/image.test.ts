/** The Dockerfile and the script that assembles the image without it, as texts and lists of files. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { applicationFiles, LEFT_OUT, productionPackages } from '../../release/image/application.ts';
import { runConfig } from '../../release/image/dockerfile.ts';
import { librariesIn } from '../../release/image/runtime.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const text = read('Dockerfile');

interface Stage {
  readonly name: string;
  readonly steps: [string, string][];
}

const stages: Stage[] = [];
for (const line of text.replace(/\\\n/g, ' ').split('\n')) {
  const [, word = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
  if (word === 'FROM') stages.push({ name: / AS (\S+)$/.exec(rest)?.[1] ?? 'runtime', steps: [] });
  else if (word !== '') stages.at(-1)?.steps.push([word, rest]);
}
const steps = (stage: string, word: string): string[] =>
  (stages.find(({ name }) => name === stage)?.steps ?? [])
    .filter(([one]) => one === word)
    .map(([, rest]) => rest);

describe('Dockerfile', () => {
  test('builds in one stage, and keeps only what application.ts chooses', () => {
    expect(stages.map(({ name }) => name)).toEqual(['build', 'runtime']);
    expect(steps('build', 'RUN')).toEqual([
      'npm ci --ignore-scripts',
      'npm run build',
      'echo "$COMMIT $SOURCE_DATE_EPOCH" > dist/BUILD',
      'node release/image/application.ts dist /image',
    ]);
    expect(steps('runtime', 'RUN')).toEqual([]);
    expect(steps('runtime', 'COPY')).toEqual(['--from=build /image ./']);
    expect(steps('runtime', 'WORKDIR')).toEqual(['/app']);
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    const version = engines.node.replace('>=', '');
    expect(text).toContain(`ARG BUILD_IMAGE=docker.io/library/node:${version}-slim\n`);
    expect(text).toMatch(
      new RegExp(`^ARG RUNTIME_IMAGE=gcr.io/distroless/nodejs${version}-debian13:nonroot$`, 'm'),
    );
  });

  test('copies files that exist, none of them secret, and .dockerignore lets exactly those in', () => {
    const copied = steps('build', 'COPY').flatMap((rest) => rest.split(/\s+/).slice(0, -1));
    expect(copied.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
    const ignore = read('.dockerignore')
      .split('\n')
      .filter((line) => line && !line.startsWith('#'));
    expect(ignore[0]).toBe('*');
    expect(new Set(ignore.slice(1).map((line) => line.replace('!', '')))).toEqual(new Set(copied));
    expect(text).not.toMatch(/\b(ADD|SECRET|TOKEN|PASSWORD)\b|\.key\b|--no-check|:latest/);
  });

  test('says how the image is run, as the Deployment’s user and Node first', () => {
    const deployment = parse(read('manifests/base/deployment.yaml').split('\n---\n')[0] ?? '') as {
      spec: { template: { spec: { securityContext: { runAsUser: number } } } };
    };
    const user = deployment.spec.template.spec.securityContext.runAsUser;
    expect(runConfig(text, { VERSION: '1.2.3', COMMIT: 'abc' })).toEqual({
      User: `${user}:${user}`,
      ExposedPorts: { '9443/tcp': {}, '8081/tcp': {}, '8080/tcp': {} },
      Env: [
        'NODE_ENV=production',
        'MALLOC_ARENA_MAX=1',
        'MALLOC_MMAP_THRESHOLD_=131072',
        'OPENSSL_CONF=/app/openssl.cnf',
      ],
      Entrypoint: [
        '/nodejs/bin/node',
        '--max-semi-space-size=8',
        '--heap-growing-percent=60',
        '--external-memory-accounted-in-global-limit',
        '--v8-pool-size=0',
        '/app/dist/src/main.js',
      ],
      Cmd: ['serve', '--help'],
      WorkingDir: '/app',
      Labels: {
        'org.opencontainers.image.licenses': (JSON.parse(read('package.json')) as { license: string })
          .license,
        'org.opencontainers.image.revision': 'abc',
        'org.opencontainers.image.title': 'muster',
        'org.opencontainers.image.version': '1.2.3',
      },
    });
  });

  test('an argument without a value and a missing instruction are named', () => {
    expect(() => runConfig(text, { VERSION: '1.2.3' })).toThrow(
      "the Dockerfile's ARG COMMIT has no value here",
    );
    expect(() => runConfig(text.replace(/^USER.*$/m, ''), { VERSION: '1', COMMIT: 'a' })).toThrow(
      "the Dockerfile's last stage has no USER",
    );
  });
});

describe('packages of the image', () => {
  const packages = productionPackages(ROOT);
  const manifestOf = (folder: string) =>
    JSON.parse(read(join(folder, 'package.json'))) as {
      dependencies?: Record<string, string>;
      devDependencies?: Record<string, string>;
    };

  test('are all that the program and each other need, but for those left out', () => {
    const present = new Set(packages);
    const missing = ['', ...packages].flatMap((folder) =>
      Object.keys(manifestOf(folder).dependencies ?? {})
        .filter((name) => {
          const around = folder
            .split(/(?=node_modules\/)/)
            .map((_, at, parts) => parts.slice(0, at + 1).join(''));
          return !['', ...around].some((at) => present.has(join(at, 'node_modules', name)));
        })
        .map((name) => `${folder || 'package.json'} needs ${name}`),
    );
    expect(missing).toEqual(Object.keys(LEFT_OUT).map((name) => `package.json needs ${name}`));
  });

  test('are no compiler, no test runner, and need no install script', () => {
    const { devDependencies = {} } = manifestOf('');
    for (const name of ['typescript', 'jest', 'eslint', 'node']) {
      expect(devDependencies).toHaveProperty([name]);
      expect(packages).not.toContain(`node_modules/${name}`);
    }
    const lock = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { hasInstallScript?: boolean }>;
    };
    // Its script compares versions and warns; it builds nothing.
    expect(packages.filter((folder) => lock.packages[folder]?.hasInstallScript)).toEqual([
      'node_modules/protobufjs',
    ]);
  });

  test('come with their licences and without what is never loaded', () => {
    const files = [...applicationFiles(ROOT, join(ROOT, 'no-dist')).keys()];
    const unlicensed = packages.filter(
      (folder) =>
        !files.some((file) => file.startsWith(`${folder}/`) && /\/(licen[cs]e|copying)[^/]*$/i.test(file)),
    );
    // Its package.json alone says MIT; it has no file of it.
    expect(unlicensed).toEqual(['node_modules/abstract-logging']);
    expect(files.filter((file) => /\.([cm]?ts|map|markdown)$|\/(tests?|docs)\//.test(file))).toEqual([]);
  });
});

describe('what cannot be assembled is refused with the way out', () => {
  const build = (args: readonly string[], env: Readonly<Record<string, string>> = {}): string => {
    const { status, stderr } = spawnSync(process.execPath, ['release/image/build.ts', ...args], {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...process.env, ...env },
    });
    expect(status).toBe(2);
    return stderr;
  };

  test.each(['muster', 'Muster:1', 'muster:-1', 'muster:1 2'])('the name %j', (name) => {
    expect(build(['--name', name])).toBe(
      `error: --name "${name}" is no name with a tag; write it as registry.example/muster:0.1.0\n`,
    );
  });

  test('a time that is no number, and a flag that there is not', () => {
    expect(build([], { SOURCE_DATE_EPOCH: 'today' })).toBe(
      'error: SOURCE_DATE_EPOCH is "today"; it is a number of whole seconds since 1970\n',
    );
    expect(build(['--tag', 'x'])).toMatch(/^error: Unknown option '--tag'/);
  });

  test('a library that is not here', () => {
    const said = '\tlinux-vdso.so.1 (0x00007f)\n\tlibatomic.so.1 => not found\n\t/lib64/ld.so.2 (0x00007f)\n';
    expect(() => librariesIn(said)).toThrow(
      'Node needs libatomic.so.1, which this machine does not have; install the Debian package that has it',
    );
    expect(librariesIn(said.replace('not found', '/lib/libatomic.so.1 (0x0f)'))).toEqual([
      '/lib/libatomic.so.1',
      '/lib64/ld.so.2',
    ]);
  });

  test('a lockfile that does not fit package.json', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'muster-lock-'));
    const packages = { '': { dependencies: { zod: '4' } } };
    await writeFile(join(folder, 'package-lock.json'), JSON.stringify({ packages }));
    expect(() => productionPackages(folder)).toThrow(
      'package-lock.json: the root needs zod, which has no place; run npm install',
    );
  });
});

/** `npm run image`: the image is assembled, is the same each time, and serves under runc as a Pod would run it. */
import { createHash } from 'node:crypto';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { copyApplication } from '../../../release/image/application.ts';
import { buildImage } from '../../../release/image/build.ts';
import type { RunConfig } from '../../../release/image/dockerfile.ts';
import { writeImage } from '../../../release/image/oci.ts';
import { inLength } from '../../support/length.ts';
import { developmentCertificates, expectGolden, until } from '../server/running.ts';
import { MUTATE_POD, goldenText } from '../server/bodies.ts';
import { Wire, httpRequest } from '../server/wire.ts';
import { defaultSeccomp, noContainers, runContainer, type Container } from './container.ts';

jest.setTimeout(180_000);
const ROOT = join(import.meta.dirname, '../../..');
/** Commit and time that the build leaves in the image: a made one, so that the checkout's state does not matter. */
const STAMP = ['0123456789abcdef0123456789abcdef01234567', '1767225600'] as const;
const SECONDS = Number(STAMP[1]);
/** Who the files belong to once they are unpacked: only root may give them away. */
const OWNER = process.getuid?.() ?? 0;

interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

let folder: string;
let dist: string;
let rootfs: string;
let digest: string;
let layers: readonly Descriptor[];
let config: RunConfig;

const blob = (out: string, { digest: of }: Descriptor): unknown =>
  JSON.parse(readFileSync(join(out, 'image/blobs', of.replace(':', '/')), 'utf8'));

/** The layers of the image in `out`, by the way that a runtime takes from the index. */
function layersOf(out: string): readonly Descriptor[] {
  const index = JSON.parse(readFileSync(join(out, 'image/index.json'), 'utf8')) as {
    manifests: [Descriptor];
  };
  const manifest = blob(out, index.manifests[0]) as { config: Descriptor; layers: Descriptor[] };
  config = (blob(out, manifest.config) as { config: RunConfig }).config;
  return manifest.layers;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'muster-image-test-'));
  dist = join(folder, 'dist');
  // Types are the business of `npm run typecheck`.
  execFileSync(
    process.execPath,
    ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', dist, '--noCheck'],
    { cwd: ROOT },
  );
  writeFileSync(join(dist, 'BUILD'), `${STAMP.join(' ')}\n`);
  const out = join(folder, 'out');
  process.env['SOURCE_DATE_EPOCH'] = STAMP[1];
  ({ digest } = await buildImage({ out, dist }));
  layers = layersOf(out);
  rootfs = join(folder, 'rootfs');
  mkdirSync(rootfs);
  for (const layer of layers)
    execFileSync('tar', [
      '--extract',
      '--gzip',
      '--same-permissions',
      '--directory',
      rootfs,
      '--file',
      join(out, 'image/blobs', layer.digest.replace(':', '/')),
    ]);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** What is in `folder`, by path: mode and content of files, target of links. */
function treeOf(below: string): Map<string, { readonly mode: number; readonly sha256: string }> {
  const found = new Map<string, { mode: number; sha256: string }>();
  for (const entry of readdirSync(below, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) continue;
    // A link or a device would be neither: the image has none.
    expect({ path, file: entry.isFile() }).toEqual({ path, file: true });
    const { mode, uid, gid } = statSync(path);
    expect({ path, uid, gid }).toEqual({ path, uid: OWNER, gid: OWNER });
    const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
    found.set(relative(below, path), { mode: mode & 0o7777, sha256 });
  }
  return found;
}

const muster = (...args: string[]): { status: number | null; stderr: string; stdout: string } =>
  spawnSync(process.execPath, [join(rootfs, 'app/dist/src/main.js'), ...args], {
    encoding: 'utf8',
    cwd: folder,
    env: { PATH: '' },
  });

describe('the image', () => {
  let tree: ReturnType<typeof treeOf>;
  beforeAll(() => {
    tree = treeOf(rootfs);
  });

  test('has Node, which is npm’s own byte for byte, its libraries, and no other program', () => {
    const program = readFileSync(join(ROOT, 'node_modules/node/bin/node'));
    expect(tree.get('nodejs/bin/node')?.sha256).toBe(createHash('sha256').update(program).digest('hex'));
    const outside = [...tree.keys()].filter((path) => !path.startsWith('app/'));
    const libraries = outside.filter((path) => /^lib(64)?\//.test(path)).map((path) => basename(path));
    expect(libraries).toEqual(expect.arrayContaining(['libatomic.so.1', 'libc.so.6', 'libstdc++.so.6']));
    expect(libraries.filter((name) => !/^(lib[\w+-]+|ld-linux-[\w-]+)\.so\.\d+$/.test(name))).toEqual([]);
    expect(
      outside.filter((path) => !/^(lib(64)?|var\/lib\/dpkg\/status\.d|usr\/share\/doc)\//.test(path)).sort(),
    ).toEqual([
      'etc/debian_version',
      'etc/group',
      'etc/nsswitch.conf',
      'etc/os-release',
      'etc/passwd',
      'nodejs/bin/node',
    ]);
    expect(readFileSync(join(rootfs, 'etc/passwd'), 'utf8')).toContain(`:${config.User}:`);
  });

  test('is as large as docs/manifests.md says, and at most 190 MB', () => {
    const [, table = ''] =
      /<!-- sizes -->\n([^]*?)<!-- \/sizes -->/.exec(readFileSync(join(ROOT, 'docs/manifests.md'), 'utf8')) ??
      [];
    const documented = table
      .trim()
      .split('\n')
      .slice(2)
      .map((row) => Number(row.split('|').at(-2)));
    const bytes = [0, 0, 0, 0];
    for (const path of tree.keys()) {
      const row = path.startsWith('nodejs/')
        ? 0
        : !path.startsWith('app/')
          ? 1
          : path.startsWith('app/node_modules/')
            ? 2
            : 3;
      bytes[row] = (bytes[row] ?? 0) + statSync(join(rootfs, path)).size;
    }
    const all = bytes.reduce((sum, one) => sum + one, 0);
    const compressed = layers.reduce((sum, { size }) => sum + size, 0);
    const measured = [...bytes, all, compressed].map((size) => size / 1e6);
    // Every commit changes the program a little; a megabyte more is news.
    const near = (at: number): boolean => Math.abs((measured[at] ?? NaN) - (documented[at] ?? NaN)) <= 1.5;
    expect({ documented, measured, near: documented.map((_, at) => near(at)) }).toEqual({
      documented,
      measured,
      near: [true, true, true, true, true, true],
    });
    expect(all).toBeLessThan(190e6);
  });

  test('lets nobody but root write, and has nothing that gives rights', () => {
    const modes = new Set([...tree.values()].map(({ mode }) => mode.toString(8)));
    expect([...modes].sort()).toEqual(['644', '755']);
    expect(readdirSync(rootfs).sort()).toEqual(['app', 'etc', 'lib', 'lib64', 'nodejs', 'usr', 'var']);
  });

  test('has in /app what the Dockerfile puts there', () => {
    const context = join(folder, 'context');
    const [, build = ''] = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').split(/^FROM /m);
    for (const [, sources = '', to = ''] of build.matchAll(/^COPY ((?:\S+ )+)(\S+)$/gm))
      for (const source of sources.trim().split(' '))
        cpSync(join(ROOT, source), join(context, to, to === './' ? source : ''), { recursive: true });
    // `npm ci` and `npm run build` are stood in for by what they made here.
    symlinkSync(join(ROOT, 'node_modules'), join(context, 'node_modules'));
    cpSync(join(dist, 'src'), join(context, 'dist/src'), { recursive: true });
    const [, , ...rest] = [...build.matchAll(/^RUN (.*)$/gm)].map(([, command = '']) => command);
    const [COMMIT, SOURCE_DATE_EPOCH] = STAMP;
    for (const command of rest)
      execFileSync('sh', ['-c', command.replace(/ \/image$/, ' ../docker')], {
        cwd: context,
        env: { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, COMMIT, SOURCE_DATE_EPOCH },
      });
    const sums = (below: string): string[] =>
      [...treeOf(below)].map(([path, { sha256 }]) => `${sha256} ${path}`).sort();
    expect(sums(join(folder, 'docker'))).toEqual(sums(join(rootfs, 'app')));
  });

  test('has every module that the program may load, but the one for credential plugins', () => {
    const entries = [
      'main.js',
      'modules/host.js',
      'preview/program.js',
      'controller/preemption/plan-thread.js',
    ];
    const script = `
      import { globSync } from 'node:fs';
      for (const file of globSync('**/*.js', { cwd: process.argv[1] }))
        if (!${JSON.stringify(entries)}.includes(file))
          await import(process.argv[1] + '/' + file).catch((error) => console.log(file, error.code, error.message));`;
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', script, join(rootfs, 'app/dist/src')],
      { encoding: 'utf8', cwd: folder },
    );
    expect(stderr).toBe('');
    expect(stdout).toMatch(
      /^kube\/client\/credential-plugin\.js ERR_MODULE_NOT_FOUND Cannot find package '@kubernetes\/client-node'.*\n$/,
    );
  });

  test('says which commit it is', () => {
    expect(JSON.parse(muster('version', '-o', 'json').stdout)).toMatchObject({
      commit: STAMP[0],
      date: '2026-01-01T00:00:00Z',
    });
  });

  test.each(['exec', 'auth-provider'])('refuses a kubeconfig with %s, and says what to do', (plugin) => {
    const file = join(folder, 'kubeconfig');
    const kubeconfig = {
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'alice' } }],
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      users: [{ name: 'alice', user: { [plugin]: {} } }],
    };
    writeFileSync(file, JSON.stringify(kubeconfig));
    const { status, stderr } = muster('status', 'ml/train', '--kubeconfig', file);
    expect(stderr).toBe(
      `error[CLUSTER_UNREACHABLE]: ${file}: user "alice" has ${plugin}, and Muster's image has no @kubernetes/client-node to ask a credential plugin with\n` +
        'fix: In the image give the user a token, a tokenFile or a client certificate; with a plugin run Muster from its npm package.\n',
    );
    expect(status).toBe(3);
  });

  test('is the same again, whatever the time, the zone and the mask of the user', async () => {
    const mask = process.umask(0o077);
    const zone = process.env['TZ'];
    process.env['TZ'] = 'Asia/Kathmandu';
    try {
      const out = join(folder, 'again');
      if (inLength({ short: false, long: true }))
        expect((await buildImage({ out, dist })).digest).toBe(digest);
      else {
        // The other layer is Node and takes most of the time: `npm run test:long` makes that twice too.
        const app = join(folder, 'app-layer');
        copyApplication(ROOT, dist, join(app, 'app'));
        await writeImage([app], { config, name: 'muster:again', seconds: SECONDS, out });
        expect(layersOf(out)).toEqual(layers.slice(1));
      }
    } finally {
      process.umask(mask);
      if (zone === undefined) delete process.env['TZ'];
      else process.env['TZ'] = zone;
    }
  });

  const skopeo = spawnSync('skopeo', ['--version']).status === 0;
  (skopeo ? test : test.skip)(`is read by other tools${skopeo ? '' : ' (skopeo is not here)'}`, () => {
    const inspect = (...args: string[]): { Digest: string; Layers: string[]; Name: string } =>
      JSON.parse(execFileSync('skopeo', ['inspect', ...args], { encoding: 'utf8' })) as never;
    const archive = join(folder, 'out/image.tar');
    expect(inspect(`oci-archive:${archive}`)).toMatchObject({
      Digest: digest,
      Layers: layers.map((layer) => layer.digest),
    });
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    const loaded = JSON.parse(
      execFileSync('skopeo', ['inspect', '--config', `docker-archive:${archive}:muster:${version}`], {
        encoding: 'utf8',
      }),
    ) as { config: RunConfig };
    expect(loaded.config).toEqual(config);
  });
});

const unable = noContainers();
(unable === undefined ? describe : describe.skip)(
  `under runc${unable === undefined ? '' : ` (${unable})`}`,
  () => {
    let container: Container;
    afterAll(() => {
      container.remove();
    });

    test('is ready, prepares a Pod over TLS without a right or a shell, and drains on SIGTERM', async () => {
      const own = join(folder, 'config');
      mkdirSync(own);
      const address = '{ bindAddress: 127.0.0.1 }';
      writeFileSync(
        join(own, 'config.yaml'),
        `apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
logFormat: json
server:
  webhooks: { bindAddress: 127.0.0.1, drain: { seconds: 1, maxSeconds: 5 } }
  healthProbes: ${address}
  metrics: ${address}
`,
      );
      const certificates = await developmentCertificates();
      spawnSync('chown', ['-R', config.User, certificates]);
      const ports = ['--port=0', '--health-port=0', '--metrics-port=0'];
      container = runContainer({
        folder,
        rootfs,
        config,
        args: [
          'serve',
          '--no-controller',
          '--config=/etc/muster/config/config.yaml',
          '--cert-dir=/etc/muster/certs',
          ...ports,
        ],
        mounts: { '/etc/muster/config': own, '/etc/muster/certs': certificates },
      });
      const serving = (): { webhooks: number; health: number } | undefined => {
        const line = container
          .output()
          .split('\n')
          .find((one) => one.includes('"msg":"serving"') && one.endsWith('}'));
        return line === undefined
          ? undefined
          : (JSON.parse(line) as { ports: never; webhooks: number; health: number });
      };
      await until('it serves', () => {
        if (container.runc.exitCode !== null) throw new Error(`it ended: ${container.output()}`);
        return serving() !== undefined;
      });
      const { webhooks = 0, health = 0 } = serving() ?? {};
      expect((await fetch(`http://127.0.0.1:${health}/readyz`)).status).toBe(200);
      const wire = await Wire.open(webhooks);
      expectGolden(await wire.send(httpRequest(MUTATE_POD, goldenText)).answer());
      wire.destroy();

      const none = '0000000000000000';
      expect(container.status()).toMatchObject({
        Uid: '65532\t65532\t65532\t65532',
        Gid: '65532\t65532\t65532\t65532',
        NSpid: expect.stringMatching(/\t1$/),
        ...{ CapInh: none, CapPrm: none, CapEff: none, CapBnd: none, CapAmb: none },
        NoNewPrivs: '1',
        Seccomp: defaultSeccomp() === undefined ? '0' : '2',
      });
      expect(container.mounts()).toMatch(/ \/ \/ ro[,\s]|rootfs \/ ro,/);
      container.runc.kill('SIGTERM');
      expect(await container.exited).toBe(0);
      expect(container.output()).toMatch(/"msg":"drained"\}\n$/);
    });
  },
);

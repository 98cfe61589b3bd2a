/** `npm run image`: the image is assembled, is the same each time, and serves under runc as a Pod would run it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { copyApplication } from '../../../release/image/application.ts';
import { buildImage } from '../../../release/image/build.ts';
import type { RunConfig } from '../../../release/image/dockerfile.ts';
import { writeImage } from '../../../release/image/oci.ts';
import { inLength } from '../../support/length.ts';
import { developmentCertificates, expectGolden, until } from '../server/running.ts';
import { MUTATE_POD, goldenText } from '../server/bodies.ts';
import { Wire, httpRequest } from '../server/wire.ts';
import {
  assembled,
  byDockerfile,
  documentedSizes,
  readImage,
  ROOT,
  sha256Of,
  STAMP,
  treeOf,
  type Assembled,
} from './assembled.ts';
import { defaultSeccomp, noContainers, serveInContainer, type Container } from './container.ts';

jest.setTimeout(300_000);

let folder: string;
let image: Assembled;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'muster-image-test-'));
  image = await assembled(folder);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const muster = (...args: string[]): { status: number | null; stderr: string; stdout: string } =>
  spawnSync(process.execPath, [join(image.rootfs, 'app/dist/src/main.js'), ...args], {
    encoding: 'utf8',
    cwd: folder,
    env: { PATH: '' },
  });

describe('the image', () => {
  let tree: ReturnType<typeof treeOf>;
  let files: readonly string[];
  beforeAll(() => {
    tree = treeOf(image.rootfs);
    files = [...tree].filter(([, { sha256 }]) => sha256 !== undefined).map(([path]) => path);
  });

  test('has Node, which is npm’s own byte for byte, its libraries, and no other program', () => {
    expect(tree.get('nodejs/bin/node')?.sha256).toBe(sha256Of(join(ROOT, 'node_modules/node/bin/node')));
    const outside = files.filter((path) => !path.startsWith('app/'));
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
    expect(readFileSync(join(image.rootfs, 'etc/passwd'), 'utf8')).toContain(`:${image.config.User}:`);
  });

  test('is as large as docs/manifests.md says, and at most 190 MB', () => {
    const documented = documentedSizes();
    const parts = [/^nodejs\//, /^(?!nodejs|app)/, /^app\/node_modules\//, /^app\/(?!node_modules)/];
    const sizeOf = (path: string): number => statSync(join(image.rootfs, path)).size;
    const bytes = parts.map((part) =>
      files.filter((path) => part.test(path)).reduce((sum, path) => sum + sizeOf(path), 0),
    );
    const all = bytes.reduce((sum, one) => sum + one, 0);
    const compressed = image.layers.reduce((sum, { size }) => sum + size, 0);
    const measured = [...bytes, all, ...inLength({ short: [], long: [compressed] })].map(
      (size) => size / 1e6,
    );
    // Every commit changes the program a little; a megabyte more is news.
    const far = measured.filter((size, at) => !(Math.abs(size - (documented[at] ?? NaN)) <= 1.5));
    expect({ documented, measured, far }).toEqual({ documented, measured, far: [] });
    expect(documented).toHaveLength(6);
    expect(all).toBeLessThan(190e6);
  });

  test('lets nobody but root write, and has nothing that gives rights', () => {
    const modes = new Set([...tree.values()].map(({ mode }) => mode.toString(8)));
    expect([...modes].sort()).toEqual(['644', '755']);
    expect(readdirSync(image.rootfs).sort()).toEqual(['app', 'etc', 'lib', 'lib64', 'nodejs', 'usr', 'var']);
  });

  test('has in /app what the Dockerfile puts there', () => {
    const sums = (below: string): string[] =>
      [...treeOf(below)].map(([path, { sha256 }]) => `${sha256} ${path}`).sort();
    expect(sums(byDockerfile(folder, image.dist))).toEqual(sums(join(image.rootfs, 'app')));
  });

  test('has every module that the program may load, but the one for credential plugins', () => {
    // Entries of processes, and of the page in a browser.
    const entries = [
      'main.js',
      'dashboard/page/main.js',
      'dashboard/page/first-stream.js',
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
      ['--input-type=module', '--eval', script, join(image.rootfs, 'app/dist/src')],
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
        expect((await buildImage({ out, dist: image.dist })).digest).toBe(image.digest);
      else {
        const app = join(folder, 'app-layer');
        copyApplication(ROOT, image.dist, join(app, 'app'));
        await writeImage([app], {
          config: image.config,
          name: 'muster:again',
          seconds: Number(STAMP[1]),
          out,
        });
        expect(readImage(out).layers).toEqual(image.layers);
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
    const archive = join(image.out, 'image.tar');
    expect(inspect(`oci-archive:${archive}`)).toMatchObject({
      Digest: image.digest,
      Layers: image.layers.map((layer) => layer.digest),
    });
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    const loaded = JSON.parse(
      execFileSync('skopeo', ['inspect', '--config', `docker-archive:${archive}:muster:${version}`], {
        encoding: 'utf8',
      }),
    ) as { config: RunConfig };
    expect(loaded.config).toEqual(image.config);
  });
});

const unable = noContainers();
(unable === undefined ? describe : describe.skip)(
  `under runc${unable === undefined ? '' : ` (${unable})`}`,
  () => {
    let container: Container | undefined;
    afterAll(() => {
      container?.remove();
    });

    test('is ready, prepares a Pod over TLS without a right or a shell, and drains on SIGTERM', async () => {
      const running = serveInContainer(folder, image, await developmentCertificates());
      container = running;
      const serving = (): { webhooks: number; health: number } | undefined => {
        const line = /^\{.*"msg":"serving"\}$/m.exec(running.output())?.[0];
        return line === undefined ? undefined : (JSON.parse(line) as { webhooks: number; health: number });
      };
      await until('it serves', () => {
        if (running.runc.exitCode !== null) throw new Error(`it ended: ${running.output()}`);
        return serving() !== undefined;
      });
      const { webhooks = 0, health = 0 } = serving() ?? {};
      expect((await fetch(`http://127.0.0.1:${health}/readyz`)).status).toBe(200);
      const wire = await Wire.open(webhooks);
      let tickets = 0;
      wire.socket.on('session', () => (tickets += 1));
      expectGolden(await wire.send(httpRequest(MUTATE_POD, goldenText)).answer());
      expect(tickets).toBe(0);
      wire.destroy();

      const none = '0000000000000000';
      expect(running.status()).toMatchObject({
        Uid: '65532\t65532\t65532\t65532',
        Gid: '65532\t65532\t65532\t65532',
        NSpid: expect.stringMatching(/\t1$/),
        ...{ CapInh: none, CapPrm: none, CapEff: none, CapBnd: none, CapAmb: none },
        NoNewPrivs: '1',
        Seccomp: defaultSeccomp() === undefined ? '0' : '2',
      });
      expect(running.mounts()).toMatch(/rootfs \/ ro[, ]/);
      running.runc.kill('SIGTERM');
      expect(await running.exited).toBe(0);
      expect(running.output()).toMatch(/"msg":"drained"\}\n$/);
    });
  },
);

/** The pages that people follow command by command: each block is run by a shell as a reader would. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Serving } from '../support/serving.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { startLoopingReplica } from './support/looping-muster.ts';
import { Page, readersShell, steady } from './support/page.ts';
import { certificateDirectory, register } from './support/registered-muster.ts';

const FIRST_HOUR = new Page('docs/first-hour.md');
const AT_NIGHT = new Page('docs/three-in-the-morning.md');
const DEPLOYMENT = '/apis/apps/v1/namespaces/muster-system/deployments/muster';
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1';

clusterSuite('pages that are followed command by command', () => {
  let plane: ControlPlane;
  let shell: Awaited<ReturnType<typeof readersShell>>;
  let muster: Serving | undefined;
  let certificates: Awaited<ReturnType<typeof certificateDirectory>> | undefined;
  const ran = new Set<string>();

  const run = async (page: Page, name: string, code = 0): Promise<string> => {
    ran.add(name);
    const result = await shell(page.commands(name));
    if (result.code !== code) throw new Error(`"${name}" ended with ${result.code}: ${result.out}`);
    return result.out;
  };
  const caBundles = async (): Promise<string[]> => {
    const both = await Promise.all(
      ['mutating', 'validating'].map((kind) =>
        plane.client.ok<{ webhooks: { clientConfig: { caBundle: string } }[] }>(
          'GET',
          `${WEBHOOKS}/${kind}webhookconfigurations/muster`,
        ),
      ),
    );
    return both.flatMap(({ webhooks }) => webhooks.map(({ clientConfig }) => clientConfig.caBundle));
  };
  /** That the API server trusts what Muster would serve, and by the name that it calls. */
  const trusted = async (): Promise<void> => {
    const made = join(plane.dir, 'checkout', 'certs', 'out');
    const ca = await readFile(join(made, 'ca.crt'));
    expect(new Set(await caBundles())).toEqual(new Set([ca.toString('base64')]));
    const { data, type } = await plane.client.ok<{ type: string; data: Record<string, string> }>(
      'GET',
      '/api/v1/namespaces/muster-system/secrets/muster-serving-cert',
    );
    const serving = new X509Certificate(Buffer.from(data['tls.crt'] ?? '', 'base64'));
    expect(type).toBe('kubernetes.io/tls');
    expect(serving.verify(new X509Certificate(ca).publicKey)).toBe(true);
    expect(serving.checkHost('muster.muster-system.svc')).toBe('muster.muster-system.svc');
  };
  const images = async (): Promise<(string | undefined)[]> => {
    const { spec } = await plane.client.ok<{
      spec: { template: { spec: { containers: { image: string }[] } } };
    }>('GET', DEPLOYMENT);
    return spec.template.spec.containers.map(({ image }) => image);
  };

  const untilRevision = (wanted: number): Promise<boolean> =>
    until(`revision ${wanted} of the Deployment`, async () => {
      const { metadata } = await plane.client.ok<{ metadata: { annotations: Record<string, string> } }>(
        'GET',
        DEPLOYMENT,
      );
      return metadata.annotations['deployment.kubernetes.io/revision'] === String(wanted);
    });

  beforeAll(async () => {
    plane = await startControlPlane({ scheduler: true, controllerManager: true });
    await plane.addNode('node-1');
    shell = await readersShell(plane);
  }, 120_000);
  afterAll(async () => {
    await muster?.close();
    await plane?.stop();
    await certificates?.remove();
  }, 60_000);

  test('the first hour: the installation is whole, and what it mounts is what was made', async () => {
    await run(FIRST_HOUR, 'install');
    await trusted();
    const { spec } = await plane.client.ok<{
      spec: { template: { spec: { volumes: { secret?: { secretName: string } }[] } } };
    }>('GET', DEPLOYMENT);
    const mounted = spec.template.spec.volumes.flatMap(({ secret }) => secret?.secretName ?? []);
    expect(mounted).toEqual(['muster-serving-cert']);
  }, 60_000);

  test('the first hour: a gang waits, says for whom, and starts', async () => {
    // In place of the Deployment, whose Pods nobody runs here, with the configuration that it mounts.
    const shipped = parse(await readFile('manifests/base/config.yaml', 'utf8')) as Record<string, unknown>;
    certificates = await certificateDirectory();
    muster = await startLoopingReplica(plane, certificates.path, shipped);
    for (const kind of ['mutating', 'validating']) {
      const value = { url: `https://127.0.0.1:${muster.port}` };
      const path = `${WEBHOOKS}/${kind}webhookconfigurations/muster`;
      const { webhooks } = await plane.client.ok<{ webhooks: object[] }>('GET', path);
      const patch = webhooks.map((_, at) => ({ op: 'replace', path: `/webhooks/${at}/clientConfig`, value }));
      await plane.client.ok('PATCH', path, patch);
    }
    await register(plane, muster.port, certificates.ca);
    await until('the backends are shown', async () => (await run(FIRST_HOUR, 'backends')).includes('True'));

    const waiting = await run(FIRST_HOUR, 'gang');
    for (const line of FIRST_HOUR.shown('gang').split('\n')) expect(steady(waiting)).toContain(steady(line));
    expect(await run(FIRST_HOUR, 'workers')).toMatch(/^first +/m);
    const { items } = await plane.client.ok<{ items: { spec: { nodeName?: string } }[] }>(
      'GET',
      '/api/v1/namespaces/first-hour/pods',
    );
    expect(items.map(({ spec }) => spec.nodeName)).toEqual(['node-1', 'node-1', 'node-1']);
    await until('Events are told', async () => (await run(FIRST_HOUR, 'events')).includes('GatesRemoved'));
    const refused = await run(FIRST_HOUR, 'mistake', 1);
    expect(refused.trim()).toBe(FIRST_HOUR.shown('mistake').trim());
  }, 120_000);

  test('at night: looking, a restart, a new certificate, and the way back', async () => {
    const seen = await run(AT_NIGHT, 'look');
    for (const word of ['deployment.apps/muster', 'first-hour  first ', 'ready leader 0/1'])
      expect(seen).toContain(word);

    expect(await run(AT_NIGHT, 'until when')).toMatch(/^notAfter=/);
    const before = await caBundles();
    await run(AT_NIGHT, 'new certificate');
    expect((await caBundles())[0]).not.toBe(before[0]);
    await trusted();

    await run(AT_NIGHT, 'restart');
    await untilRevision(2);
    const [old] = await images();
    await plane.client.ok('PATCH', DEPLOYMENT, [
      { op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'muster:new' },
    ]);
    await untilRevision(3);
    await run(AT_NIGHT, 'roll back');
    expect(await images()).toEqual([old]);
    await run(FIRST_HOUR, 'clean up');
  }, 120_000);

  test('no command of these pages was left out, but for those that need Docker, a kubelet or cert-manager', () => {
    const left = [...FIRST_HOUR.names, ...AT_NIGHT.names].filter((name) => !ran.has(name));
    // These are run by by-hand.test.ts, with Muster down.
    expect(left).toEqual(['out of the way', 'release', 'on call', 'release on call', 'uninstall']);
    expect([...FIRST_HOUR.untested, ...AT_NIGHT.untested]).toEqual([
      'npm ci && npm run build',
      'kind create cluster --name muster',
      'npm run image -- --name muster:dev',
      'kubectl -n muster-system rollout status deployment/muster',
      'kubectl -n muster-system describe pods',
      'kubectl -n muster-system delete secret muster-serving-cert',
    ]);
  });
});

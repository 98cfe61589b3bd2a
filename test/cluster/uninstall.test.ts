/** `muster uninstall` on a whole installation, while gangs come in. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../src/cli/version.ts';
import { run } from '../../src/cli/run.ts';
import { inLength } from '../support/length.ts';
import { calledOnLoopback } from '../support/manifests.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';
import type { KubeList, KubeObject } from './control-plane/client.ts';
import { clusterSuiteUnless } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { applyAll } from './support/apply.ts';
import { certManager } from './support/cert-manager.ts';
import { GangStream } from './support/gang-stream.ts';
import { readersShell } from './support/page.ts';
import {
  DRY_RUN,
  GATE,
  gangPod,
  GANGS,
  gatesOf,
  podGang,
  PODS,
  type StoredPod,
} from './support/registered-muster.ts';
import { shipped } from './support/whole-installation.ts';
import { withMuster, type OnMuster } from './support/with-muster.ts';

const OWN_PODS = '/api/v1/namespaces/muster-system/pods';
const GROVES = { 'grove.io/podgang': 'groves', 'app.kubernetes.io/managed-by': 'grove-operator' };
const CLEANUP = 'cleanup.muster.dev/example';
const KINDS =
  'namespaces,clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings,mutatingadmissionpolicies,mutatingadmissionpolicybindings,validatingwebhookconfigurations,mutatingwebhookconfigurations';

// by-hand.test.ts and install.test.ts run the command in every `npm test`.
const short = inLength({ short: 'it takes a minute: npm run test:long', long: undefined });

clusterSuiteUnless(short, 'muster uninstall', () => {
  let on: OnMuster;
  let shell: Awaited<ReturnType<typeof readersShell>>;

  const uninstall = async (args: readonly string[], typed?: string, kubeconfig = on.plane.kubeconfig) => {
    const { io, written } = fakeIo();
    const asked: string[] = [];
    const ask = (question: string): Promise<string> => {
      asked.push(question);
      return Promise.resolve(typed ?? '');
    };
    const words = ['uninstall', '--kubeconfig', kubeconfig, '--settle', '2', ...args];
    const code = await run(words, { ...io, ...(typed === undefined ? {} : { ask }) });
    return { code, ...written, asked };
  };
  const gated = async (): Promise<Record<string, string[]>> => {
    const { items } = await on.plane.client.ok<KubeList<StoredPod>>('GET', PODS);
    return Object.fromEntries(
      items.filter((pod) => gatesOf(pod).length > 0).map((pod) => [pod.metadata.name, gatesOf(pod)]),
    );
  };
  const left = async (): Promise<string> =>
    (await shell(`kubectl get ${KINDS} -l app.kubernetes.io/name=muster -o name`)).out;
  const install = async (): Promise<void> => {
    const muster = on.muster;
    await applyAll(
      on.plane.client,
      calledOnLoopback(shipped('overlays/cert-manager'), muster.port, on.certificates.ca),
    );
    await until('Pods are gated', async () => {
      const { body } = await on.plane.client.request<StoredPod>('POST', PODS, gangPod(), DRY_RUN);
      return body.spec !== undefined && gatesOf(body).includes(GATE);
    });
  };

  /** As the kubelet does it with Muster's Pods: the program ends, and then the Pod is gone. */
  const endPods = async (): Promise<void> => {
    const { items } = await on.plane.client.ok<KubeList<KubeObject>>('GET', OWN_PODS);
    const ending = items.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    if (ending.length > 0) await on.muster.terminate();
    for (const { metadata } of ending)
      await on.plane.client.request('DELETE', `${OWN_PODS}/${metadata.name}`, { gracePeriodSeconds: 0 });
  };

  beforeAll(async () => {
    const profiles = [{ name: 'default-scheduler' }];
    on = await withMuster({
      ...{ webhooks: false, plane: { controllerManager: true, scheduler: true }, cpu: 500 },
      settings: { scheduler: { profiles, defaultProfileName: 'default-scheduler' } },
    });
    const { client } = on.plane;
    shell = await readersShell(on.plane);
    await applyAll(client, certManager);
    await until('cert-manager is served', () =>
      client.ok('GET', '/apis/cert-manager.io/v1/namespaces/default/certificates'),
    );
    await install();
    const kubelet = setInterval(() => void endPods().catch(() => undefined), 250);
    on.before(() => Promise.resolve(clearInterval(kubelet)));
    const labels = { 'app.kubernetes.io/managed-by': 'grove-operator' };
    const groves = podGang('groves') as KubeObject;
    // The operator writes its references itself.
    const spec = { podgroups: [{ name: 'worker', minReplicas: 1, podReferences: [] }] };
    await client.ok('POST', GANGS, { ...groves, metadata: { ...groves.metadata, labels }, spec });
    await until('PodGangs are prepared', () => client.ok('POST', GANGS, podGang('held')));
    await client.ok('PATCH', `${GANGS}/held`, { metadata: { finalizers: ['example.com/kept', CLEANUP] } });
    await client.ok('POST', PODS, gangPod({ name: 'groves-0' }, {}, GROVES));
    await client.ok('POST', PODS, gangPod({ name: 'held-0' }, {}, { 'grove.io/podgang': 'held' }));
  }, 180_000);
  afterAll(() => on?.close(), 60_000);

  test('it asks, and does nothing where nobody agrees or can be asked, or rights are missing', async () => {
    const declined = await uninstall([], 'n');
    expect(declined).toMatchObject({ code: 1, asked: ['Take it away? [y/N] '] });
    expect(declined.out).toMatch(/\n {2}loop: 1 × Deployment\n {4}nobody asks[^]*\nnothing was done\n$/);
    const alone = await uninstall([]);
    expect(alone).toMatchObject({
      code: 2,
      err: 'error[USAGE]: standard input is no terminal, so nobody can be asked\nfix: Look at what --dry-run prints, then give --yes.\n',
    });
    const alice = await on.plane.kubeconfigFor('alice');
    const refused = await uninstall(['--yes'], undefined, alice);
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(
      /^error\[CLUSTER_REFUSED\]: .* is forbidden: User "alice" cannot list [^]*\nfix: Run it again as somebody who may, such as cluster-admin: what is done already is not done twice\.\n$/,
    );
    expect(Object.keys(await gated()).sort()).toEqual(['groves-0', 'held-0']);
  }, 60_000);

  test('while gangs come in none is refused, none starts half, and afterwards no Pod waits', async () => {
    const stream = new GangStream(on.plane.client, { everyMs: 250 });
    on.before(() => stream.stop());
    await stream.created(5);
    const { code, out, err } = await uninstall(['--yes']);
    expect([code, err]).toEqual([0, '']);
    await stream.created(3);
    const { refused } = await stream.stop();
    expect(refused).toEqual([]);
    expect(await gated()).toEqual({ 'groves-0': [GATE] });
    const named = /^stays: gang Pods without a node: (.*);/m.exec(out)?.[1]?.split(', ') ?? [];
    await stream.untilBound((name) => named.includes(`ml/${name}`));
    const { metadata } = await on.plane.client.ok<KubeObject>('GET', `${GANGS}/held`);
    expect(metadata.finalizers).toEqual(['example.com/kept']);
    expect(await left()).toBe('');
    expect(out).toContain('\nloop: 1 × Deployment\n');
    expect(out).toMatch(/\ngates: .*Pod released/);
    expect(out).toMatch(/\nobjects: .*1 × Namespace\n/);
    expect(out).toContain('stays: gates of 1 Pods of the Grove operator, which takes them off by itself\n');
    expect(out).toMatch(/stays: definition podgangs\.scheduler\.grove\.io with \d+ of its objects/);
    const again = await uninstall(['--yes']);
    expect(again.out).toMatch(
      /^refusals: nothing left to do\nadmission: nothing left to do\nloop: nothing left to do\ngates: nothing left to do\nobjects: nothing left to do\n/,
    );
  }, 120_000);

  test('killed half way it goes on when it is run again', async () => {
    await on.restart();
    await install();
    const child = spawn(
      process.execPath,
      [
        join(packageRoot() ?? '', 'src/main.ts'),
        ...['uninstall', '--yes', '--settle', '60', '--kubeconfig', on.plane.kubeconfig],
      ],
      { stdio: 'ignore' },
    );
    await until('it has begun', async () => !(await left()).includes('validatingwebhookconfiguration'));
    child.kill('SIGKILL');
    expect(await left()).toContain('namespace/muster-system');
    expect((await uninstall(['--yes'])).code).toBe(0);
    expect(await left()).toBe('');
  }, 120_000);

  test('the commands of a dry run do the same, the definitions included', async () => {
    await on.restart();
    await install();
    await on.plane.client.ok('POST', PODS, gangPod({ name: 'late-0' }, {}, { 'grove.io/podgang': 'held' }));
    await on.plane.client.ok('PATCH', `${GANGS}/held`, { metadata: { finalizers: [CLEANUP] } });
    const { out } = await uninstall(['--dry-run', '--definitions']);
    const steps = [...out.matchAll(/^# \d\. (\w+):/gm)].map(([, name]) => name);
    expect(steps).toEqual(['refusals', 'admission', 'loop', 'gates', 'objects', 'definitions']);
    expect(await left()).not.toBe('');
    const ran = await shell(out);
    expect(ran).toMatchObject({ code: 0 });
    expect(await left()).toBe('');
    expect(await gated()).toEqual({ 'groves-0': [GATE] });
    expect((await on.plane.client.request('GET', GANGS)).status).toBe(404);
  }, 200_000);
});

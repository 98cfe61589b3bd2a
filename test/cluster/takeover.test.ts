/** From the manifests of the previous release to the chart while gangs come in, and what `helm uninstall` alone leaves. */
import { readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { parse } from 'yaml';
import { MUSTER_USER } from '../../src/api/names.ts';
import type { DoctorReport } from '../../src/cli/doctor/render.ts';
import { helmProgram, helmSuite } from '../support/helm.ts';
import { inLength } from '../support/length.ts';
import { startServing, type Serving, type ServingOptions } from '../support/serving.ts';
import type { KubeList } from './control-plane/client.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuiteUnless } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { applyAll } from './support/apply.ts';
import { certManager } from './support/cert-manager.ts';
import { clusterNetwork, type ClusterNetwork } from './support/cluster-network.ts';
import { historyOf, KEEPS_HISTORY } from './support/etcd-history.ts';
import { judge, NOTHING_BROKEN } from './support/gang-judge.ts';
import { GangStream, SIZE } from './support/gang-stream.ts';
import { STEADY_LEASE } from './support/looping-muster.ts';
import { Page, readersShell, type Shell } from './support/page.ts';
import { playedCainjector } from './support/played-cainjector.ts';
import { whilePodsEnd } from './support/played-kubelet.ts';
import { PREVIOUS, previousRelease, previousReleaseMissing } from './support/previous-release.ts';
import * as registered from './support/registered-muster.ts';
import { untilReady } from './support/with-muster.ts';

jest.setTimeout(240_000);

const { DRY_RUN, GANGS, gangPod, gatesOf, NAMESPACE, podGang, PODS } = registered;
const PAGE = new Page('docs/install.md');
const CONFIG = '/api/v1/namespaces/muster-system/configmaps/muster-config';
const ADMISSION = ['validating', 'mutating'].flatMap((kind) =>
  ['webhookconfigurations', 'admissionpolicies', 'admissionpolicybindings'].map((what) => `${kind}${what}`),
);
const KINDS = [
  ...['namespaces', 'clusterroles', 'clusterrolebindings', 'roles', 'rolebindings', 'serviceaccounts'],
  ...['configmaps', 'secrets', 'services', 'deployments', 'networkpolicies', 'resourcequotas', 'leases'],
  ...['poddisruptionbudgets', 'certificates', 'issuers', ...ADMISSION],
].join();
const UPGRADE = 'helm upgrade muster charts/muster --namespace muster-system --reuse-values';

helmSuite('helm', () => {
  const short = (): string => 'two releases of the program take two minutes: npm run test:long';
  const notHere = inLength<() => string | undefined>({ short, long: previousReleaseMissing })();
  clusterSuiteUnless(notHere, `from the manifests of ${PREVIOUS} to the chart`, () => {
    let plane: ControlPlane;
    let network: ClusterNetwork;
    let certificates: Awaited<ReturnType<typeof registered.certificateDirectory>>;
    let shell: Shell;
    let muster: Serving | undefined;
    let endInjecting: (() => void) | undefined;
    /** Drain for up to 100 s, while an API server keeps its connections. */
    const draining: Serving[] = [];

    const run = async (commands: string): Promise<string> => {
      const { code, out } = await shell(commands);
      if (code !== 0) throw new Error(`"${commands}" ended with ${code}: ${out}`);
      return out;
    };
    const named = async (selection: string): Promise<string[]> =>
      (await run(`kubectl get ${KINDS} -A -o name ${selection} | grep muster || true`)).trim().split('\n');
    /** What a rollout does: the next replica answers, then the one before drains. */
    const rollOut = async (configuration: object, more: Partial<ServingOptions> = {}): Promise<void> => {
      const next = await startServing({
        certificates: certificates.path,
        kubeconfig: await plane.kubeconfigFor(MUSTER_USER),
        configuration: { ...configuration, leaderElection: STEADY_LEASE },
        ...more,
      });
      const before = muster;
      muster = next;
      await untilReady(next);
      network.leadTo(next.port);
      if (before === undefined) return;
      draining.push(before);
      void before.terminate();
    };
    const installedConfiguration = async (): Promise<object> => {
      const { data } = await plane.client.ok<{ data: Record<string, string> }>('GET', CONFIG);
      return parse(data['config.yaml'] ?? '') as object;
    };
    /** @returns the number of gangs */
    const whileGangsComeIn = async (prefix: string, work: () => Promise<unknown>): Promise<number> => {
      const stream = new GangStream(plane.client, { everyMs: 250, prefix });
      await stream.created(3);
      await work();
      await stream.created(3);
      const { gangs, refused } = await stream.stop();
      expect(refused).toEqual([]);
      await stream.untilBound(() => false);
      const { broken, ungated } = judge(await historyOf(plane.etcdUrl, NAMESPACE));
      expect(broken).toEqual(NOTHING_BROKEN);
      expect(ungated).toBeGreaterThanOrEqual(gangs * SIZE);
      process.stderr.write(`${prefix}: ${gangs} gangs, none refused, all whole\n`);
      return gangs;
    };
    const gated = async (): Promise<string[]> => {
      const { items } = await plane.client.ok<KubeList<registered.StoredPod>>('GET', PODS);
      return items.filter((pod) => gatesOf(pod).length > 0).map(({ metadata }) => metadata.name);
    };
    const untilAnswered = (): Promise<unknown> =>
      until('Muster answers', async () => {
        const { status } = await plane.client.request('POST', PODS, gangPod({ name: 'probe' }), DRY_RUN);
        return status === 201;
      });

    beforeAll(async () => {
      certificates = await registered.certificateDirectory();
      network = await clusterNetwork();
      plane = await startControlPlane({
        ...{ scheduler: true, controllerManager: true },
        extraApiServerArgs: [...network.apiServerArgs, ...KEEPS_HISTORY],
      });
      // A node takes 110 Pods.
      for (let node = 0; node < 6; node += 1) await plane.addNode(`node-${node}`, { cpu: 500 });
      await plane.client.ok('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
      shell = await readersShell(plane, {
        path: [dirname(helmProgram)],
        folders: ['charts', 'src', 'package.json', 'node_modules'],
      });
      await symlink(previousRelease(), join(plane.dir, 'checkout', 'previous'));
      await applyAll(plane.client, certManager);
      await until('cert-manager is served', () =>
        plane.client.ok('GET', '/apis/cert-manager.io/v1/namespaces/default/certificates'),
      );
      await run('kubectl apply -k previous/manifests/overlays/cert-manager');
      endInjecting = playedCainjector(plane.client, certificates.ca);
      const shipped = await readFile(join(previousRelease(), 'manifests/base/config.yaml'), 'utf8');
      await rollOut(parse(shipped) as object, { main: join(previousRelease(), 'src/main.ts') });
      await untilAnswered();
    }, 180_000);
    afterAll(async () => {
      endInjecting?.();
      for (const replica of [...draining, ...(muster ? [muster] : [])]) await replica.close();
      await plane?.stop();
      await network?.close();
      await certificates?.remove();
    }, 60_000);

    test('by the commands of the page no gang is refused, each starts whole, and the doctor is content', async () => {
      await whileGangsComeIn('taken', async () => {
        await run(PAGE.commands('to the chart'));
        await rollOut(await installedConfiguration());
      });
      const other = '-l app.kubernetes.io/part-of=muster,app.kubernetes.io/managed-by!=Helm';
      expect((await named(other)).map((name) => name.replace(/-\w+$/, ''))).toEqual([
        ...['namespace/muster', 'configmap/muster-config'],
      ]);
      await run(PAGE.commands('left over'));
      expect(await named(other)).toEqual(['namespace/muster-system']);
      const { findings } = JSON.parse(await run('muster doctor --try-in ml -o json || true')) as DoctorReport;
      const installed = findings.filter(({ group }) =>
        /^(definitions|rights|webhooks|admission|policies)$/.test(group),
      );
      expect(installed.filter(({ severity }) => severity !== 'ok')).toEqual([]);
      expect(installed.length).toBeGreaterThan(10);
    });

    test('on to certificates that Muster makes by an upgrade, with nothing of cert-manager left', async () => {
      await whileGangsComeIn('own', async () => {
        await run(`${UPGRADE} --set certificates.mode=inCluster`);
        const server = { certificates: { mode: 'inCluster', ca: { settle: '1s' } } };
        const flags = ['--server-name', 'muster.muster-system.svc'];
        await rollOut({ ...(await installedConfiguration()), server }, { flags });
      });
      const volumes = `-o jsonpath='{.spec.template.spec.volumes[*].name}'`;
      expect(await run(`kubectl -n muster-system get deployment muster ${volumes}`)).toBe(
        'config api-access',
      );
      const kinds = 'certificates,issuers,mutatingwebhookconfigurations,validatingwebhookconfigurations';
      expect(await run(`kubectl get ${kinds} -A -o yaml`)).not.toContain('cert-manager.io');
    });

    test('helm uninstall alone refuses gangs for want of their gate alone and leaves gates, until muster uninstall takes them off', async () => {
      await plane.client.ok('POST', GANGS, podGang('held'));
      const member = (index: number) =>
        plane.client.ok<registered.StoredPod>(
          ...([
            'POST',
            PODS,
            gangPod({ name: `held-${index}` }, {}, { 'grove.io/podgang': 'held' }),
          ] as const),
        );
      await member(0);
      const stream = new GangStream(plane.client, { everyMs: 1, prefix: 'late' });
      await stream.created(3);
      const ended = () => muster?.terminate() ?? Promise.resolve();
      const out = await whilePodsEnd(plane.client, run('helm uninstall muster -n muster-system'), ended);
      expect(out).toContain('release "muster" uninstalled');
      await until('Pods are ordinary ones', async () => {
        const { status, body } = await plane.client.request<registered.StoredPod>(
          'POST',
          PODS,
          gangPod(),
          DRY_RUN,
        );
        return status === 201 && gatesOf(body).length === 0;
      });
      await stream.created(3);
      const { refused } = await stream.stop();
      // How many fall into the moment between webhook and policy is the machine's to say, none included.
      expect(refused.filter(({ message }) => message?.endsWith('[GateMissing]') !== true)).toEqual([]);
      expect(gatesOf(await member(1))).toEqual([]);
      const waiting = await gated();
      process.stderr.write(`helm uninstall: ${refused.length} refused, ${waiting.length} left gated\n`);
      expect(waiting).toContain('held-0');
      expect(waiting.filter((name) => name.startsWith('late')).length).toBeGreaterThan(0);
      expect(await named('')).toEqual([
        ...['namespace/muster-system', 'lease.coordination.k8s.io/muster-leader-election'],
      ]);
      await whilePodsEnd(plane.client, run('muster uninstall --yes --settle 1'));
      expect(await gated()).toEqual([]);
      expect(await named('')).toEqual(['']);
    });

    test('the same commands take over what this release’s overlay has applied, after Helm alone has failed as well', async () => {
      await run('kubectl apply --server-side -k manifests/overlays/in-cluster');
      const commands = PAGE.commands('to the chart')
        .replace('previous/manifests/overlays/cert-manager', 'manifests/overlays/in-cluster')
        .replace(' --set certificates.mode=certManager', '');
      const { code, out } = await shell(commands.slice(commands.indexOf('helm upgrade')));
      expect([code, out]).toEqual([1, expect.stringContaining('conflicts with "kubectl"')]);
      await run(commands);
      await run(`${UPGRADE} --set image.tag=other`);
      const managers = `-A -o yaml --show-managed-fields -l app.kubernetes.io/managed-by=Helm`;
      expect(await run(`kubectl get ${KINDS} ${managers}`)).not.toMatch(/manager: kubectl/);
      await whilePodsEnd(plane.client, run('muster uninstall --yes --settle 1'));
      expect(await named('')).toEqual(['']);
      expect(await run('helm list -A -q')).toBe('');
    });
  });
});

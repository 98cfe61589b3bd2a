/** docs/install.md, command by command, from an empty kubeconfig. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import type { DoctorReport } from '../../src/cli/doctor/render.ts';
import { helmProgram, helmSuite } from '../support/helm.ts';
import { inLength } from '../support/length.ts';
import type { Serving } from '../support/serving.ts';
import type { KubeList, KubeObject } from './control-plane/client.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { clusterNetwork, type ClusterNetwork } from './support/cluster-network.ts';
import { GangStream } from './support/gang-stream.ts';
import { startLoopingReplica } from './support/looping-muster.ts';
import { Page, readersShell } from './support/page.ts';
import { whilePodsEnd } from './support/played-kubelet.ts';
import {
  certificateDirectory,
  DRY_RUN,
  GATE,
  gangPod,
  gatesOf,
  PODS,
  type StoredPod,
} from './support/registered-muster.ts';

const PAGE = new Page('docs/install.md');
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1';
const CONFIG = '/api/v1/namespaces/muster-system/configmaps';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/** What `npm test` leaves to `npm run test:long`: manifests.test.ts applies the same objects. */
const LONG_ONLY = inLength({ short: [], long: ['kustomize'] });
/** What takeover.test.ts runs. */
const TAKEOVER = ['to the chart', 'left over'];
const OLD_DEFINITIONS = join(import.meta.dirname, 'support', 'crds');
const GANG = {
  apiVersion: 'scheduler.grove.io/v1alpha1',
  kind: 'PodGang',
  metadata: { name: 'old' },
  spec: {
    priorityClassName: 'high',
    podgroups: [{ name: 'worker', minReplicas: 2, podReferences: [{ namespace: 'first-hour', name: 'a' }] }],
  },
};
/** What the page promises, of the commands alone: a kubelet’s pull of the image is not in it. */
const FIRST_GANG_MS = 60_000;

helmSuite('helm', () => {
  clusterSuite('docs/install.md', () => {
    let plane: ControlPlane;
    let shell: Awaited<ReturnType<typeof readersShell>>;
    let muster: Serving | undefined;
    let network: ClusterNetwork;
    let certificates: Awaited<ReturnType<typeof certificateDirectory>>;
    let spentMs = 0;
    const ran = new Set<string>();

    const run = async (name: string): Promise<string> => {
      ran.add(name);
      const began = performance.now();
      const { code, out } = await shell(PAGE.commands(name));
      spentMs += performance.now() - began;
      if (code !== 0) throw new Error(`"${name}" ended with ${code}: ${out}`);
      return out;
    };
    /** What a kubelet does: the program runs, by the configuration that was installed; and the API server finds it. */
    const startMuster = async (): Promise<void> => {
      const { items } = await plane.client.ok<KubeList<KubeObject & { data: Record<string, string> }>>(
        'GET',
        CONFIG,
      );
      const [config] = items.filter(({ metadata }) => metadata.name.startsWith('muster-config'));
      const settings = parse(config?.data['config.yaml'] ?? '') as Record<string, unknown>;
      delete settings['server'];
      muster = await startLoopingReplica(plane, certificates.path, settings);
      await findMuster();
    };
    /** As the program does it where it makes its certificates: of the webhooks it writes the CA alone. */
    const findMuster = async (): Promise<void> => {
      const value = Buffer.from(certificates.ca).toString('base64');
      network.leadTo(muster?.port ?? 0);
      for (const kind of ['mutating', 'validating']) {
        const path = `${WEBHOOKS}/${kind}webhookconfigurations/muster`;
        const { webhooks } = await plane.client.ok<{ webhooks: object[] }>('GET', path);
        const patch = webhooks.map((_, at) => ({
          op: 'add',
          path: `/webhooks/${at}/clientConfig/caBundle`,
          value,
        }));
        await plane.client.ok('PATCH', path, patch);
      }
      await until('Pods are gated', async () => {
        const { body } = await plane.client.request<StoredPod>('POST', PODS, gangPod(), DRY_RUN);
        return body.spec !== undefined && gatesOf(body).includes(GATE);
      });
    };
    const left = async (): Promise<string> => {
      const kinds = 'clusterroles,clusterrolebindings,validatingadmissionpolicies,mutatingadmissionpolicies';
      const hooks = 'validatingwebhookconfigurations,mutatingwebhookconfigurations';
      const labels = 'app.kubernetes.io/part-of=muster';
      const inside = 'deployments,services,serviceaccounts,configmaps,secrets,leases,networkpolicies,roles';
      const own = `kubectl -n muster-system get ${inside} -o name | grep -v -e kube-root-ca -e serviceaccount/default || true`;
      return (await shell(`kubectl get ${kinds},${hooks} -l ${labels} -o name\n${own}`)).out;
    };

    beforeAll(async () => {
      certificates = await certificateDirectory();
      network = await clusterNetwork();
      plane = await startControlPlane({
        ...{ scheduler: true, controllerManager: true },
        extraApiServerArgs: network.apiServerArgs,
      });
      // A node takes 110 Pods.
      for (const name of ['node-1', 'node-2', 'node-3', 'node-4']) await plane.addNode(name, { cpu: 500 });
      await plane.client.ok('POST', '/api/v1/namespaces', { metadata: { name: 'ml' } });
      shell = await readersShell(plane, {
        path: [dirname(helmProgram)],
        folders: ['charts', 'release', 'src', 'package.json', 'node_modules'],
      });
    }, 120_000);
    afterAll(async () => {
      await muster?.close();
      await plane?.stop();
      await network?.close();
      await certificates?.remove();
    }, 60_000);

    test('the chart, to a first gang', async () => {
      await run('chart');
      await startMuster();
      expect(await run('gang')).toMatch(/first-hour\/first +\w+ +default-scheduler/);
      expect(spentMs).toBeLessThan(FIRST_GANG_MS);
      process.stderr.write(`chart to first gang: ${(spentMs / 1000).toFixed(1)} s of commands\n`);
    }, 180_000);

    test('upgraded and rolled back while gangs come in: none is refused, each starts whole, the doctor is content', async () => {
      const stream = new GangStream(plane.client, { everyMs: 250 });
      await stream.created(3);
      await run('upgrade');
      await stream.created(3);
      const { gangs, refused } = await stream.stop();
      expect(refused).toEqual([]);
      expect(gangs).toBeGreaterThan(6);
      await stream.untilBound(() => false);
      const { spec } = await plane.client.ok<{ spec: { replicas: number } }>(
        'GET',
        '/apis/apps/v1/namespaces/muster-system/deployments/muster',
      );
      expect(spec.replicas).toBe(3);
      const report = await shell('muster doctor --try-in ml -o json || true');
      const { findings } = JSON.parse(report.out) as DoctorReport;
      const installed = findings.filter(({ group }) =>
        /^(definitions|rights|webhooks|admission|policies)$/.test(group),
      );
      expect(installed.filter(({ severity }) => severity !== 'ok')).toEqual([]);
      expect(installed.length).toBeGreaterThan(10);
    }, 180_000);

    test('uninstalled while gangs come in: none is refused, and nothing of it is left but what it names', async () => {
      const stream = new GangStream(plane.client, { everyMs: 250, prefix: 'last' });
      await stream.created(2);
      const out = await whilePodsEnd(plane.client, run('uninstall'));
      await stream.created(2);
      expect((await stream.stop()).refused).toEqual([]);
      const named = /^stays: gang Pods without a node: (.*);/m.exec(out)?.[1] ?? '';
      await stream.untilBound((name) => named.includes(`ml/${name}`));
      expect(out).toContain('stays: namespace muster-system: Muster’s manifests did not make it\n');
      expect(out).toMatch(/stays: definition podgangs\.scheduler\.grove\.io with \d+ of its objects/);
      expect(await left()).toBe('');
      expect((await shell('helm list -A -q')).out).toBe('');
      await muster?.close();
    }, 180_000);

    test('install.yaml, and in the long form kustomize, install, too, over definitions of an older version, and keep what is stored', async () => {
      await whilePodsEnd(plane.client, shell('muster uninstall --yes --definitions'));
      for (const name of ['podgang', 'schedulerbackend'])
        await shell(`kubectl apply --server-side -f ${join(OLD_DEFINITIONS, `${name}-13d15b1.yaml`)}`);
      const gang = '/apis/scheduler.grove.io/v1alpha1/namespaces/first-hour/podgangs';
      const stored = await until('the older definition is served', () =>
        plane.client.ok<KubeObject>('POST', gang, GANG),
      );
      const before = await plane.client.ok<KubeObject>('GET', `${DEFINITIONS}/podgangs.scheduler.grove.io`);
      await run('file');
      for (const name of LONG_ONLY) await run(name);
      const after = await plane.client.ok<KubeObject>('GET', `${DEFINITIONS}/podgangs.scheduler.grove.io`);
      expect(after.metadata.uid).toBe(before.metadata.uid);
      expect(await plane.client.ok<KubeObject>('GET', `${gang}/old`)).toEqual(stored);
      if (LONG_ONLY.length > 0) await whilePodsEnd(plane.client, run('uninstall'));
      expect(await left()).toMatch(LONG_ONLY.length > 0 ? /^$/ : /deployment.apps\/muster/);
    }, 240_000);

    test('no command of the page was left out, but for those that need Docker, a registry or a kubelet', () => {
      const left = [...(LONG_ONLY.length > 0 ? [] : ['kustomize']), ...TAKEOVER];
      expect(PAGE.names.filter((name) => !ran.has(name))).toEqual(left);
      expect(PAGE.untested).toEqual([
        'npm ci && npm run image -- --name muster:dev',
        'kubectl -n muster-system rollout status deployment/muster',
      ]);
    });
  });
});

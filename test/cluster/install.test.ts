/** docs/install.md, command by command, from an empty kubeconfig. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { dirname } from 'node:path';
import { parse } from 'yaml';
import { helmProgram, helmSuite } from '../support/helm.ts';
import type { Serving } from '../support/serving.ts';
import type { KubeList, KubeObject } from './control-plane/client.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { startLoopingReplica } from './support/looping-muster.ts';
import { Page, readersShell } from './support/page.ts';
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
/** What the page promises, of the commands alone: a kubelet’s pull of the image is not in it. */
const FIRST_GANG_MS = 60_000;

helmSuite('helm', () => {
  clusterSuite('docs/install.md', () => {
    let plane: ControlPlane;
    let shell: Awaited<ReturnType<typeof readersShell>>;
    let muster: Serving | undefined;
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
    const findMuster = async (): Promise<void> => {
      const caBundle = Buffer.from(certificates.ca).toString('base64');
      const port = muster?.port ?? 0;
      for (const kind of ['mutating', 'validating']) {
        const path = `${WEBHOOKS}/${kind}webhookconfigurations/muster`;
        const { webhooks } = await plane.client.ok<{
          webhooks: { clientConfig: { service: { path: string } } }[];
        }>('GET', path);
        const patch = webhooks.map(({ clientConfig }, at) => ({
          ...{ op: 'replace', path: `/webhooks/${at}/clientConfig` },
          value: { url: `https://127.0.0.1:${port}${clientConfig.service.path}`, caBundle },
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
      plane = await startControlPlane({ scheduler: true, controllerManager: true });
      await plane.addNode('node-1');
      // Nobody but the gang's own Pods is to run, since there is no kubelet that would end them.
      const taken = { spec: { unschedulable: false } };
      await plane.client.ok('PATCH', '/api/v1/nodes/node-1', taken);
      await plane.client.ok('POST', '/api/v1/namespaces', { metadata: { name: 'ml' } });
      shell = await readersShell(plane, {
        path: [dirname(helmProgram)],
        folders: ['charts', 'release', 'src', 'package.json', 'node_modules'],
      });
    }, 120_000);
    afterAll(async () => {
      await muster?.close();
      await plane?.stop();
      await certificates?.remove();
    }, 60_000);

    /** As the kubelet does it, of Muster's Pods that are to end. */
    const ending = async <T>(work: Promise<T>): Promise<T> => {
      const path = '/api/v1/namespaces/muster-system/pods';
      const timer = setInterval(() => {
        void plane.client
          .ok<KubeList<KubeObject>>('GET', path)
          .then(({ items }) =>
            Promise.all(
              items
                .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
                .map(({ metadata }) =>
                  plane.client.request('DELETE', `${path}/${metadata.name}`, { gracePeriodSeconds: 0 }),
                ),
            ),
          )
          .catch(() => undefined);
      }, 300);
      return work.finally(() => clearInterval(timer));
    };

    test('the chart, to a first gang', async () => {
      await run('chart');
      await startMuster();
      expect(await run('gang')).toMatch(/first-hour\/first +\w+ +default-scheduler/);
      expect(spentMs).toBeLessThan(FIRST_GANG_MS);
      process.stderr.write(`chart to first gang: ${(spentMs / 1000).toFixed(1)} s of commands\n`);
    }, 180_000);

    test('uninstalled, nothing of it is left but what it names', async () => {
      const out = await ending(run('uninstall'));
      expect(out).toContain('stays: namespace muster-system: Muster’s manifests did not make it\n');
      expect(out).toMatch(/stays: definition podgangs\.scheduler\.grove\.io with 1 of its objects/);
      expect(await left()).toBe('');
      expect((await shell('helm list -A -q')).out).toBe('');
      await muster?.close();
    }, 180_000);

    test('install.yaml and kustomize install, too, to the last field, and keep what is stored', async () => {
      const before = await plane.client.ok<KubeObject>('GET', `${DEFINITIONS}/podgangs.scheduler.grove.io`);
      await run('file');
      await run('kustomize');
      const after = await plane.client.ok<KubeObject>('GET', `${DEFINITIONS}/podgangs.scheduler.grove.io`);
      expect(after.metadata.uid).toBe(before.metadata.uid);
      const gang = '/apis/scheduler.grove.io/v1alpha1/namespaces/first-hour/podgangs/first';
      expect((await plane.client.ok<KubeObject>('GET', gang)).metadata.name).toBe('first');
      await ending(run('uninstall'));
      expect(await left()).toBe('');
    }, 240_000);

    test('no command of the page was left out, but for those that need Docker, a registry or a kubelet', () => {
      expect(PAGE.names.filter((name) => !ran.has(name))).toEqual(['upgrade']);
      expect(PAGE.untested).toEqual([
        'npm ci && npm run image -- --name muster:dev',
        'kubectl -n muster-system rollout status deployment/muster',
      ]);
    });
  });
});

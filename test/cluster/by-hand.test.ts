/** What a person types when Muster is down or has to go: the very commands of the page, run by a shell. */
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { KubeList, KubeObject } from './control-plane/client.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { Page, readersShell } from './support/page.ts';
import { certManager } from './support/cert-manager.ts';
import { DRY_RUN, GATE, gangPod, GANGS, gatesOf, PODS, type StoredPod } from './support/registered-muster.ts';

const PAGE = new Page('docs/three-in-the-morning.md');

/** A gang as it is stored while no webhook fills anything in. */
const WAITING = {
  apiVersion: 'scheduler.grove.io/v1alpha1',
  kind: 'PodGang',
  metadata: { name: 'train', namespace: 'ml' },
  spec: { podgroups: [{ name: 'worker', minReplicas: 3, podReferences: [] }] },
};

clusterSuite('by hand, with Muster down', () => {
  let plane: ControlPlane;

  /** As an administrator, or as the bearer of another kubeconfig. */
  let readers: Awaited<ReturnType<typeof readersShell>>;
  const shell = async (commands: string, kubeconfig?: string): Promise<string> => {
    const { code, out } = await readers(commands, kubeconfig);
    return `${out}exit code ${code}`;
  };

  const gated = async (): Promise<Record<string, string[]>> => {
    const { items } = await plane.client.ok<KubeList<StoredPod>>('GET', PODS);
    return Object.fromEntries(items.map((pod) => [pod.metadata.name, gatesOf(pod)]));
  };
  /** Namespaces and definitions, with what their controllers say of them. */
  const terminating = async (): Promise<string> => {
    const lists = await Promise.all(
      ['/api/v1/namespaces', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'].map((path) =>
        plane.client.ok<KubeList<KubeObject & { status?: unknown }>>('GET', path),
      ),
    );
    const ending = lists.flatMap(({ items }) => items).filter(({ metadata }) => metadata.deletionTimestamp);
    return JSON.stringify(ending.map(({ metadata, status }) => ({ metadata, status })));
  };
  const createPod = (name: string, gang = 'train') =>
    plane.client.ok(
      'POST',
      PODS,
      gangPod({ name }, { schedulingGates: [{ name: 'example.com/mine' }] }, { 'grove.io/podgang': gang }),
    );

  beforeAll(async () => {
    plane = await startControlPlane({
      controllerManager: true,
      extraApiServerArgs: ['--enable-aggregator-routing=true'],
    });
    readers = await readersShell(plane);
    const { client } = plane;
    await client.ok('POST', '/api/v1/namespaces', { metadata: { name: 'ml' } });
    for (const definition of certManager)
      await client.ok('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
    expect(await shell('kubectl apply -k manifests/crds && kubectl apply -k manifests/policies')).toMatch(
      /exit code 0$/,
    );
    await until('PodGangs are served', () => client.ok('POST', GANGS, WAITING));
    await until('Pods are gated', async () => {
      const { body } = await client.request<StoredPod>('POST', PODS, gangPod(), DRY_RUN);
      return gatesOf(body).includes(GATE);
    });
    for (const name of ['train-0', 'train-1']) await createPod(name);
    for (const gang of ['other', 'third']) await createPod(`${gang}-0`, gang);
    await until('cert-manager is served', async () => {
      return (await shell('kubectl apply -k manifests/overlays/cert-manager')).endsWith('exit code 0');
    });
    await until('the API server asks Muster, which is not there', async () => {
      const { body } = await client.request<{ message?: string }>('POST', PODS, gangPod(), DRY_RUN);
      return body.message?.includes('pods.muster.dev');
    });
  }, 180_000);

  afterAll(() => plane?.stop(), 30_000);

  test('a cluster-admin releases a gang, that gang only, and of its gates Muster’s only', async () => {
    expect(await shell(PAGE.commands('release'))).toMatch(/exit code 0$/);
    expect(await gated()).toEqual({
      'train-0': ['example.com/mine'],
      'train-1': ['example.com/mine'],
      'other-0': ['example.com/mine', GATE],
      'third-0': ['example.com/mine', GATE],
    });
    expect(await shell(PAGE.commands('release'))).toMatch(/no change[^]*exit code 0$/);
  });

  test('somebody who may edit Pods and no more does not', async () => {
    await plane.client.ok('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/ml/rolebindings', {
      metadata: { name: 'developers' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'developers' }],
    });
    const alice = await plane.kubeconfigFor('alice', ['developers']);
    const other = PAGE.commands('release').replace('grove.io/podgang=train', 'grove.io/podgang=other');
    const patched = other.replace(/ --as .* system:masters/, '');
    await until('the policy answers her', async () =>
      (await shell(patched, alice)).includes('[GateProtected]'),
    );
    expect(await shell(other, alice)).toContain('cannot impersonate');
    expect((await gated())['other-0']).toContain(GATE);
  });

  test('somebody on call who is no cluster-admin releases a gang, once that is allowed, and can do nothing else', async () => {
    const bob = await plane.kubeconfigFor('bob', ['on-call']);
    const release = PAGE.commands('release on call').replace('podgang=train', 'podgang=third');
    expect(await shell(release, bob)).toContain('cannot impersonate');
    expect(await shell(PAGE.commands('on call'))).toMatch(/exit code 0$/);
    await until('the gate is off', async () => (await shell(release, bob)).includes('patched'));
    expect((await gated())['third-0']).toEqual(['example.com/mine']);
    const [, on = ''] = /on_call='kubectl (.*)'/.exec(release) ?? [];
    for (const [change, why] of [
      [`kubectl ${on} label pod third-0 x=y`, '[AccountBounds]'],
      [`kubectl ${on} set image pod/third-0 *=evil`, '[AccountBounds]'],
      [`kubectl ${on} delete pod third-0`, 'cannot delete'],
      [`kubectl ${on} get secrets`, 'cannot list'],
      [`kubectl ${on}-not get pods`, 'cannot impersonate'],
    ]) {
      const said = await shell(change ?? '', bob);
      expect(said).toContain(why);
      expect(said).toMatch(/exit code 1$/);
    }
  });

  test('out of the way: gang Pods come in again, with their gate', async () => {
    expect(await shell(PAGE.commands('out of the way'))).toMatch(/exit code 0$/);
    await until('nobody is asked', () => createPod('late-0', 'late'));
    expect((await gated())['late-0']).toContain(GATE);
  });

  test('an overlay with an image of one’s own, and the one for Grove on older Kubernetes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'muster-image-'));
    try {
      await cp('manifests', join(folder, 'manifests'), { recursive: true });
      expect(await shell(`cd ${folder}\n${new Page('docs/manifests.md').commands('your image')}`)).toBe(
        'exit code 0',
      );
      const installed = await readFile(join(folder, 'my-muster/installed.yaml'), 'utf8');
      expect(installed).toContain('image: registry.example/muster:0.1.0\n');
      expect(installed).toContain('kind: MutatingAdmissionPolicy\n');
      expect(installed).not.toMatch(
        /grove-system|MUSTER_TRUSTED_ACCOUNTS|scheduling.volcano.sh\n *resources: *\n *- queues/,
      );
      expect(await shell(`cd ${folder}\n${new Page('docs/manifests.md').commands('a component')}`)).toBe(
        'exit code 0',
      );
      const withVolcano = await readFile(join(folder, 'with-volcano/installed.yaml'), 'utf8');
      expect(withVolcano).toContain('  name: muster-volcano\n');
      expect(withVolcano).toContain('  - podgroups.scheduling.volcano.sh\n');
    } finally {
      await rm(folder, { recursive: true });
    }
    const older = await shell('kubectl kustomize manifests/overlays/beside-grove-kubernetes-1.35');
    expect(older).toContain('kind: ValidatingAdmissionPolicy\n');
    expect(older).not.toMatch(/kind: MutatingAdmissionPolicy|name: podgangs.scheduler.grove.io/);
    expect(older).toContain('name: schedulerbackends.muster.dev\n');
    const both =
      'system:serviceaccount:muster-system:muster,system:serviceaccount:grove-system:grove-operator';
    expect(older).toContain(`value: ${both}\n`);
    expect(older.match(/grove-system:grove-operator'+\]/g)).toHaveLength(4);
  });

  test('after the uninstallation nothing is left, and no Pod waits for Muster', async () => {
    expect(await shell('kubectl apply -k manifests/overlays/cert-manager')).toMatch(/exit code 0$/);
    const uninstalled = await shell(PAGE.commands('uninstall'));
    if (!uninstalled.endsWith('exit code 0'))
      throw new Error(`${uninstalled}; on their way out are ${await terminating()}`);
    expect(Object.values(await gated()).flat()).not.toContain(GATE);
    expect(Object.keys(await gated()).sort()).toEqual(['late-0', 'other-0', 'third-0', 'train-0', 'train-1']);
    // The API server leaves a policy a moment after it is gone.
    await until('nobody adds a gate', async () => {
      const { body } = await plane.client.request<StoredPod>('POST', PODS, gangPod(), DRY_RUN);
      return body.spec !== undefined && !gatesOf(body).includes(GATE);
    });
    await createPod('after-0', 'after');
    expect((await gated())['after-0']).toEqual(['example.com/mine']);
    const left = await shell(
      'kubectl get namespaces,clusterroles,clusterrolebindings,validatingadmissionpolicies,mutatingadmissionpolicies,validatingwebhookconfigurations,mutatingwebhookconfigurations -l app.kubernetes.io/part-of=muster -o name',
    );
    expect(left).toBe('exit code 0');
  }, 300_000);
});

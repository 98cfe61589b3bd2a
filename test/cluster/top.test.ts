import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { muster } from '../unit/cli/fake-io.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { GANGS, NAMESPACE, PODS } from './support/registered-muster.ts';
import { readerOf } from './support/reader.ts';
import { withMuster, type OnMuster } from './support/with-muster.ts';

const LABELS = { 'grove.io/scheduler-name': 'default-scheduler' };

clusterSuite('muster top on a real control plane', () => {
  let plane: ControlPlane;
  let on: OnMuster;
  let [viewers, admins] = ['', ''];

  const told = async (kubeconfig: string, ...args: readonly string[]): Promise<string> =>
    (await muster(['top', '-n', NAMESPACE, '--kubeconfig', kubeconfig, ...args])).out;

  beforeAll(async () => {
    on = await withMuster({ plane: { scheduler: true, controllerManager: true }, cpu: 8 });
    ({ plane } = on);
    viewers = await readerOf(plane, NAMESPACE);
    admins = await plane.kubeconfigFor('root', ['system:masters']);
    await plane.client.ok('POST', GANGS, {
      apiVersion: 'scheduler.grove.io/v1alpha1',
      kind: 'PodGang',
      metadata: { name: 'train', labels: LABELS },
      spec: { podgroups: [{ name: 'worker', minReplicas: 2 }] },
    });
    await plane.client.ok('POST', PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'train-0',
        labels: { 'grove.io/podgang': 'train', 'grove.io/podclique': 'worker', ...LABELS },
      },
      spec: {
        containers: [{ name: 'main', image: 'example/train:1', resources: { requests: { cpu: '3' } } }],
      },
    });
  }, 120_000);
  afterAll(() => on?.close(), 60_000);

  test('who may list nodes sees what gates can keep idle', async () => {
    const { totals } = JSON.parse(await told(admins, '-o', 'json')) as { totals: unknown };
    expect(totals).toMatchObject({
      ...{ gangs: 1, reasons: { Pods: 1 }, gatedPods: 1 },
      askedForByGatedPods: { cpu: '3' },
      idleBecauseOfGates: { cpu: '3' },
      gpusIdleBecauseOfGates: 0,
    });
  });

  test('who may view one namespace sees what is asked for, and that the rest is not known', async () => {
    const text = await told(viewers);
    expect(text).toMatch(
      /^1 gang waits: 1 for Pods; gated Pods \(1\) ask for 0 GPUs\nasked for by gated Pods: 3 cpu\n\n/,
    );
    expect(text).toMatch(/\nml\/train +\d+s +1\/1 +3 cpu +waiting for Pods: worker 1\/2\n/);
    expect(text).toContain('not known: what is free on nodes: it takes the right to list nodes');
  });
});

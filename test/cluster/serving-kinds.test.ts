/** RoleBasedGroup and Kthena's ModelServing: their gangs, and what the webhook says of them, on the real API server. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { JsonObject } from '../../src/json/json.ts';
import { manifestsIn } from '../support/manifests.ts';
import type { KubeObject } from './control-plane/client.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { applyAll, untilEstablished } from './support/apply.ts';
import { MODEL_SERVINGS, ROLE_BASED_GROUPS, ROLE_INSTANCES } from './support/crds/workloads.ts';
import { GangCluster, KUBE } from './support/gang-cluster.ts';
import type { Gang } from './support/gang-objects.ts';
import { DRY_RUN, GANGS, NAMESPACE, PODS } from './support/registered-muster.ts';

const GROUPS = `/apis/workloads.x-k8s.io/v1alpha2/namespaces/${NAMESPACE}/rolebasedgroups`;
const INSTANCES = `/apis/workloads.x-k8s.io/v1alpha2/namespaces/${NAMESPACE}/roleinstances`;
const SERVINGS = `/apis/workload.serving.volcano.sh/v1alpha1/namespaces/${NAMESPACE}/modelservings`;
const DEFINITIONS = [ROLE_BASED_GROUPS, ROLE_INSTANCES, MODEL_SERVINGS];

type Change = readonly [from: string, to: string];
const UNLABELLED: Change = ['muster.dev/gang: "true"', 'app: llm'];
const IN_ORDER: Change = ['- name: prefill', '- podManagementPolicy: OrderedReady\n      name: prefill'];
const BY_VOLCANO: Change = ['schedulerName: default-scheduler', 'schedulerName: volcano'];

function exampleOf(name: string, ...changes: readonly Change[]): KubeObject {
  const text = readFileSync(new URL(`../../docs/examples/${name}.yaml`, import.meta.url), 'utf8');
  return parse(changes.reduce((all, [from, to]) => all.replaceAll(from, to), text)) as KubeObject;
}

clusterSuite('kinds that serve models', () => {
  let cluster: GangCluster;

  /** Pods as their controller makes them: with its labels and its reference. */
  const pods = async (controller: string, all: Readonly<Record<string, JsonObject>>): Promise<void> => {
    const { apiVersion, kind, metadata } = await cluster.client.ok<KubeObject>('GET', controller);
    const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true }];
    for (const [name, labels] of Object.entries(all)) {
      await cluster.client.ok('POST', PODS, {
        ...{ apiVersion: 'v1', kind: 'Pod' },
        metadata: { name, labels: { 'muster.dev/gang': 'true', ...KUBE, ...labels }, ownerReferences },
        spec: { containers: [{ name: 'main', image: 'example/serve:1' }] },
      });
    }
  };
  const groupsOf = async (name: string): Promise<string[]> => {
    const { spec } = await until(`PodGang ${name} is made`, () =>
      cluster.client.ok<Gang>('GET', `${GANGS}/${name}`),
    );
    return spec.podgroups.map((one) => `${one.name} ${one.minReplicas}`).sort();
  };
  const asked = (path: string, object: object, name: string) =>
    cluster.client.request<{ message?: string }>('POST', path, { ...object, metadata: { name } }, DRY_RUN);

  beforeAll(async () => {
    cluster = await GangCluster.start({ webhooks: true });
    await applyAll(cluster.client, DEFINITIONS as never);
    await untilEstablished(cluster.client, DEFINITIONS as never);
    await applyAll(cluster.client, await manifestsIn('components/workloads'));
  }, 180_000);
  afterAll(() => cluster?.stop(), 60_000);

  test('RoleBasedGroup: one gang of all roles, with leader and workers of a role as groups', async () => {
    await cluster.client.ok('POST', GROUPS, exampleOf('role-based-group'));
    // Of api/workloads/constants/label.go; a RoleInstance controls the Pods of one instance of a role.
    const instance = async (role: string, index: number, components: readonly string[]): Promise<void> => {
      const name = `llm-${role}-${index}`;
      await cluster.client.ok('POST', INSTANCES, {
        ...{ apiVersion: 'workloads.x-k8s.io/v1alpha2', kind: 'RoleInstance', metadata: { name }, spec: {} },
      });
      const labelled = components.map((component, at): [string, JsonObject] => [
        `${name}-${at}`,
        {
          'rbg.workloads.x-k8s.io/group-name': 'llm',
          'rbg.workloads.x-k8s.io/role-name': role,
          'rbg.workloads.x-k8s.io/component-name': component,
        },
      ]);
      await pods(`${INSTANCES}/${name}`, Object.fromEntries(labelled));
    };
    await instance('router', 0, ['router']);
    expect(await groupsOf('rbg-llm')).toEqual([
      'decode-leader 1',
      'decode-worker 3',
      'prefill 2',
      'router 1',
    ]);
    await instance('prefill', 0, ['prefill']);
    await instance('decode', 0, ['leader', 'worker', 'worker', 'worker']);
    await cluster.untilCondition('rbg-llm', 'Initialized', { status: 'False' });
    await instance('prefill', 1, ['prefill']);
    await cluster.untilBound('rbg-llm', 7);
    expect(await cluster.history.ungatedEarly()).toEqual([]);
  }, 120_000);

  test('ModelServing: each serving group is a gang, with the minimum of its gangPolicy', async () => {
    await cluster.client.ok('POST', SERVINGS, exampleOf('model-serving'));
    // createBasePod of pkg/model-serving-controller/utils in volcano-sh/kthena
    const role = (group: number, name: string, replica: number, workers: number): [string, JsonObject][] =>
      Array.from({ length: 1 + workers }, (_, at): [string, JsonObject] => [
        `llm-${group}-${name}-${replica}-${at}`,
        {
          'modelserving.volcano.sh/name': 'llm',
          'modelserving.volcano.sh/group-name': `llm-${group}`,
          'modelserving.volcano.sh/role': name,
          ...(at === 0 && { 'modelserving.volcano.sh/entry': 'true' }),
        },
      ]);
    await pods(`${SERVINGS}/llm`, Object.fromEntries(role(0, 'prefill', 0, 1)));
    const GANG = 'modelserving-llm--0';
    expect(await groupsOf(GANG)).toEqual([
      'decode-entry 1',
      'decode-worker 3',
      'prefill-entry 1',
      'prefill-worker 1',
    ]);
    await cluster.untilCondition(GANG, 'Initialized', { status: 'False' });
    await pods(
      `${SERVINGS}/llm`,
      Object.fromEntries([...role(0, 'decode', 0, 3), ...role(0, 'decode', 1, 3)]),
    );
    await cluster.untilBound(GANG, 10);
    await pods(`${SERVINGS}/llm`, Object.fromEntries(role(1, 'prefill', 0, 1)));
    await cluster.untilCondition('modelserving-llm--1', 'Initialized', { status: 'False' });
    expect(await cluster.history.ungatedEarly()).toEqual([]);
  }, 120_000);

  test('the webhook is asked about those with the label, and about no others', async () => {
    const refused = await asked(GROUPS, exampleOf('role-based-group', IN_ORDER), 'ordered');
    expect([refused.status, refused.body.message]).toEqual([
      422,
      expect.stringContaining('spec.roles[1].podManagementPolicy: '),
    ]);
    const free = await asked(GROUPS, exampleOf('role-based-group', IN_ORDER, UNLABELLED), 'free');
    expect([free.status, free.warnings]).toEqual([201, []]);

    const warned = await asked(SERVINGS, exampleOf('model-serving', BY_VOLCANO), 'volcano');
    expect([warned.status, warned.warnings]).toEqual([
      201,
      [expect.stringContaining('spec.schedulerName: Kthena writes it on every Pod')],
    ]);
    const quiet = await asked(SERVINGS, exampleOf('model-serving', BY_VOLCANO, UNLABELLED), 'quiet');
    expect([quiet.status, quiet.warnings]).toEqual([201, []]);
  });
});

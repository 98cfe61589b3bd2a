/** What the chart brings, on a real API server: every pair of values is accepted, and the doctor knows it for an installation. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { environmentOf } from '../../src/cli/doctor/program-objects.ts';
import { verbConfiguration } from '../../src/cli/input/configured.ts';
import { ownObject, ownString, type JsonObject } from '../../src/json/json.ts';
import { CHOICES, together, type Choice } from '../support/chart-values.ts';
import { helmSuite, rendered } from '../support/helm.ts';
import { inLength } from '../support/length.ts';
import type { KubernetesObject } from '../support/manifests.ts';
import { pairwise } from '../support/pairwise.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { applyAll, pathOf } from './support/apply.ts';
import { BROKEN, rounds } from './support/broken-installations.ts';
import { breakAndMend, told, untilWhole, wrongOf } from './support/doctor-findings.ts';
import { prometheusOperator } from './support/prometheus-operator.ts';
import { dashboardRuns } from './support/shipped-dashboard.ts';
import { shipped, wholeInstallation, type WholeInstallation } from './support/whole-installation.ts';

const objectsOf = async (choice: Choice): Promise<KubernetesObject[]> =>
  (await rendered(choice.values, choice)) as unknown as KubernetesObject[];
/** The test has a certificate of its own, as cert-manager would bring it. */
const certificates = { mode: 'certManager' };

/** What Muster itself says of the configuration, with the environment that components bring. */
function faultsOfConfiguration(objects: readonly KubernetesObject[]): readonly string[] {
  const one = (kind: string, name: string): JsonObject | undefined =>
    objects.find((object) => object.kind === kind && object.metadata.name === name) as JsonObject | undefined;
  const text = ownString(ownObject(one('ConfigMap', 'muster-config'), 'data'), 'config.yaml');
  const env = environmentOf(one('Deployment', 'muster'));
  const { warnings } = verbConfiguration({ text, file: 'config.yaml', env });
  return warnings.map(({ path, message }) => `${path}: ${message}`);
}

/** What is not there yet is validated whole; the webhooks that are there lead elsewhere. */
const underAnotherName = (object: KubernetesObject): KubernetesObject =>
  /^(Namespace|CustomResourceDefinition)$/.test(object.kind)
    ? object
    : { ...object, metadata: { ...object.metadata, name: `${object.metadata.name}-tried` } };

helmSuite('helm', () => {
  clusterSuite('the chart on a real API server', () => {
    let whole: WholeInstallation;

    beforeAll(async () => {
      const namespace = shipped('overlays/cert-manager').filter(({ kind }) => kind === 'Namespace');
      whole = await wholeInstallation([...namespace, ...(await objectsOf({ values: { certificates } }))]);
      const { client } = whole.on.plane;
      await applyAll(client, prometheusOperator);
      await applyAll(client, [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'gangs' } }]);
      await until('the objects of the operator of Prometheus are served', () =>
        client.ok('GET', '/apis/monitoring.coreos.com/v1/namespaces/gangs/podmonitors'),
      );
    }, 240_000);
    afterAll(() => whole?.on.close(), 60_000);

    const rows = pairwise(CHOICES);
    test('every two values together are objects that the API server takes, to the last field', async () => {
      const { client } = whole.on.plane;
      const query = { fieldManager: 'helm', force: true, fieldValidation: 'Strict', dryRun: 'All' };
      const contentType = 'application/apply-patch+yaml';
      const refused: string[] = [];
      for (const row of inLength({ short: rows.slice(0, 3), long: rows })) {
        const choice = together(Object.values(row));
        const objects = await objectsOf(choice);
        refused.push(...faultsOfConfiguration(objects));
        for (const shippedObject of objects) {
          const object = underAnotherName(shippedObject);
          const { status, body } = await client.request('PATCH', pathOf(object), object, {
            query,
            contentType,
          });
          if (status >= 300)
            refused.push(`${pathOf(object)}: ${JSON.stringify(body)}: ${JSON.stringify(choice)}`);
        }
      }
      expect(refused).toEqual([]);
    }, 240_000);

    test('the doctor finds nothing wrong', async () => {
      await untilWhole(whole);
      expect(told(await wrongOf(whole))).toEqual([]);
    });

    // The short form has one round: doctor-installed.test.ts has all of them, of the same objects.
    const ways = inLength({ short: rounds(BROKEN).slice(0, 1), long: rounds(BROKEN) });
    test(`the doctor finds what is broken, in ${ways.length} rounds`, async () => {
      for (const round of ways) await breakAndMend(whole, round);
      expect(told(await wrongOf(whole))).toEqual([]);
    }, 900_000);

    test('the doctor finds nothing wrong with what somebody installs otherwise, and may', async () => {
      const on = { enabled: true };
      const values = {
        certificates,
        ...{ replicaCount: 5, commonLabels: { team: 'a' }, podLabels: { a: 'b' }, priorityClassName: '' },
        ...{ trustedAccounts: ['system:serviceaccount:ci:robot'], nodeSelector: { pool: 'system' } },
        components: {
          ...{ hpc: on, onCall: on, preemption: on, workloads: on },
          dashboard: { ...on, hosts: ['gangs.example', 'localhost:8443'] },
        },
        extraEnv: [{ name: 'A', value: 'b' }],
        modules: [{ name: 'line', files: { 'line.js': 'export default 1;' } }],
        monitoring: { podMonitor: on, prometheusRule: on },
      };
      const objects = await objectsOf({ values });
      await whole.install(objects);
      await whole.rolledOut({ replicas: 5, updatedReplicas: 5, readyReplicas: 5, availableReplicas: 5 });
      const findings = await untilWhole(whole);
      const of = (check: string): string[] => told(findings.filter((one) => one.check === check));
      expect(of('components')).toEqual([
        'ok program/components: installed with dashboard, hpc, monitoring, preemption, workloads, on-call',
      ]);
      expect(of('accounts')).toEqual([
        'ok policies/accounts: policies and configuration trust the same 2 accounts',
      ]);
      await dashboardRuns(whole, objects, ['gangs.example', 'localhost:8443']);
      await whole.takeAway(objects);
    }, 120_000);

    test('the doctor finds nothing wrong with the default, certificates that Muster makes', async () => {
      const serving = '/api/v1/namespaces/muster-system/secrets/muster-serving-cert';
      const objects = await objectsOf({ values: {} });
      await whole.install(objects);
      await whole.on.plane.client.ok('DELETE', serving);
      await whole.rolledOut();
      const findings = await untilWhole(whole);
      expect(told(findings.filter(({ check }) => check === 'components' || check === 'secret'))).toEqual([
        'ok certificate/secret: Secret muster-system/muster-certificates is empty: the first replica that runs fills it',
        'ok program/components: installed with in-cluster-certificates',
      ]);
      await whole.takeAway(objects);
      await whole.putSecret();
      await whole.install(whole.objects);
    });

    test('the doctor knows what the chart put into another namespace', async () => {
      const objects = await objectsOf({ values: { certificates }, namespace: 'gangs' });
      await whole.install(objects);
      const found = await until('webhooks and policies are as shipped', async () => {
        const { findings } = await whole.doctor({}, '--namespace', 'gangs');
        const found = told(
          findings.filter(({ group }) => /^(definitions|policies|rights|webhooks)$/.test(group)),
        );
        if (found.some((one) => !one.startsWith('ok '))) throw new Error(found.join('\n'));
        return found;
      });
      expect(found).toContain(
        'ok webhooks/mutating: MutatingWebhookConfiguration muster is as this version ships it',
      );
      expect(found).toContain('ok policies/accounts: policies and configuration trust the same account');
    });
  });
});

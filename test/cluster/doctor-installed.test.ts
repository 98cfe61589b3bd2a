/** `muster doctor` beside what is shipped: whole installations have no problem, broken ones are named with what mends them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parseAllDocuments, stringify } from 'yaml';
import { inLength } from '../support/length.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { applyAll, pathOf } from './support/apply.ts';
import { BROKEN, BROKEN_IN_CLUSTER, rounds } from './support/broken-installations.ts';
import { breakAndMend, told, untilWhole, wrongOf } from './support/doctor-findings.ts';
import { prometheusOperator } from './support/prometheus-operator.ts';
import {
  COMPONENTS,
  shipped,
  wholeInstallation,
  type WholeInstallation,
} from './support/whole-installation.ts';

clusterSuite('muster doctor beside what is shipped', () => {
  let whole: WholeInstallation;
  beforeAll(async () => {
    whole = await wholeInstallation();
    await untilWhole(whole);
  }, 240_000);
  afterAll(() => whole?.on.close(), 60_000);

  test('a whole installation', async () => {
    expect(told(await wrongOf(whole))).toEqual([]);
    expect(await whole.fix()).toBe('# nothing is wrong\n');
  });

  test('there are enough ways to break it', () => {
    expect(BROKEN.length).toBeGreaterThanOrEqual(45);
  });

  // One by one in the long form; in the short one what harms different objects is harmed, found and mended together.
  const together = inLength({ short: rounds(BROKEN), long: BROKEN.map((row) => [row]) });
  test.each(together.map((rows) => [rows.map(({ what }) => what).join('; '), rows] as const))(
    '%s',
    async (_what, rows) => {
      await breakAndMend(whole, rows);
    },
  );

  test('what --fix prints a shell runs', async () => {
    const { client } = whole.on.plane;
    const gate = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/muster-gang-pod-gate';
    await client.ok('DELETE', gate);
    await client.ok('DELETE', '/api/v1/namespaces/muster-system/secrets/muster-serving-cert');
    const script = await whole.fix();
    expect(script).toMatch(
      /^# certificate\/secret: the Deployment needs the Secret .*\n# by hand: with cert-manager: .*\n\n# policies\/validating: there is no ValidatingAdmissionPolicy muster-gang-pod-gate: .*\nkubectl --kubeconfig \S+ apply -f - <<'EOF'\napiVersion: /,
    );
    await whole.shell(script);
    await whole.putSecret();
    await untilWhole(whole);
  });

  test('nobody may look: what is not readable is said once a reason, and nothing is called whole', async () => {
    const kubeconfig = await whole.on.plane.kubeconfigFor('nobody', ['nobodies']);
    const { code, findings } = await whole.doctor({ kubeconfig });
    expect(code).toBe(0);
    expect(findings.filter(({ severity }) => severity === 'problem')).toEqual([]);
    expect(findings.filter(({ found }) => / as this version ships /.test(found))).toEqual([]);
    const unread = findings
      .filter(({ group }) => group === 'policies')
      .map(({ severity, found }) => [severity, found]);
    expect(unread).toEqual([
      ['not-checked', 'may not list mutatingadmissionpolicies'],
      ['not-checked', 'may not list mutatingadmissionpolicybindings'],
      ['not-checked', 'may not list validatingadmissionpolicies'],
      ['not-checked', 'may not list validatingadmissionpolicybindings'],
    ]);
  });

  test('the clock of whoever looks is wrong, and is not what things are judged by', async () => {
    const { findings, code } = await whole.doctor({ now: new Date(Date.now() - 10 * 24 * 60 * 60 * 1000) });
    expect(code).toBe(1);
    expect(told(findings.filter(({ check }) => check === 'clock'))).toEqual([
      expect.stringMatching(
        /^problem cluster\/clock: the API server’s clock is 86[34]\d{3} s ahead of this machine’s: certificates that one of them takes for valid the other may not$/,
      ),
    ]);
    // Judged by the API server's: nothing else looks wrong by the wrong one.
    expect(findings.filter(({ severity }) => severity === 'problem')).toHaveLength(1);
  });

  test('what somebody installs otherwise, and may', async () => {
    const { client } = whole.on.plane;
    const spec = {
      replicas: 5,
      template: { spec: { nodeSelector: { pool: 'system' }, priorityClassName: 'system-node-critical' } },
    };
    const path = '/apis/apps/v1/namespaces/muster-system/deployments/muster';
    await client.ok('PATCH', path, { metadata: { labels: { team: 'a' }, annotations: { note: 'x' } }, spec });
    const ready = { replicas: 5, updatedReplicas: 5, readyReplicas: 5, availableReplicas: 5 };
    await whole.rolledOut(ready);
    const { findings } = await whole.doctor();
    expect(told(findings.filter(({ check }) => check === 'settings'))).toEqual([
      'ok program/settings: differs where it may: Deployment muster: spec.replicas is 5, not 3; Deployment muster: spec.template.spec.priorityClassName is system-node-critical, not system-cluster-critical',
    ]);
    expect(told(await wrongOf(whole))).toEqual([]);
    await whole.install(whole.objects);
    await whole.rolledOut();
  });

  test('certificates that Muster makes: whole, broken, and whole again', async () => {
    const usual = new Set(whole.objects.map((object) => JSON.stringify(object)));
    const objects = shipped('overlays/in-cluster').filter((object) => !usual.has(JSON.stringify(object)));
    await whole.install(objects);
    await whole.on.plane.client.ok('DELETE', '/api/v1/namespaces/muster-system/secrets/muster-serving-cert');
    await whole.rolledOut();
    const all = await untilWhole(whole);
    expect(told(all.filter(({ check }) => check === 'secret'))).toEqual([
      'ok certificate/secret: Secret muster-system/muster-certificates is empty: the first replica that runs fills it',
    ]);
    for (const rows of BROKEN_IN_CLUSTER) await breakAndMend(whole, rows);
    await whole.takeAway(objects);
    await whole.putSecret();
    await whole.install(whole.objects);
    await whole.rolledOut();
    await untilWhole(whole);
  }, 120_000);

  test('all components, and in the long form each of them', async () => {
    const usual = new Map(whole.objects.map((object) => [pathOf(object), JSON.stringify(object)]));
    const { client } = whole.on.plane;
    await applyAll(client, prometheusOperator);
    await until('the objects of the operator of Prometheus are served', () =>
      client.ok('GET', '/apis/monitoring.coreos.com/v1/namespaces/muster-system/prometheusrules'),
    );
    for (const name of ['muster-client-ca', 'muster-karmada']) {
      await client.ok('POST', '/api/v1/namespaces/muster-system/secrets', {
        metadata: { name },
        stringData: { 'ca.crt': 'x', kubeconfig: 'x' },
      });
    }
    const each = inLength({ short: [], long: COMPONENTS.map((name) => [name]) });
    for (const components of [...each, COMPONENTS]) {
      const objects = shipped('overlays/cert-manager', components);
      const changed = objects.filter((object) => usual.get(pathOf(object)) !== JSON.stringify(object));
      expect({ components, changed: changed.length }).not.toEqual({ components, changed: 0 });
      await whole.install(changed);
      await whole.rolledOut();
      const all = await untilWhole(whole).catch((error: unknown) => {
        throw new Error(`with ${components.join(', ')}: ${String(error)}`, { cause: error });
      });
      expect(told(all.filter(({ check }) => check === 'components'))).toEqual([
        `ok program/components: installed with ${components.join(', ')}`,
      ]);
      await whole.takeAway(changed);
      const away = new Set(changed.map(pathOf));
      await whole.install(whole.objects.filter((object) => away.has(pathOf(object))));
    }
    await whole.rolledOut();
    await untilWhole(whole);
  }, 240_000);

  test.each([
    ...['base', 'crds', 'policies', 'on-call'],
    ...['cert-manager', 'kubernetes-1.35', 'beside-grove', 'beside-grove-kubernetes-1.35'].map(
      (name) => `overlays/${name}`,
    ),
  ])('what is taken for shipped in manifests/%s is what kubectl kustomize makes of it', async (folder) => {
    await sameAsKubectl(`manifests/${folder}`, shipped(folder));
  });

  test('and so it is with every component', async () => {
    const folder = await mkdtemp('manifests/.all-');
    try {
      const kustomization = {
        resources: ['../overlays/cert-manager'],
        components: COMPONENTS.map((name) => `../components/${name}`),
      };
      await writeFile(join(folder, 'kustomization.yaml'), stringify(kustomization));
      await sameAsKubectl(folder, shipped('overlays/cert-manager', COMPONENTS));
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  async function sameAsKubectl(folder: string, objects: readonly object[]): Promise<void> {
    const made = await whole.shell(`kubectl kustomize ${folder}`);
    const byName = (list: readonly object[]): object =>
      Object.fromEntries(
        // The name of a generated ConfigMap has a hash at its end.
        (
          JSON.parse(JSON.stringify(list).replace(/muster-config-[a-z0-9]{10}/g, 'muster-config')) as Named[]
        ).map((object) => [
          `${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`,
          object,
        ]),
      );
    const theirs = parseAllDocuments(made).map((document) => document.toJS() as object);
    expect(byName(objects)).toEqual(byName(theirs));
  }
});

interface Named {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

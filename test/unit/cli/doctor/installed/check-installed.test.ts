/** What is shipped, installed in other ways than one: overlays, components, another namespace, narrowed, older clusters. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../../src/json/json.ts';
import { objectName } from '../../../../../src/k8s/resource.ts';
import { ABSENT, found, type Diagnosis } from '../../../../../src/cli/doctor/diagnosis.ts';
import { checkInstalled } from '../../../../../src/cli/doctor/installed/check-installed.ts';
import { withDefaults } from '../../../../../src/cli/doctor/installed/equivalence.ts';
import { kustomized } from '../../../../../src/cli/doctor/installed/kustomize.ts';
import { readShipped } from '../../../../../src/cli/doctor/installed/wanted.ts';
import { packageRoot } from '../../../../../src/cli/version.ts';
import { told, wrong } from '../told.ts';

const folder = (name: string): string => join(packageRoot() ?? '', 'manifests', name);
const COMPONENTS = readdirSync(folder('components')).sort();
const NARROW_NOBODY = { namespaceSelector: {}, objectSelector: {} };
const NO_MUTATING = ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'];

const objectsOf = (overlays: readonly string[], components: readonly string[] = []): JsonObject[] => {
  const [first = '', ...rest] = overlays;
  return [
    ...rest.flatMap((name) => kustomized(folder(name))),
    ...kustomized(
      folder(first),
      components.map((name) => folder(`components/${name}`)),
    ),
  ];
};

function check(
  objects: readonly JsonObject[],
  { namespace = 'muster-system', unserved = [] as readonly string[], selectors = NARROW_NOBODY } = {},
): readonly Diagnosis[] {
  const shipped = readShipped(namespace);
  if (shipped === undefined) throw new Error('there are no manifests');
  return checkInstalled({
    shipped,
    live: ({ kind, name }) => {
      const object = objects.find((one) => one['kind'] === kind && objectName(one) === name);
      // As it is stored.
      return object === undefined ? ABSENT : found(withDefaults(object));
    },
    lists: {},
    unserved: new Set(unserved),
    selectors,
  });
}

test.each([
  ['base by itself', ['base', 'crds', 'policies'], [], []],
  ['cert-manager', ['overlays/cert-manager'], [], []],
  ['in-cluster', ['overlays/in-cluster'], [], ['in-cluster-certificates']],
  ['beside-grove', ['overlays/beside-grove', 'crds'], [], ['grove-operator']],
  ['kubernetes-1.35', ['overlays/kubernetes-1.35'], NO_MUTATING, []],
  [
    'beside Grove on 1.35',
    ['overlays/beside-grove-kubernetes-1.35', 'crds'],
    NO_MUTATING,
    ['grove-operator'],
  ],
] as const)(
  'nothing is wrong with %s, alone, with each component and with all',
  (_what, overlays, unserved, own) => {
    // It takes cert-manager out, so that has to be in.
    const without = /^base$|in-cluster/.test(overlays[0]);
    const here = COMPONENTS.filter((name) => !without || name !== 'in-cluster-certificates');
    for (const components of [[], ...here.map((name) => [name]), here]) {
      const findings = check(objectsOf(overlays, components), { unserved });
      expect({ components, wrong: wrong(findings) }).toEqual({ components, wrong: [] });
      const names = [...new Set([...components, ...own])].sort().join(', ');
      expect(told(findings.filter(({ check: name }) => name === 'components'))).toEqual(
        names === '' ? [] : [`ok program/components: installed with ${names}`],
      );
    }
  },
);

test('half a component is told, by whatever is left of it', () => {
  const objects = objectsOf(['overlays/cert-manager'], ['preemption', 'workloads']).filter(
    (object) => !(object['kind'] === 'ClusterRoleBinding' && objectName(object) === 'muster-preemption'),
  );
  const [finding, ...others] = check(objects).filter(({ severity }) => severity === 'problem');
  expect(others).toEqual([]);
  expect(finding?.found).toBe(
    'there is no ClusterRoleBinding muster-preemption: nobody has the rights of its role',
  );
  expect(finding?.commands?.[0]).toMatch(/^kubectl apply -f - <<'EOF'\napiVersion: rbac.*\n(.*\n)+EOF$/);
});

test('a part of the dashboard is a warning: no gang waits for it, and the names that it answers to are free', () => {
  const objects = objectsOf(['overlays/cert-manager'], ['dashboard'])
    .filter((object) => !(object['kind'] === 'Service' && objectName(object) === 'muster-dashboard'))
    .map(
      (object) =>
        JSON.parse(
          JSON.stringify(object).replace('--host=localhost:8443', '--host=gangs.example.com'),
        ) as JsonObject,
    );
  const findings = check(objects);
  expect(findings.filter(({ severity }) => severity === 'problem')).toEqual([]);
  expect(findings.filter(({ severity }) => severity === 'warning').map((one) => one.found)).toEqual([
    'there is no Service muster-dashboard: the dashboard is not served, or knows no gangs; gangs move without it',
  ]);
});

test('definitions that Grove’s chart brings are Grove’s', () => {
  const objects = objectsOf(['overlays/beside-grove', 'crds']).map((object) =>
    objectName(object) === 'podgangs.scheduler.grove.io'
      ? {
          ...object,
          metadata: {
            name: objectName(object),
            annotations: { 'controller-gen.kubebuilder.io/version': 'v1' },
          },
          spec: {},
        }
      : object,
  );
  expect(wrong(check(objects))).toEqual([]);
});

test('another namespace, with its name wherever it stands', () => {
  const moved = JSON.parse(
    JSON.stringify(objectsOf(['overlays/cert-manager'])).replaceAll('muster-system', 'gangs'),
  ) as JsonObject[];
  expect(wrong(check(moved, { namespace: 'gangs' }))).toEqual([]);
  expect(wrong(check(moved)).length).toBeGreaterThan(10);
});

test('webhooks are narrowed as the configuration is, and no other way', () => {
  const selectors = {
    namespaceSelector: { matchLabels: { team: 'ml' }, matchExpressions: [] },
    objectSelector: { matchLabels: {}, matchExpressions: [] },
  };
  const narrow = (team: string) =>
    objectsOf(['overlays/cert-manager']).map((object) => {
      const webhooks = object['webhooks'] as { namespaceSelector?: object }[] | undefined;
      if (webhooks === undefined) return object;
      const narrowed = webhooks.map((webhook) => ({
        ...webhook,
        namespaceSelector: { ...webhook.namespaceSelector, matchLabels: { team } },
      }));
      return { ...object, webhooks: narrowed };
    });
  expect(wrong(check(narrow('ml'), { selectors }))).toEqual([]);
  expect(wrong(check(narrow('other'), { selectors }))).toHaveLength(2);
  expect(wrong(check(narrow('ml')))).toHaveLength(2);
  expect(wrong(check(objectsOf(['overlays/cert-manager']), { selectors }))).toEqual([]);
});

test('without a Deployment: where Muster runs elsewhere, and where its Service is called', () => {
  const objects = objectsOf(['overlays/cert-manager']).filter(
    ({ kind }) => kind !== 'Deployment' && kind !== 'Service',
  );
  expect(wrong(check(objects)).map((line) => line.replace(/ → .*/, ''))).toEqual([
    'problem program/service: there is no Service muster: the API server does not find Muster',
    'problem program/deployment: there is no Deployment muster: nobody answers the webhooks, and no gang moves',
  ]);
  const byUrl = objects.map((object) => {
    const webhooks = object['webhooks'] as object[] | undefined;
    if (webhooks === undefined) return object;
    const called = webhooks.map((one) => ({ ...one, clientConfig: { url: 'https://10.0.0.1/x' } }));
    return { ...object, webhooks: called };
  });
  expect(wrong(check(byUrl))).toEqual([]);
});

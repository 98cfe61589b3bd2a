import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { packageRoot } from '../../../src/cli/version.ts';
import { kustomized } from '../../../src/cli/doctor/installed/kustomize.ts';
import { ownObject, ownString, type JsonObject } from '../../../src/json/json.ts';
import { kindName } from '../../../src/cli/doctor/installed/wanted.ts';
import { objectName } from '../../../src/k8s/resource.ts';
import { switches } from '../../../charts/sources.ts';
import { helmSuite, rendered, withoutHelm } from '../../support/helm.ts';

const folder = (name: string): string => join(packageRoot() ?? '', 'manifests', name);

/** What `kubectl apply -k` would apply, but for the Namespace, which `helm install --create-namespace` makes. */
const applied = (overlay: string, components: readonly string[] = []): readonly JsonObject[] =>
  kustomized(
    folder(`overlays/${overlay}`),
    components.map((name) => folder(name)),
  ).filter((object) => object['kind'] !== 'Namespace');

/** By kind and name, without what the chart adds; the configuration as a value, for its text has other comments. */
const comparable = (objects: readonly JsonObject[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    objects
      .map(withoutHelm)
      .map((object): [string, unknown] => {
        const data = ownObject(object, 'data');
        const text = data && ownString(data, 'config.yaml');
        const value = text === undefined ? object : { ...object, data: parse(text) as unknown };
        return [`${kindName(object)} ${objectName(object)}`, value];
      })
      .sort(),
  );

const without = (
  objects: Readonly<Record<string, unknown>>,
  key: string,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(objects).filter(([name]) => name !== key));

const image = { repository: 'muster', tag: 'dev' };
const withImage = { image, certificates: { mode: 'certManager' } };
const on = { enabled: true };
const ALL_BACKENDS = ['default-scheduler', 'kai-scheduler', 'volcano', 'coscheduling'];

helmSuite('the chart, beside kustomize', () => {
  test('with its own values: overlays/in-cluster', async () => {
    expect(comparable(await rendered({ image }))).toEqual(comparable(applied('in-cluster')));
  });

  test('with cert-manager: overlays/cert-manager', async () => {
    expect(comparable(await rendered(withImage))).toEqual(comparable(applied('cert-manager')));
  });

  test('before Kubernetes 1.36: overlays/kubernetes-1.35', async () => {
    expect(comparable(await rendered(withImage, { kubernetes: '1.35.3' }))).toEqual(
      comparable(applied('kubernetes-1.35')),
    );
  });

  test('beside Grove: overlays/beside-grove', async () => {
    const values = { ...withImage, components: { groveOperator: on } };
    expect(comparable(await rendered(values))).toEqual(comparable(applied('beside-grove')));
  });

  test('with every component and backend: the same components', async () => {
    const values = {
      ...withImage,
      components: Object.fromEntries(switches().map((name) => [name, on])),
      monitoring: { podMonitor: on, prometheusRule: on },
      config: { scheduler: { profiles: ALL_BACKENDS.map((name) => ({ name })) } },
    };
    const components = [
      ...['client-certificate', 'coscheduling', 'dashboard', 'grove-operator', 'hpc', 'kai-scheduler'],
      ...[
        'karmada-access',
        'karmada-assigner',
        'karmada-interpreter',
        'karmada-queues',
        'monitoring',
        'preemption',
      ],
      ...['preemption-past-budgets', 'preemption-preview', 'volcano', 'workloads'],
    ].map((name) => `components/${name}`);
    const chart = comparable(await rendered(values));
    const kustomize = comparable(applied('cert-manager', [...components, 'on-call']));
    // overlays/beside-grove leaves it out for all who have the component.
    const definition = 'CustomResourceDefinition podgangs.scheduler.grove.io';
    expect(Object.keys(chart)).not.toContain(definition);
    // What the profiles say is the configuration's own, which kustomize leaves to an overlay of the user's.
    const config = 'ConfigMap muster-config';
    expect({ ...chart, [config]: 0 }).toEqual({ ...without(kustomize, definition), [config]: 0 });
  });
});

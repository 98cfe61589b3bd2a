import { describe, expect, test } from '@jest/globals';
import { line } from '../../../docs/examples/line-backend.ts';
import type { BackendFactory } from '../../../src/backends/backend.ts';
import { conformanceChecks, type ConformanceSettings } from '../../../src/conformance/conformance.ts';
import { coscheduling } from '../../../src/backends/coscheduling/backend.ts';
import { kai } from '../../../src/backends/kai/backend.ts';
import { kube } from '../../../src/backends/native/backend.ts';
import { builtInBackends } from '../../../src/backends/registry.ts';
import { volcano } from '../../../src/backends/volcano/backend.ts';
import { clusterServing, serving, type Version } from '../backends/native/served.ts';

const topology = { enabled: true, keys: ['zone', 'rack', 'host'] };
const kubeOn = (version: Version, groups: string): [string, BackendFactory, ConformanceSettings] => [
  `default-scheduler, ${version}, ${groups}`,
  kube,
  { config: { groups }, cluster: clusterServing(serving(version)) },
];

const CASES: [string, BackendFactory, ConformanceSettings][] = [
  ['default-scheduler, gates alone', kube, {}],
  ...(['v1beta1', 'v1alpha3', 'v1alpha2', 'v1alpha1'] as const).flatMap((version) => [
    kubeOn(version, 'flat'),
    kubeOn(version, 'per-group'),
  ]),
  ['kai-scheduler', kai, { config: { queue: 'research' } }],
  [
    'kai-scheduler, queue by label',
    kai,
    { topology, gang: { labels: { 'kai.scheduler/queue': 'research' } } },
  ],
  ['volcano', volcano, {}],
  ['volcano with minResources', volcano, { config: { minResources: true }, topology }],
  ['coscheduling', coscheduling, {}],
  ['the example of docs/backends.md', line, {}],
];

test('every backend that comes with Muster is tried', () => {
  const tried = new Set(CASES.map(([, factory]) => factory));
  expect(builtInBackends.filter((factory) => !tried.has(factory))).toEqual([]);
});

describe.each(CASES)('%s', (_name, factory, settings) => {
  test.each(conformanceChecks(factory, settings))('$name', async ({ run }) => {
    expect(await run()).toMatchObject({ state: 'passed' });
  });
});

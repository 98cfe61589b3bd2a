/** Kinds of the configuration are served as the rows of Muster's own table are. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { loadConfiguration } from '../../../src/config/load.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { configuredWorkloadRights } from '../../../src/cli/doctor/expected-rights.ts';
import { policyFrom } from '../../../src/cli/input/policy.ts';
import { gangKindsWith } from '../../../src/workloads/configured-gangs.ts';
import { gangKindOf, gangKinds } from '../../../src/workloads/kinds.ts';
import { gangNumbers } from '../../../src/workloads/gang-numbers.ts';
import { originOf } from '../../../src/workloads/pod-origin.ts';
import { readMemberPod } from '../../../src/controller/watch/gang-view.ts';
import { json, pod } from '../../support/pods.ts';
import { workloadPod } from '../../support/workload-pods.ts';
import { muster } from '../cli/fake-io.ts';

const CONFIG = `apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
workloads:
  - group: example.com
    version: v1beta1
    kind: Trainer
    labels: { gang: example.com/trainer, group: example.com/role }
    minAvailable: spec.minMember
    templates:
      - { name: driver, template: spec.driver.template }
      - { items: spec.roles, nameFrom: role, template: template, replicas: count, minAvailable: least }
  - group: example.com
    kind: Renderer
    plural: rendering
    short: render
    labels: { gang: example.com/renderer }
    single: { template: spec.pods, replicas: spec.size }
`;
const folder = mkdtempSync(join(tmpdir(), 'muster-workloads-'));
const file = join(folder, 'config.yaml');
writeFileSync(file, CONFIG);
afterAll(() => rmSync(folder, { recursive: true }));
const { configuration } = loadConfiguration({
  text: CONFIG,
  env: {},
  flags: {},
  supportedSchedulers: ['default-scheduler'],
});
const kinds = gangKindsWith(configuration.workloads);
const template = {
  metadata: { labels: { 'muster.dev/gang': 'true' } },
  spec: { containers: [{ name: 'x' }] },
};
const trainer = (spec: object = {}, status: object = {}): JsonObject =>
  json({
    ...{ apiVersion: 'example.com/v1beta1', kind: 'Trainer', metadata: { name: 'bert' } },
    spec: { driver: { template }, roles: [{ role: 'worker', count: 3, least: 2, template }], ...spec },
    status,
  });
const told = (object: JsonObject, short = 'trainer') => {
  const kind = gangKindOf(short, kinds);
  if (kind === undefined) throw new Error(`there is no kind ${short}`);
  return gangNumbers(object, kind);
};

test('without one there is Muster’s own table and nothing besides', () => {
  expect(gangKindsWith([])).toBe(gangKinds);
  expect(policyFrom(configuration).gangKinds?.length).toBe(gangKinds.length + 2);
});

describe('the Pods of a kind of the configuration', () => {
  const place = (given: Parameters<typeof workloadPod>[3] = {}, short = 'trainer') =>
    originOf(workloadPod(short, 'bert', 'worker', given, kinds), kinds);

  test('are of the workload that controls them and that their label names', () => {
    expect(place()).toMatchObject({ kind: 'trainer', name: 'bert', uid: 'uid-of-bert' });
    expect(place({}, 'render')).toMatchObject({ kind: 'render', name: 'bert' });
    expect(readMemberPod(workloadPod('trainer', 'bert', 'worker', {}, kinds), kinds).origin).toEqual(place());
  });

  test.each([
    ['another controller', { controller: { name: 'mine' } }],
    ['a controller of another kind', { controller: { kind: 'Job', apiVersion: 'batch/v1' } }],
    ['a controller of another group', { controller: { apiVersion: 'example.org/v1beta1' } }],
    ['no label', { labels: { 'example.com/trainer': undefined } }],
    ['no label for its template', { labels: { 'example.com/role': undefined } }],
  ])('with %s are of none', (_, given) => {
    expect(place(given)).toBeUndefined();
  });

  test('are of none where the configuration does not tell of them', () => {
    const ours = workloadPod('trainer', 'bert', 'worker', {}, kinds);
    expect(originOf(ours)).toBeUndefined();
    expect(readMemberPod(pod({})).origin).toBeUndefined();
  });
});

describe('the numbers of its gang', () => {
  test('are those of its templates', () => {
    expect(told(trainer()).groups).toEqual([
      { name: 'driver', replicas: 1, minReplicas: 1, left: 1 },
      { name: 'worker', replicas: 3, minReplicas: 2, left: 3 },
    ]);
    expect(told(json({ spec: { size: 4, pods: template } }), 'render').groups).toEqual([
      { name: 'main', replicas: 4, minReplicas: 4, left: 4 },
    ]);
  });

  test('may be wrong, which is said', () => {
    expect(told(trainer({ minMember: 9 })).wrong).toBe(
      'spec.minMember: a minimum of 9 is more than there are Pods (4); lower it',
    );
  });

  test.each([
    [{ phase: 'Succeeded' }, 'Succeeded'],
    [{ phase: 'Completed' }, 'Succeeded'],
    [{ phase: 'Failed' }, 'Failed'],
    [{ phase: 'Running' }, undefined],
    [{ conditions: [{ type: 'Complete', status: 'True' }] }, 'Succeeded'],
    [{ conditions: [{ type: 'Failed', status: 'True' }] }, 'Failed'],
    [{ conditions: [{ type: 'Failed', status: 'False' }] }, undefined],
  ])('status %j: it has ended %s', (status, ended) => {
    expect(told(trainer({}, status)).ended).toBe(ended);
  });

  test('it is suspended by spec.suspend', () => {
    expect(told(trainer({ suspend: true })).suspended).toBe(true);
  });
});

test('muster review shows its Pods, and the PodGang that is made of them', async () => {
  const review = (...args: string[]) =>
    muster(['review', '-f', '-', '-o', 'json', ...args], {
      stdin: JSON.stringify(trainer()),
    });
  const results = JSON.parse((await review('--config', file)).out) as {
    ref: { name: string };
    allowed: boolean;
    gang: string;
    made?: string;
    stored?: { spec: { podgroups: object[] } };
  }[];
  expect(results.map(({ allowed, gang, made }) => [allowed, gang, made])).toEqual([
    [true, 'default/trainer-bert', undefined],
    [true, 'default/trainer-bert', 'trainer/bert'],
    [true, 'default/trainer-bert', undefined],
  ]);
  const without = await review();
  expect(without.out).toContain('GangWorkloadUnknown');
});

test('muster interpret tells of the same templates', async () => {
  const { out } = await muster(['interpret', '-f', '-', '-o', 'json', '--config', file], {
    stdin: JSON.stringify(trainer()),
  });
  expect(JSON.stringify(JSON.parse(out))).toContain('"worker"');
});

test('Muster’s account has to have the right to list and watch it', () => {
  const rules = configuredWorkloadRights(kinds).map(({ group, resources, verbs }) => ({
    group,
    resources,
    verbs,
  }));
  expect(rules).toEqual([
    { group: 'example.com', resources: ['trainers'], verbs: ['list', 'watch'] },
    { group: 'example.com', resources: ['rendering'], verbs: ['list', 'watch'] },
  ]);
});

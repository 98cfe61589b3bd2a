import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { trimmed } from '../../../../src/preemption/read/trim.ts';
import { freeOnNodes } from '../../../../src/status/read-top.ts';
import { muster } from '../fake-io.ts';

const GATE = { name: 'grove.io/podgang-pending-creation' };

const podGang = (namespace: string, name: string, minReplicas: number): JsonObject => ({
  apiVersion: 'scheduler.grove.io/v1alpha1',
  kind: 'PodGang',
  metadata: { namespace, name, uid: `${namespace}-${name}`, creationTimestamp: '2026-01-02T03:00:00Z' },
  spec: { podgroups: [{ name: 'worker', minReplicas, podReferences: [] }] },
});
const member = (
  namespace: string,
  gang: string,
  index: number,
  gpus: string,
  spec: JsonObject,
): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    ...{
      namespace,
      name: `${gang}-${index}`,
      uid: `${gang}-${index}`,
      creationTimestamp: '2026-01-02T03:01:00Z',
    },
    labels: { 'grove.io/podgang': gang, 'grove.io/podclique': 'worker' },
  },
  spec: {
    containers: [
      { name: 'main', resources: { requests: { cpu: '1500m', memory: '1Gi', 'nvidia.com/gpu': gpus } } },
    ],
    ...spec,
  },
  status: { phase: 'Pending' },
});
const node = (name: string, gpus: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  spec,
  status: { allocatable: { cpu: '8', memory: '16Gi', 'nvidia.com/gpu': gpus } },
});

const GATED = { schedulingGates: [GATE] };
const GANGS = [
  podGang('ml', 'train', 3),
  ...[0, 1].map((index) => member('ml', 'train', index, '4', GATED)),
  podGang('nlp', 'tune', 1),
];
const CLUSTER = [...GANGS, node('a', '4'), node('b', '8', { unschedulable: true })];
const saved = (items: readonly JsonObject[]): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
const top = (items: readonly JsonObject[], ...args: readonly string[]) =>
  muster(['top', '-f', '-', ...args], { stdin: saved(items), columns: 400 });

describe('muster top -f', () => {
  test('prints the totals and the gangs that wait', async () => {
    const { code, out, err } = await top(CLUSTER);
    expect([code, err]).toEqual([0, '']);
    expect(out.split('\n')).toEqual([
      '2 gangs wait: 2 for Pods; gated Pods (2) ask for 8 GPUs',
      'asked for by gated Pods: 8 nvidia.com/gpu, 3 cpu, 2Gi memory',
      'free on nodes now:       4 nvidia.com/gpu, 8 cpu, 16Gi memory',
      'idle because of gates:   4 nvidia.com/gpu, 3 cpu, 2Gi memory',
      '',
      'NAMESPACE/GANG  WAITING  PODS  HELD BACK                            FOR',
      'ml/train        4m       2/2   8 nvidia.com/gpu, 3 cpu, 2Gi memory  waiting for Pods: worker 2/3',
      'nlp/tune        4m       0/0   -                                    waiting for Pods: worker 0/1',
      '',
    ]);
  });

  test('says that what is free is not known without nodes', async () => {
    const { out } = await top(GANGS, '-n', 'ml');
    expect(out).toContain('1 gang waits: 1 for Pods; gated Pods (2) ask for 8 GPUs\nasked for');
    expect(out).not.toContain('idle because of gates');
    expect(out).toContain('\nnot known: what is free on nodes: the input has no Node\n');
  });

  test('says which Pod asks for what cannot be read', async () => {
    const { out } = await top([podGang('ml', 'train', 3), member('ml', 'train', 0, 'many', GATED)]);
    expect(out).toContain(
      'not known: what Pod ml/train-0 asks for: spec.containers[0].resources.requests.nvidia.com/gpu:\n  "many" is no quantity; write it as 500m, 2 or 12Gi\n',
    );
  });

  test('refuses a file of muster snapshot, in which no Pod has a gate', async () => {
    expect(await top(CLUSTER.map(trimmed))).toEqual({
      ...{ code: 2, out: '' },
      err:
        'error[INPUT_UNREADABLE]: PodGang ml/train comes from muster snapshot, which leaves out gates, conditions and times\n' +
        'fix: take the file with kubectl get -o json, as --help shows, or read the cluster without -f\n',
    });
  });

  test('says that no gang waits', async () => {
    expect(await top([node('a', '4')])).toEqual({ code: 0, out: 'no gang waits\n', err: '' });
  });

  test('prints JSON for programs', async () => {
    const { out } = await top(CLUSTER, '-n', 'ml', '-o', 'json');
    const asked = { 'nvidia.com/gpu': '8', cpu: '3', memory: '2Gi' };
    expect(JSON.parse(out)).toEqual({
      gangs: [
        {
          ...{ namespace: 'ml', name: 'train', reason: 'Pods', why: 'waiting for Pods: worker 2/3' },
          since: '2026-01-02T03:00:00Z',
          pods: { gated: 2, all: 2 },
          heldBack: asked,
        },
      ],
      totals: {
        ...{ gangs: 1, reasons: { Pods: 1 }, gatedPods: 2 },
        askedForByGatedPods: asked,
        gpusAskedForByGatedPods: 8,
        freeOnNodes: { 'nvidia.com/gpu': '4', cpu: '8', memory: '16Gi' },
        idleBecauseOfGates: { 'nvidia.com/gpu': '4', cpu: '3', memory: '2Gi' },
        gpusIdleBecauseOfGates: 4,
      },
      unknown: [],
    });
  });

  test.each<[string, readonly string[], string]>([
    [
      'another order',
      ['--by', 'name'],
      "error[USAGE]: option '--by <order>' argument 'name' is invalid. Allowed choices are time, reason, resources.\n" +
        'fix: see "muster top --help"\n',
    ],
    [
      'another format',
      ['-o', 'svg'],
      "error[USAGE]: option '-o, --output <format>' argument 'svg' is invalid. Allowed choices are text, json.\n" +
        'fix: see "muster top --help"\n',
    ],
  ])('refuses %s', async (_what, args, err) => {
    expect(await top(CLUSTER, ...args)).toEqual({ code: 2, out: '', err });
  });
});

test.each<[string, readonly JsonObject[], number | undefined]>([
  ['a node', [node('a', '4')], 4],
  ['a cordoned node', [node('a', '4', { unschedulable: true })], undefined],
  [
    'a node that is not ready',
    [node('a', '4', { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }] })],
    undefined,
  ],
  [
    'a node for GPUs alone',
    [node('a', '4', { taints: [{ key: 'nvidia.com/gpu', effect: 'NoSchedule' }] })],
    4,
  ],
  ['a node with a Pod', [node('a', '4'), member('ml', 'x', 0, '3', { nodeName: 'a' })], 1],
  ['a node that is overcommitted', [node('a', '4'), member('ml', 'x', 0, '9', { nodeName: 'a' })], 0],
])('%s has its GPUs free', (_what, objects, gpus) => {
  expect(freeOnNodes(objects).get('nvidia.com/gpu')).toBe(gpus);
});

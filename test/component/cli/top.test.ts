import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { run } from '../../../src/cli/run.ts';
import { list, status } from '../kube/fault-server.ts';
import { processAt } from './fake-tty.ts';
import { GANGS, gangObject, podObject, PODS, WatchedApi } from './watched-api.ts';

const NODES = 'GET /api/v1/nodes?';
const EVERY_POD = 'GET /api/v1/pods?';

let api: WatchedApi;
// The first makes the keys.
beforeEach(async () => {
  api = await WatchedApi.start();
}, 60_000);
afterEach(() => api.close());

const ended = async (...args: readonly string[]) => {
  const { io, written } = processAt();
  const code = await run(['top', '--kubeconfig', api.kubeconfig, ...args], io);
  return { code, ...written };
};
const asking = (gpus: string) => ({ containers: [{ resources: { requests: { 'nvidia.com/gpu': gpus } } }] });
const gated = (name: string) => {
  const pod = podObject(name, 1);
  return { ...pod, spec: { ...pod.spec, ...asking('4') } };
};
const some = (): void =>
  void api.has([gangObject('train', 1, [['worker', 3]])], [gated('worker-0'), gated('worker-1')]);
const totalsOf = (out: string): string[] => out.split('\n').slice(0, 4);

test('gates keep idle at most what nodes have free beside the Pods of all namespaces', async () => {
  some();
  const node = { metadata: { name: 'a' }, status: { allocatable: { 'nvidia.com/gpu': '8' } } };
  const other = {
    metadata: { namespace: 'x', name: 'y', uid: 'z' },
    spec: { nodeName: 'a', ...asking('2') },
    status: { phase: 'Running' },
  };
  api.server.answer(NODES, list(1, [node])).answer(EVERY_POD, list(1, [other]));
  const { code, out, err } = await ended();
  expect([code, err]).toEqual([0, '']);
  expect(totalsOf(out)).toEqual([
    '1 gang waits: 1 for Pods; gated Pods (2) ask for 8 GPUs',
    'asked for by gated Pods: 8 nvidia.com/gpu',
    'free on nodes now:       6 nvidia.com/gpu',
    'idle because of gates:   6 nvidia.com/gpu',
  ]);
});

test('where no Pod is gated nothing is idle because of gates, and neither nodes nor other Pods are read', async () => {
  api.has([gangObject('train', 1, [['worker', 3]])], [podObject('worker-0', 1, { node: 'a' })]);
  const { code, out, err } = await ended('-o', 'json');
  expect([code, err]).toEqual([0, '']);
  expect(
    api.server.requests.filter((line) => [NODES, EVERY_POD].some((one) => line.startsWith(one))),
  ).toEqual([]);
  expect(JSON.parse(out)).toMatchObject({
    totals: { gangs: 1, gatedPods: 0, idleBecauseOfGates: {}, gpusIdleBecauseOfGates: 0 },
    unknown: [],
  });
});

test('without the right to list nodes it says so', async () => {
  some();
  const no = status(403, 'nodes is forbidden');
  api.server.answer(NODES, no).answer(EVERY_POD, list(1, []));
  const { code, out } = await ended();
  expect(code).toBe(0);
  expect(totalsOf(out).slice(1, 3)).toEqual(['asked for by gated Pods: 8 nvidia.com/gpu', '']);
  expect(out).toContain(
    'not known: what is free on nodes: it takes the right to list nodes, and Pods in all namespaces\n',
  );
});

test('without the right to list Pods it fails as muster status does', async () => {
  api.server.answer(PODS, status(403, 'pods is forbidden')).answer(GANGS, list(1, []));
  const { code, out, err } = await ended();
  expect([code, out]).toEqual([1, '']);
  expect(err).toMatch(
    /^error\[CLUSTER_REFUSED\]: list pods: 403 Failure: pods is forbidden .*\nfix: It takes the rights /,
  );
});

/** muster dashboard on an API server that a test writes into. */
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '../../unit/tls/until.ts';
import { GANGS, gangObject, podObject, PODS, WatchedApi } from '../cli/watched-api.ts';
import { json, list, status } from '../kube/fault-server.ts';
import { StartedDashboard } from './started.ts';

let api: WatchedApi;
let started: StartedDashboard;

const start = (...flags: readonly string[]): void => {
  started = new StartedDashboard(api, ...flags);
};
const read = async (path: string): Promise<unknown> => (await started.read(path)).body;

beforeEach(async () => {
  api = await WatchedApi.start();
}, 60_000);
afterEach(async () => {
  await started.end();
  await api.close();
});

test('prints an address that shows the gangs as they are, until Ctrl-C', async () => {
  api.has([gangObject('train', 1, [['leader', 1]])], []).accepts();
  start();
  await started.address();
  expect(started.program.written.out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}\n$/);
  expect(started.program.written.err).toBe(
    'reading the gangs of the cluster …\n' +
      'open it in a browser of this machine: it works once; Ctrl-C ends the dashboard\n',
  );
  const why = 'waiting for Pods: leader 0/1';
  expect(await read('/api/v1/gangs')).toMatchObject({ gangs: [{ name: 'train', phase: 'Pending', why }] });

  await until('the watches', () => api.watched);
  api.tell(PODS, 'ADDED', podObject('leader-0', 2));
  await until('the Pod', async () => JSON.stringify(await read('/api/v1/gangs')).includes('"gated":1'));

  const event = (kind: string, name: string, at: string) => ({
    metadata: { name: `${name}.1`, creationTimestamp: at },
    involvedObject: { kind, name, uid: `uid-${name}` },
    ...{ type: 'Warning', reason: 'Why', message: `of ${name}`, lastTimestamp: at },
  });
  const answers = (): void => {
    api.server.answer(GANGS, list(1, [gangObject('train', 1, [['leader', 1]])]));
    api.server.answer(PODS, list(1, [podObject('leader-0', 2)]));
    api.server.answer('GET /apis/apiextensions.k8s.io', status(404, 'unknown'));
  };
  answers();
  const times = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z'] as const;
  api.server.answer(
    'GET /api/v1/namespaces/ml/events?',
    list(1, [
      event('PodGang', 'train', times[0]),
      event('Pod', 'leader-0', times[1]),
      event('Pod', 'other', times[2]),
    ]),
  );
  expect(await read('/api/v1/gangs/ml/train')).toMatchObject({
    gang: { name: 'train', pods: [{ name: 'leader-0', state: 'gated' }] },
    timeline: { steps: [{ step: 'created' }], svg: expect.stringContaining('</svg>') },
    events: [
      { of: 'Pod/leader-0', note: 'of leader-0', warning: true, count: 1 },
      { of: 'PodGang/train', note: 'of train' },
    ],
    eventsLeft: 0,
  });
  answers();
  api.server.answer('GET /api/v1/namespaces/ml/events?', status(403, 'no'));
  expect(await read('/api/v1/gangs/ml/train')).toMatchObject({
    events: [],
    eventsUnread: expect.stringMatching(/^Events of namespace ml could not be read: /),
    timeline: {
      unknown: expect.arrayContaining([
        'Events of namespace ml could not be read: you have no right to list them; the ClusterRole "view" has it',
      ]),
    },
  });

  expect(await started.end()).toBe(0);
  expect(api.server.requests.filter((line) => !line.startsWith('GET '))).toEqual([]);
});

test('queues are those of the cluster, or why they are not known', async () => {
  api.has([], []).accepts();
  start();
  await started.address();
  const fleet = ['/apis/muster.dev', '/apis/work.karmada.io', '/apis/work.karmada.io'];
  for (const path of fleet) api.server.answer(`GET ${path}`, status(404, 'unknown'));
  expect(await read('/api/v1/queues')).toEqual({
    error: {
      code: 'CLUSTER_REFUSED',
      message: expect.stringContaining('it knows no FleetQueue, or no bindings of Karmada'),
      fix: 'Name Karmada’s API server with --kubeconfig, and apply manifests/karmada/queues there.',
    },
  });
});

describe('ends without an address', () => {
  test('where the right is missing', async () => {
    api.server.answer(PODS, status(403, 'pods is forbidden')).answer(GANGS, list(1, []));
    start();
    expect(await started.running).toBe(1);
    expect(started.program.written.out).toBe('');
    expect(started.program.written.err).toMatch(
      /^error\[CLUSTER_REFUSED\]: list pods: 403 Failure: pods is forbidden/m,
    );
    expect(started.program.written.err).toContain(
      'It takes the rights to list (with -w also to watch) pods and podgangs.scheduler.grove.io in namespace ml: ' +
        'the ClusterRole "view" has them once Muster is installed.',
    );
  });

  test('where the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    api.has([], []).accepts();
    start('--port', String(port));
    expect(await started.running).toBe(1);
    expect(started.program.written.err).toContain(
      `error[LISTEN_FAILED]: cannot listen on 127.0.0.1:${port}: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n` +
        'fix: stop what holds the port, or choose another with --port\n',
    );
    other.close();
  });

  test.each(['x', '-1', '65536', '1.5', ''])('where the port is none: %j', async (port) => {
    api.server.answer('GET /version', json({}));
    start(`--port=${port}`);
    expect(await started.running).toBe(2);
    expect(started.program.written.err).toContain('A port is a number up to 65535.');
  });
});

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { run } from '../../../src/cli/run.ts';
import { json, list, status, type Answer } from '../kube/fault-server.ts';
import { processAt } from './fake-tty.ts';
import { WatchedApi } from './watched-api.ts';

const QUEUES = 'GET /apis/muster.dev/v1alpha1/fleetqueues?';
const BINDINGS = 'GET /apis/work.karmada.io/v1alpha2/resourcebindings?';
const WIDE = 'GET /apis/work.karmada.io/v1alpha2/clusterresourcebindings?';

let api: WatchedApi;
beforeAll(async () => {
  // The first makes the keys.
  api = await WatchedApi.start();
}, 60_000);
afterAll(() => api.close());

/** The answers to the next call. */
const answers = (queues: Answer, bindings: readonly object[] = []): void => {
  api.server.answer('GET /version', json({})).answer(QUEUES, queues);
  api.server.answer(BINDINGS, list(1, bindings)).answer(WIDE, list(1, []));
};
const ended = async (...args: readonly string[]) => {
  const { io, written } = processAt();
  const code = await run(['status', '--fleet', '--kubeconfig', api.kubeconfig, ...args], io);
  return { code, ...written };
};

const queue = (name: string, spec: object) => ({ metadata: { name, uid: name }, spec });
const binding = (
  name: string,
  { held = true, ...spec }: { held?: boolean; replicas: number },
  said?: object,
) => ({
  metadata: {
    ...{ namespace: 'ml', name, uid: name, creationTimestamp: '2026-01-01T00:00:00Z' },
    annotations: said ?? { 'muster.dev/fleet-queue': 'research' },
  },
  spec: {
    resource: { apiVersion: 'batch/v1', kind: 'Job', name },
    replicaRequirements: { resourceRequest: { cpu: '1' } },
    suspension: { scheduling: held },
    ...spec,
  },
});
const some = (): void =>
  answers(
    list(1, [
      queue('research', { parent: 'org', weight: 3 }),
      queue('org', { capacity: { cpu: '4' } }),
      queue('shut', { hold: true }),
    ]),
    [
      binding('runs', { held: false, replicas: 3 }),
      binding('large', { replicas: 2 }),
      binding('huge', { replicas: 5 }),
      binding('unread', { replicas: 1 }, { 'muster.dev/fleet-terms': 'unread' }),
    ],
  );

test('queues, and of each gang its position and why it waits', async () => {
  some();
  const { code, out, err } = await ended();
  expect([code, err]).toEqual([0, '']);
  expect(out.replaceAll(/\b\d+[smhd]\S*/g, 'AGE').replaceAll(/ {2,}/g, '  ')).toMatchInlineSnapshot(`
   "QUEUE  PARENT  WEIGHT  WAITING  THROUGH  USED
   org  -  1  0  0  3 of 4 cpu
   research  org  3  2  1  no limit
   shut  -  1  0  0  queue "shut" is on hold; take spec.hold away to let gangs through

   QUEUE  POSITION  BINDING  AGE  WHY
   research  1  ml/huge  AGE  asks for 5 cpu, more than the 4 of queue "org"; raise spec.capacity or ask for less
   research  2  ml/large  AGE  queue "org" has 1 of 4 cpu left, and 2 are needed; room is kept for it
   -  -  ml/unread  -  what its workload and its policy say is not read yet; its Events say why
   "
  `);
});

test('the same as JSON', async () => {
  some();
  const { code, out } = await ended('-o', 'json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    queues: [
      {
        name: 'org',
        parent: '',
        weight: 1,
        capacity: { cpu: '4' },
        used: { cpu: '3' },
        waiting: 0,
        through: 0,
      },
      { name: 'research', parent: 'org', weight: 3, hold: false, closed: null, waiting: 2, through: 1 },
      { name: 'shut', hold: true, closed: expect.stringContaining('is on hold') },
    ],
    waiting: [
      {
        namespace: 'ml',
        name: 'huge',
        workload: 'batch/v1 Job huge',
        queue: 'research',
        position: 1,
        since: '2026-01-01T00:00:00.000Z',
      },
      { name: 'large', position: 2 },
      { name: 'unread', queue: null, position: 0, since: null },
    ],
  });
});

test('nothing there', async () => {
  answers(list(1, []));
  expect(await ended()).toMatchObject({ code: 0, out: 'no queues, and nobody waits\n' });
});

test('an API server that knows no queues, and somebody without the right', async () => {
  answers(status(404, 'the server could not find it'));
  const absent = await ended();
  expect([absent.code, absent.out]).toEqual([1, '']);
  expect(absent.err).toMatch(
    /^error\[CLUSTER_REFUSED\]: list fleetqueues: 404 .* \(it knows no FleetQueue, or no bindings of Karmada\)\nfix: Name Karmada’s API server with --kubeconfig, and apply manifests\/karmada\/queues there\.\n$/,
  );
  answers(status(403, 'ann cannot list'));
  const forbidden = await ended();
  expect(forbidden.code).toBe(1);
  expect(forbidden.err).toContain(
    'fix: It takes the rights to list fleetqueues.muster.dev, resourcebindings.work.karmada.io',
  );
});

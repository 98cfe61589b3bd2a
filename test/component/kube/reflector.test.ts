import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { ObjectChange, Identified } from '../../../src/kube/loop/cache.ts';
import type { ReflectorTimes } from '../../../src/kube/loop/reflector-options.ts';
import { Reflector } from '../../../src/kube/loop/reflector.ts';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { createKubeClient } from '../../../src/kube/client/http-client.ts';
import { PODS, type KubeObject } from '../../../src/kube/client/resources.ts';
import { until } from '../../unit/tls/until.ts';
import {
  bookmark,
  cut,
  event,
  FaultServer,
  json,
  list,
  silence,
  status,
  stream,
  thing,
  type Answer,
} from './fault-server.ts';

const LIST = 'GET /api/v1/pods?limit';
const WHOLE_LIST = 'GET /api/v1/pods ';
const WATCH = 'GET /api/v1/pods?watch';
/** Quick, so that a test takes no longer than what it tests. */
const TIMES: Partial<ReflectorTimes> = {
  unreachable: { baseMs: 1, maxMs: 5 },
  refused: { baseMs: 1, maxMs: 5 },
};

let server: FaultServer;
let client: KubeClient;
let reflector: Reflector<Identified> | undefined;
const changes: string[] = [];
const failures: string[] = [];

const trim = ({ metadata }: KubeObject): Identified => {
  if (metadata.name === 'poison') throw new Error('cannot be understood');
  const { name, namespace = '', uid = '', resourceVersion = '' } = metadata;
  return { name, namespace, uid, resourceVersion };
};
const note = ({ type, old, new: now }: ObjectChange<Identified>): void => {
  changes.push(`${type} ${(now ?? old)?.name}@${(now ?? old)?.resourceVersion}`);
};
const reflect = (times: Partial<ReflectorTimes> = {}): Reflector<Identified> => {
  reflector = new Reflector({
    client,
    resource: PODS,
    trim,
    times: { ...TIMES, ...times },
    observer: {
      failed: (error) => failures.push((error as Error).message),
      handlerFailed: (error) => failures.push(`handler: ${(error as Error).message}`),
    },
  });
  reflector.subscribe(note);
  reflector.start();
  return reflector;
};
/** A watch that stays open. */
const open = (...pieces: readonly string[]): Answer => stream(pieces, silence);
const asked = (starts: string): string[] => server.requests.filter((line) => line.startsWith(starts));
const told = (count: number): Promise<void> =>
  until(`${count} changes are told`, () => changes.length >= count);

beforeEach(async () => {
  changes.length = 0;
  failures.length = 0;
  server = await FaultServer.start();
  client = createKubeClient(server.connection(), { random: () => 0 });
});
afterEach(async () => {
  await reflector?.stop();
  await client.close();
  await server.close();
});

test('lists in pages, then watches from there, and goes on where a watch ended', async () => {
  server.answer(LIST, list(0, [thing('a', 1), thing('b', 2)], 'next'), list(7, [thing('c', 3)]));
  server.answer(WATCH, stream([event('ADDED', thing('d', 8)), bookmark(20)]), open(bookmark(21)));
  const { store } = reflect({ pageSize: 2 });
  await reflector?.whenSynced();
  expect(reflector?.hasSynced).toBe(true);
  await until('it watches again', () => asked(WATCH).length === 2);
  expect(asked('GET /api/v1/pods?limit=2&continue=next')).toHaveLength(1);
  expect(asked(WATCH).map((line) => /resourceVersion=(\d+)/.exec(line)?.[1])).toEqual(['7', '20']);
  expect(asked(WATCH).every((line) => /timeoutSeconds=(3\d|40)$/.test(line))).toBe(true);
  expect(changes).toEqual(['added a@1', 'added b@2', 'added c@3', 'added d@8']);
  expect([store.size, failures]).toEqual([4, []]);
});

test('comes back after a cut inside a line without listing again, and tells nothing twice', async () => {
  server.answer(LIST, list(5, [thing('a', 1)]));
  const b = event('ADDED', thing('b', 6));
  server.answer(WATCH, stream([b, b, event('MODIFIED', thing('a', 7)).slice(0, 30)], cut));
  server.answer(WATCH, open(b, event('MODIFIED', thing('a', 7)), event('DELETED', thing('b', 8))));
  reflect();
  await told(4);
  expect(changes).toEqual(['added a@1', 'added b@6', 'updated a@7', 'deleted b@6']);
  expect(asked(LIST)).toHaveLength(1);
  expect(failures).toHaveLength(1);
});

test('takes a silent watch for dead', async () => {
  server.answer(LIST, list(5, []));
  server.answer(WATCH, silence, open(), open(event('ADDED', thing('a', 6))));
  // Far longer than a busy machine takes to connect: each watch is to reach the server.
  reflect({ silenceMs: 3_000 });
  await told(1);
  expect(asked(WATCH)).toHaveLength(3);
  expect(failures.every((line) => line.includes('nothing for 3 s, not even a bookmark'))).toBe(true);
});

test('lists again after 410, and finds what was deleted, replaced and added meanwhile', async () => {
  const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
  server.answer(LIST, list(5, [thing('a', 1), thing('b', 2), thing('c', 3)]));
  server.answer(WATCH, stream([event('ERROR', gone)]));
  const successor = thing('b', 30);
  successor.metadata.uid = 'another';
  server.answer(LIST, list(40, [thing('a', 1), successor, thing('d', 35)]));
  server.answer(WATCH, status(410, 'too old'));
  server.answer(LIST, list(50, [thing('a', 1), successor]));
  server.answer(WATCH, open());
  const { store } = reflect();
  await told(8);
  expect(changes.slice(3)).toEqual([
    'deleted b@2',
    'added b@30',
    'added d@35',
    'deleted c@3',
    'deleted d@35',
  ]);
  expect([store.get('crew', 'b')?.uid, reflector?.hasSynced]).toEqual(['another', true]);
});

test('begins a list again, without pages, when its pages expire, and keeps nothing of the first', async () => {
  server.answer(LIST, list(0, [thing('ghost', 1)], 'next'), status(410, 'the continue token is too old'));
  server.answer('GET /api/v1/pods', list(9, [thing('a', 2)]));
  server.answer(WATCH, open());
  reflect({ pageSize: 1 });
  await reflector?.whenSynced();
  expect(changes).toEqual(['added a@2']);
  expect(server.requests.some((line) => `${line} `.startsWith(WHOLE_LIST))).toBe(true);
});

test('keeps what it has while the server fails, and is synced only by a whole list', async () => {
  server.answer(LIST, status(403, 'pods is forbidden'), cut, cut, status(500, 'etcd'), json({ items: 7 }));
  server.answer(LIST, list(5, [thing('a', 1)]));
  server.answer(WATCH, cut, status(429, 'busy'), cut, open(event('ADDED', thing('b', 6))));
  const { store } = reflect();
  expect(reflector?.hasSynced).toBe(false);
  await told(2);
  expect(changes).toEqual(['added a@1', 'added b@6']);
  expect(failures.some((line) => line.includes('pods is forbidden'))).toBe(true);
  expect([store.size, asked(LIST).length >= 6]).toEqual([2, true]);
});

test('isolates a handler that throws and an object that nobody understands', async () => {
  server.answer(LIST, list(5, [thing('poison', 1), thing('a', 2)]));
  server.answer(WATCH, open(event('ADDED', thing('poison', 6)), event('ADDED', thing('b', 7))));
  const { store } = reflect();
  reflector?.subscribe(() => {
    throw new Error('a defect');
  });
  await told(2);
  await until(
    'the defect is told',
    () => failures.filter((line) => line === 'handler: a defect').length === 2,
  );
  expect(changes).toEqual(['added a@2', 'added b@7']);
  expect(failures.filter((line) => line.includes('cannot be understood'))).toHaveLength(2);
  const late: string[] = [];
  reflector?.subscribe(({ type, new: now }) => late.push(`${type} ${now?.name}`));
  expect([late, store.size]).toEqual([['added a', 'added b'], 2]);
});

test.each([
  '{"type":"ADDED","object":null}',
  '{"type":"ADDED"}',
  '{"type":"ADDED","object":{"metadata":{}}}',
  '{"type":"ADDED","object":{"metadata":{"name":"x"}}}',
  '{"type":"BOOKMARK","object":{}}',
  '{"type":"NONSENSE","object":{"metadata":{"name":"x","resourceVersion":"9"}}}',
  'null',
  '7',
])('found by fuzzing: %s is no event: it is told in words, and nothing of it is kept', async (line) => {
  server.answer(LIST, list(5, [thing('a', 1)]));
  server.answer(WATCH, stream([event('ADDED', thing('b', 6)), `${line}\n`]));
  server.answer(WATCH, open(event('ADDED', thing('b', 6)), event('ADDED', thing('c', 7))));
  const { store } = reflect();
  await told(3);
  expect(changes).toEqual(['added a@1', 'added b@6', 'added c@7']);
  expect([...store.values()].map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  expect(failures).toEqual([expect.stringContaining('watch pods: no answer from')]);
  expect(failures[0]).toContain(`no event of a watch: ${line}`);
});

test('stops at once, whatever it is doing', async () => {
  server.answer(LIST, silence);
  reflect();
  await until('it lists', () => asked(LIST).length === 1);
  const waiting = reflector?.whenSynced();
  await reflector?.stop();
  await expect(waiting).rejects.toThrow('the reflector was stopped');
});

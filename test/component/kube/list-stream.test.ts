/** Streaming lists (WatchList), as kube-apiserver 1.36 and 1.37 were seen to answer, and everything that can end one. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { createKubeClient } from '../../../src/kube/client/http-client.ts';
import { PODS, type KubeObject, type Resource } from '../../../src/kube/client/resources.ts';
import type { Identified } from '../../../src/kube/loop/cache.ts';
import { CacheMemory } from '../../../src/kube/loop/cache-memory.ts';
import type { ReflectorTimes } from '../../../src/kube/loop/reflector-options.ts';
import { Reflector } from '../../../src/kube/loop/reflector.ts';
import {
  messageField,
  messageWith,
  textField,
  textMapField,
  type Message,
} from '../../../src/protobuf/message.ts';
import { bytes, frame, integer, nested, unknown } from '../../unit/protobuf/encode.ts';
import { until } from '../../unit/tls/until.ts';
import {
  bookmark,
  cut,
  event,
  FaultServer,
  list,
  silence,
  status,
  stream,
  thing,
  type Answer,
} from './fault-server.ts';

const STREAM =
  'GET /api/v1/pods?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds';
const WATCH = 'GET /api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion=';
const LIST = 'GET /api/v1/pods?limit';
const CONFIG_MAPS: Resource = { ...PODS, plural: 'configmaps', kind: 'ConfigMap' };
/** Far longer than a busy machine takes to connect: a stream that is given up before that was never asked for. */
const SILENT: Partial<ReflectorTimes> = { listSilenceMs: 3_000 };
const TIMES: Partial<ReflectorTimes> = {
  unreachable: { baseMs: 1, maxMs: 5 },
  refused: { baseMs: 1, maxMs: 5 },
};
const GONE = event('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' });

let server: FaultServer;
let client: KubeClient;
const reflectors: Reflector<Identified>[] = [];
const changes: string[] = [];
const failures: string[] = [];
const unstreamed: string[] = [];
const listed: number[] = [];

const reflect = (
  resource = PODS,
  { room, fields, ...times }: Partial<ReflectorTimes> & { room?: CacheMemory; fields?: Message } = {},
): Reflector<Identified> => {
  const reflector = new Reflector<Identified>({
    client,
    resource,
    trim: ({ metadata: { name, namespace = '', uid = '', resourceVersion = '' } }: KubeObject) => ({
      ...{ name, namespace, uid, resourceVersion },
    }),
    times: { ...TIMES, ...times },
    room,
    fields,
    observer: {
      failed: (error) => failures.push((error as Error).message),
      unstreamed: (why) => unstreamed.push(why),
      listed: (count) => listed.push(count),
    },
  });
  reflector.subscribe(({ type, old, new: now }) => {
    changes.push(`${type} ${(now ?? old)?.name}@${(now ?? old)?.resourceVersion}`);
  });
  reflector.start();
  reflectors.push(reflector);
  return reflector;
};
const added = (...things: readonly object[]): string =>
  things.map((object) => event('ADDED', object)).join('');
const endOfList = (resourceVersion: number): string =>
  event('BOOKMARK', {
    metadata: {
      resourceVersion: String(resourceVersion),
      annotations: { 'k8s.io/initial-events-end': 'true' },
    },
  });
const open = (...pieces: readonly string[]): Answer => stream(pieces, silence);
const asked = (starts: string): string[] => server.requests.filter((line) => line.startsWith(starts));
const told = (count: number): Promise<void> =>
  until(`${count} changes are told`, () => changes.length >= count);

beforeEach(async () => {
  for (const words of [changes, failures, unstreamed, listed]) words.length = 0;
  server = await FaultServer.start();
  server.streamsLists = true;
  client = createKubeClient(server.connection(), { random: () => 0 });
});
afterEach(async () => {
  await Promise.all(reflectors.splice(0).map((reflector) => reflector.stop()));
  await client.close();
  await server.close();
});

test('lists by a stream up to the bookmark, and watches from there', async () => {
  server.answer(STREAM, open(added(thing('a', 1), thing('b', 2)), added(thing('c', 3)) + endOfList(7)));
  server.answer(WATCH, open(event('ADDED', thing('d', 8))));
  const reflector = reflect();
  expect(reflector.hasSynced).toBe(false);
  await reflector.whenSynced();
  await told(4);
  expect(changes).toEqual(['added a@1', 'added b@2', 'added c@3', 'added d@8']);
  expect(asked(WATCH)[0]).toContain('resourceVersion=7&');
  expect([asked(LIST), failures, listed]).toEqual([[], [], [3]]);
});

test('tells nothing of a list before its bookmark, and counts in what changed before that', async () => {
  const pieces = [added(thing('a', 1), thing('b', 2), thing('c', 3))];
  server.answer(STREAM, (response, request) => {
    stream(pieces, () => {
      void until('nothing was told', () => changes.length === 0).then(() => {
        response.write(event('MODIFIED', thing('a', 9)) + event('DELETED', thing('b', 10)));
        response.write(added(thing('b', 11), thing('d', 12)) + endOfList(12));
      });
    })(response, request);
  });
  server.answer(WATCH, open());
  const { store } = reflect();
  await until('it watches', () => asked(WATCH).length === 1);
  const states = Array.from(store.values(), ({ name, resourceVersion }) => `${name}@${resourceVersion}`);
  expect(states.sort()).toEqual(['a@9', 'b@11', 'c@3', 'd@12']);
  expect(asked(WATCH)[0]).toContain('resourceVersion=12&');
});

test('a relist by a stream tells what was deleted, replaced and added, and nothing else', async () => {
  server.answer(STREAM, open(added(thing('a', 1), thing('b', 2), thing('c', 3)) + endOfList(5)));
  server.answer(WATCH, stream([GONE]));
  const successor = { metadata: { ...thing('b', 30).metadata, uid: 'another' } };
  server.answer(STREAM, open(added(thing('a', 1), successor, thing('d', 35)) + endOfList(40)));
  server.answer(WATCH, open());
  const { store } = reflect();
  await told(7);
  expect(changes.slice(3)).toEqual(['deleted b@2', 'added b@30', 'added d@35', 'deleted c@3']);
  expect([store.size, listed]).toEqual([3, [3, 3]]);
});

test('what a stream sent that was cut is void, also where it was a relist', async () => {
  server.answer(STREAM, stream([added(thing('ghost', 1))], cut), stream([added(thing('a', 1))]));
  // After two that broke off it is read in pages.
  server.answer(LIST, list(5, [thing('a', 1), thing('b', 2)]));
  server.answer(WATCH, stream([GONE]));
  server.answer(STREAM, stream([added(thing('a', 1), thing('ghost', 6))], cut));
  server.answer(STREAM, open(added(thing('b', 2)) + endOfList(9)));
  server.answer(WATCH, open());
  const { store } = reflect();
  await told(3);
  expect(changes).toEqual(['added a@1', 'added b@2', 'deleted a@1']);
  expect(failures[1]).toContain('list pods: no answer from');
  expect(failures[1]).toContain('the stream ended before the bookmark');
  expect([store.size, asked(STREAM).length, asked(LIST).length, unstreamed]).toEqual([1, 4, 1, []]);
});

test('an API server that refuses streams is not asked again for one, by any kind, and it is said once', async () => {
  server.streamsLists = false;
  server.answer(LIST, list(5, [thing('a', 1)]), list(9, [thing('b', 6)]));
  server.answer('GET /api/v1/configmaps?limit', list(5, [thing('c', 2)]));
  server.answer('GET /api/v1/configmaps?watch', open());
  server.answer(WATCH, stream([GONE]), open());
  reflect(PODS, { pageSize: 10 });
  reflect(CONFIG_MAPS);
  await told(4);
  expect(changes.slice().sort()).toEqual(['added a@1', 'added b@6', 'added c@2', 'deleted a@1']);
  expect(unstreamed).toEqual([
    expect.stringContaining('sendInitialEvents is forbidden for watch unless the WatchList feature gate'),
  ]);
  expect(server.refusedStreams).toBeLessThanOrEqual(2);
  expect(failures.filter((line) => !line.includes('410'))).toEqual([]);
});

test.each([
  [
    'sends an ordinary bookmark',
    open(added(thing('ghost', 1)) + bookmark(4)),
    /a bookmark that does not end/,
  ],
  ['falls silent after the objects', open(added(thing('ghost', 1))), /no bookmark within 3 s/],
])('an API server that does not know the parameter and %s is read in pages', async (_, answer, why) => {
  server.answer(STREAM, answer);
  server.answer(LIST, list(5, [thing('a', 1)]));
  server.answer(WATCH, open());
  await reflect(PODS, SILENT).whenSynced();
  expect(changes).toEqual(['added a@1']);
  expect([unstreamed.length, failures]).toEqual([1, []]);
  expect(unstreamed[0]).toMatch(why);
});

test('an API server that answers with another error is asked for a stream again', async () => {
  server.answer(STREAM, status(429, 'the watch cache is not filled'), status(403, 'no'), cut, silence);
  server.answer(STREAM, open(added(thing('a', 1)) + endOfList(5)));
  server.answer(WATCH, open());
  await reflect(PODS, SILENT).whenSynced();
  expect([asked(STREAM).length, asked(LIST), unstreamed]).toEqual([5, [], []]);
  expect(failures.at(-1)).toContain('list pods: no answer from');
  expect(failures.at(-1)).toContain('nothing for 3 s');
});

const BEHIND = event('ERROR', {
  ...{ kind: 'Status', code: 504, reason: 'Timeout' },
  message: 'Too large resource version: 8, current: 7',
});

test.each<[string, Answer, string, Partial<ReflectorTimes>]>([
  ['leaves two streams without an answer', silence, 'nothing for 3 s', SILENT],
  ['has a watch cache that is behind etcd', stream([BEHIND]), '504 Timeout: Too large resource version', {}],
])('an API server that %s is read in pages', async (_, answer, failure, times) => {
  server.answer(STREAM, answer, answer);
  server.answer(LIST, list(5, [thing('a', 1)]));
  server.answer(WATCH, open());
  await reflect(PODS, times).whenSynced();
  expect([changes, asked(STREAM).length, unstreamed]).toEqual([['added a@1'], 2, []]);
  expect(failures).toEqual(Array(2).fill(expect.stringContaining(failure)));
});

describe('where the kind is read in protobuf', () => {
  const PROTOBUF = 'application/vnd.kubernetes.protobuf;stream=watch';
  const metadata = messageWith({
    ...{
      1: textField('name'),
      3: textField('namespace'),
      5: textField('uid'),
      6: textField('resourceVersion'),
    },
    12: textMapField('annotations'),
  });
  const fields = messageWith({ 1: messageField('metadata', metadata) });
  const pod = (type: string, name: string, version: string): Buffer => {
    const names = [bytes(1, name), bytes(3, 'crew'), bytes(5, `uid-${name}`)];
    return frame(type, unknown('Pod', nested(1, ...names, bytes(6, version))));
  };
  const end = nested(12, bytes(1, 'k8s.io/initial-events-end'), bytes(2, 'true'));
  const protobuf =
    (...pieces: readonly Buffer[]): Answer =>
    (response) => {
      response.writeHead(200, { 'content-type': PROTOBUF }).write(Buffer.concat(pieces));
    };
  const accepted = (): Set<string | undefined> => new Set(server.headers.map(({ accept }) => accept));

  test('the API server is asked for that, and one that has it not sends JSON', async () => {
    const listed = frame('BOOKMARK', unknown('Pod', nested(1, bytes(6, '5'), end)));
    server.answer(STREAM, protobuf(pod('ADDED', 'a', '1'), pod('ADDED', 'b', '2'), listed));
    server.answer(WATCH, protobuf(pod('MODIFIED', 'a', '7')), open(event('DELETED', thing('b', 8))));
    reflect(PODS, { fields });
    await told(3);
    server.cutAll();
    await told(4);
    expect(changes).toEqual(['added a@1', 'added b@2', 'updated a@7', 'deleted b@2']);
    expect(accepted()).toEqual(new Set([`${PROTOBUF},application/json`]));
  });

  test.each([
    [
      'a field of another type',
      frame('ADDED', unknown('Pod', integer(1, 7))),
      'metadata is written as type 0',
    ],
    ['an event of a gigabyte', Buffer.from([0x40, 0, 0, 0]), 'an event of 1073741824 bytes'],
    ['nothing', frame('ADDED', unknown('Pod')), 'no event of a watch, of the type "ADDED"'],
  ])('%s cannot be read: it is told, and JSON is asked for from then on', async (_, unread, why) => {
    server.answer(STREAM, protobuf(pod('ADDED', 'ghost', '1'), unread));
    server.answer(STREAM, open(added(thing('a', 1)) + endOfList(5)));
    server.answer(WATCH, open());
    reflect(PODS, { fields });
    await until('it watches', () => asked(WATCH).length === 1);
    expect([changes, unstreamed]).toEqual([['added a@1'], []]);
    expect(failures).toEqual([
      expect.stringContaining(`protobuf that cannot be read, JSON comes next: ${why}`),
    ]);
    expect(accepted()).toEqual(new Set([`${PROTOBUF},application/json`, 'application/json']));
  });
});

test('what does not fit into memory is left out, and its namespace stands still', async () => {
  const room = new CacheMemory({ total: 900, ofNamespace: 900, reserve: 0 });
  server.answer(STREAM, open(added(thing('a', 1), thing('b', 2), thing('c', 3)) + endOfList(5)));
  server.answer(WATCH, open());
  const { store } = reflect(PODS, { room });
  await until('it is listed', () => listed.length === 1);
  expect([store.size < 3, room.standing]).toEqual([true, 1]);
});

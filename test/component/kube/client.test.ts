import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ENVIRONMENT, MANAGED_FIELDS } from '../../../src/json/unread-lists.ts';
import type { KubeClient, WatchEvent } from '../../../src/kube/client/client.ts';
import { isConflict, isGone, isUnreachable } from '../../../src/kube/client/errors.ts';
import { AnswerTooLarge } from '../../../src/kube/client/pending-call.ts';
import { createKubeClient } from '../../../src/kube/client/http-client.ts';
import { CallWindow } from '../../../src/kube/loop/call-window.ts';
import { TokenBucket } from '../../../src/kube/client/token-bucket.ts';
import { FakeClock } from '../../unit/kube/loop/fake-clock.ts';
import { until } from '../../unit/tls/until.ts';
import { PODS, type KubeObject } from '../../../src/kube/client/resources.ts';
import { MusterError } from '../../../src/errors.ts';
import { cut, event, FaultServer, json, list, silence, status, stream, thing } from './fault-server.ts';

const target = { resource: PODS, namespace: 'crew', name: 'a' };
const GET = 'GET /api/v1/namespaces/crew/pods/a';
const PATCH = 'PATCH /api/v1/namespaces/crew/pods/a';
const LIST = 'GET /api/v1/pods';

const thrown = async (doing: Promise<unknown>): Promise<Error> =>
  doing.then(
    () => new Error('nothing was thrown'),
    (error: unknown) => error as Error,
  );

let server: FaultServer;
let client: KubeClient;

beforeEach(async () => {
  server = await FaultServer.start();
  client = createKubeClient(server.connection(), { random: () => 0 });
});
afterEach(async () => {
  await client.close();
  await server.close();
});

describe('a call', () => {
  test('goes over the same connections again and again, with its credentials', async () => {
    for (let n = 0; n < 20; n += 1) {
      server.answer(GET, json(thing('a', n)));
      await client.get(target);
    }
    // Two, not one: the pool may look for a connection before the answer before has quite been put away.
    expect(server.connections).toBeLessThanOrEqual(2);
    expect(server.headers[0]).toMatchObject({ authorization: 'Bearer secret', accept: 'application/json' });
  });

  test('opens a bounded number of connections', async () => {
    await client.close();
    client = createKubeClient(server.connection(), { connections: 3 });
    for (let n = 0; n < 40; n += 1) server.answer(GET, json(thing('a', n)));
    await Promise.all(Array.from({ length: 40 }, () => client.get(target)));
    expect(server.connections).toBe(3);
  });

  test.each([429, 503])('waits as %i with Retry-After asks, also when it writes', async (code) => {
    const busy = status(code, 'busy', { 'retry-after': '0' });
    server.answer(PATCH, busy, busy, json(thing('a', 2)));
    expect(await client.mergePatch(target, {})).toMatchObject({ metadata: { resourceVersion: '2' } });
    expect(server.requests).toHaveLength(3);
  });

  test('gives its place in the window away while it waits to be tried again, and a refused eviction is named so', async () => {
    await client.close();
    const window = new CallWindow();
    const atRest: number[] = [];
    const answered: string[] = [];
    client = createKubeClient(server.connection(), {
      random: () => {
        queueMicrotask(() => queueMicrotask(() => atRest.push(window.inFlight)));
        return 0;
      },
      observer: { answered: (verb, code) => void answered.push(`${verb} ${code}`) },
      window,
    });
    server.answer(PATCH, status(429, 'busy', { 'retry-after': '0' }), json(thing('a', 2)));
    await client.mergePatch(target, {});
    expect(window.inFlight).toBe(0);
    expect(atRest).toEqual([0]);
    server.answer('POST /api/v1/namespaces/crew/pods/a/eviction', status(429, 'guarded'));
    const evicted = await thrown(client.evict({ namespace: 'crew', name: 'a', uid: 'u' }));
    expect(evicted.message).toContain('evict pods crew/a: 429');
    expect(answered).toEqual(['patch 429', 'patch 200', 'evict 429']);
  });

  test('gives up after three repetitions', async () => {
    const busy = status(429, 'busy', { 'retry-after': '0' });
    server.answer(GET, busy, busy, busy, busy, busy);
    const error = await thrown(client.get(target));
    expect(error).toMatchObject({ status: 429, reason: 'TooManyRequests', retryAfter: 0 });
    expect(server.requests).toHaveLength(4);
  });

  test('does not wait longer than it has time', async () => {
    server.answer(GET, status(429, 'busy', { 'retry-after': '60' }));
    const error = await thrown(client.get(target, { timeoutMs: 4_900 }));
    expect(error).toMatchObject({ status: 429, retryAfter: 60 });
  });

  test('does not repeat an error that says nothing of repeating', async () => {
    server.answer(GET, status(500, 'broken'), json(thing('a', 1)));
    expect(await thrown(client.get(target))).toMatchObject({ status: 500 });
    server.answer(PATCH, status(409, 'changed'));
    expect(isConflict(await thrown(client.mergePatch(target, {})))).toBe(true);
  });

  test('reads again once after a lost connection, but never writes again', async () => {
    server.answer(GET, cut, json(thing('a', 1)));
    expect(await client.get(target)).toMatchObject({ metadata: { name: 'a' } });
    server.answer(GET, cut, cut, json(thing('a', 1)));
    expect(isUnreachable(await thrown(client.get(target)))).toBe(true);
    server.answer(PATCH, cut, json(thing('a', 1)));
    expect(isUnreachable(await thrown(client.mergePatch(target, {})))).toBe(true);
    expect(server.requests.filter((line) => line.startsWith('PATCH'))).toHaveLength(1);
  });

  test('of an answer that nobody wants only the status is read, and of a refusal all of it', async () => {
    const nothing = { answer: 'nothing' } as const;
    server.answer(PATCH, (response) => response.end('{ no JSON'), status(409, 'changed'));
    expect(await client.jsonPatch(target, [], nothing)).toBeUndefined();
    expect(server.headers[0]?.accept).toContain('as=PartialObjectMetadata');
    const error = await thrown(client.jsonPatch(target, [], nothing));
    expect([isConflict(error), error.message]).toEqual([true, 'patch pods crew/a: 409 Conflict: changed']);
  });

  test('takes no more of an answer than it wants to hold, and does not ask for the same again', async () => {
    const items = Array.from({ length: 40 }, (_, index) => thing(`a${index}`, index));
    const whole = list(9, items);
    server.answer(LIST, whole, whole);
    const error = await thrown(client.list(PODS, { maxBytes: 1_000 }));
    expect(error).toBeInstanceOf(AnswerTooLarge);
    expect(server.requests).toHaveLength(1);
    expect((await client.list(PODS, { maxBytes: 1_000_000 })).items).toHaveLength(40);
  });

  test('called off while it waits for a connection, it ends at once and is never sent', async () => {
    await client.close();
    client = createKubeClient(server.connection(), { connections: 1 });
    server.answer(GET, silence);
    const over = new AbortController();
    const first = thrown(client.get(target, { signal: over.signal }));
    const enough = new AbortController();
    const second = thrown(client.mergePatch(target, {}, { signal: enough.signal }));
    setImmediate(() => enough.abort(new Error('enough')));
    expect((await second).message).toBe('enough');
    await until('the first is sent', () => server.requests.length === 1);
    over.abort();
    await first;
    server.answer(GET, json(thing('a', 1)));
    await client.get(target);
    expect(server.requests.filter((line) => line.startsWith('PATCH'))).toEqual([]);
  });

  test('ends after its time, though the server is silent or trickles', async () => {
    server.answer(GET, silence);
    const error = await thrown(client.get(target, { timeoutMs: 100 }));
    expect(error).toBeInstanceOf(MusterError);
    expect(error.message).toBe(
      `get pods crew/a: no answer from https://127.0.0.1:${server.port}: nothing within 0.1 s`,
    );
    server.answer(GET, (response) => {
      const trickle = setInterval(() => response.write(' '), 10);
      response.once('close', () => clearInterval(trickle));
    });
    expect((await thrown(client.get(target, { timeoutMs: 100 }))).message).toContain('nothing within 0.1 s');
  });

  test('asks for a new token after a 401, once', async () => {
    await client.close();
    let token = 'old';
    const refresh = (): boolean => {
      token = 'new';
      return true;
    };
    const headers = (): Promise<Record<string, string>> =>
      Promise.resolve({ authorization: `Bearer ${token}` });
    client = createKubeClient(server.connection({ headers, refresh }));
    server.answer(GET, status(401, 'Unauthorized'), json(thing('a', 1)));
    await client.get(target);
    expect(server.headers.map(({ authorization }) => authorization)).toEqual(['Bearer old', 'Bearer new']);
    server.answer(GET, status(401, 'Unauthorized'), status(401, 'Unauthorized'));
    expect((await thrown(client.get(target))).message).toContain('the credentials are not accepted');
  });

  test('says what is wrong with an address, a certificate and an answer', async () => {
    server.answer(GET, (response) => response.end('<html>'));
    expect((await thrown(client.get(target))).message).toContain('not JSON');
    server.answer(GET, (response) => response.writeHead(502).end('bad gateway\u001b[0m'));
    expect((await thrown(client.get(target))).message).toBe('get pods crew/a: 502: bad gateway\\u{1b}[0m');

    const untrusted = createKubeClient(server.connection({ tls: {} }));
    expect(await thrown(untrusted.get(target))).toMatchObject({
      code: 'CLUSTER_UNREACHABLE',
      exitCode: 3,
      fix: expect.stringContaining('certificate-authority-data') as unknown,
    });
    await untrusted.close();
    const nowhere = createKubeClient(server.connection({ server: 'https://127.0.0.1:1' }));
    expect(await thrown(nowhere.get(target))).toMatchObject({
      message: 'get pods crew/a: no answer from https://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1',
      fix: expect.stringContaining('kubectl cluster-info') as unknown,
    });
    await nowhere.close();
  });

  test('works below a path, and encodes what it is given', async () => {
    await client.close();
    client = createKubeClient(server.connection({ server: `https://127.0.0.1:${server.port}/k8s/` }));
    server.answer('GET /k8s/api/v1/pods?', list(1, []));
    await client.list(PODS, { labelSelector: 'a=b,c in (d)', limit: 5 });
    expect(server.requests).toEqual(['GET /k8s/api/v1/pods?labelSelector=a%3Db%2Cc%20in%20(d)&limit=5']);
    expect(() => client.get({ resource: PODS, name: 'a' })).toThrow('no namespace given');
  });
});

describe('a watch', () => {
  const collect = async (given: KubeClient): Promise<WatchEvent<KubeObject>[]> => {
    const events: WatchEvent<KubeObject>[] = [];
    for await (const batch of given.watch(PODS, { resourceVersion: '1', timeoutSeconds: 30 }))
      events.push(...batch);
    return events;
  };

  test('puts together what the network cut, even inside a character', async () => {
    const bytes = Buffer.from(event('ADDED', thing('☂ü🚣', 2)) + event('MODIFIED', thing('b', 3)));
    const crumbs = Array.from({ length: Math.ceil(bytes.length / 3) }, (_, n) =>
      bytes.subarray(n * 3, n * 3 + 3),
    );
    server.answer(LIST, stream(crumbs));
    const events = await collect(client);
    expect(events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
      'ADDED ☂ü🚣',
      'MODIFIED b',
    ]);
    expect(server.requests).toEqual([
      'GET /api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion=1&timeoutSeconds=30',
    ]);
  });

  test.each([
    ['is cut inside a line', stream([event('ADDED', thing('a', 2)), '{"type":"ADD'], cut)],
    ['ends inside a line', stream(['{"type":"ADD'])],
    ['says what is no JSON', stream(['{]\n'])],
    ['is cut before its answer', cut],
  ])('that %s is a lost connection', async (_, answer) => {
    server.answer(LIST, answer);
    expect(isUnreachable(await thrown(collect(client)))).toBe(true);
  });

  test('leaves lists out that nobody reads', async () => {
    const { metadata } = thing('a', 2) as KubeObject;
    const pod = {
      metadata: { ...metadata, managedFields: [{ manager: 'x' }] },
      spec: { containers: [{ env: [{ name: 'A', value: '1' }] }] },
    };
    const whole = { ...pod, metadata: { ...metadata, managedFields: [] } };
    server.answer(LIST, stream([event('ADDED', pod)]), list(3, [pod]));
    expect((await collect(client)).map(({ object }) => object)).toEqual([whole]);
    const unread = [MANAGED_FIELDS, ENVIRONMENT];
    expect((await client.list(PODS, { unread })).items).toEqual([
      { ...whole, spec: { containers: [{ env: [] }] } },
    ]);
  });

  test('hands over what came before an ERROR, then throws it', async () => {
    const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
    server.answer(LIST, stream([event('ADDED', thing('a', 2)) + event('ERROR', gone)]));
    const watching = client.watch(PODS, { resourceVersion: '1', timeoutSeconds: 30 })[Symbol.asyncIterator]();
    expect((await watching.next()).value).toHaveLength(1);
    const error = await thrown(watching.next());
    expect([isGone(error), error.message]).toEqual([
      true,
      'watch pods: 410 Expired: too old resource version',
    ]);
    server.answer(LIST, status(410, 'too old'));
    expect(isGone(await thrown(collect(client)))).toBe(true);
  });

  test('takes what is large as it comes: the clock stands still', async () => {
    await client.close();
    client = createKubeClient(server.connection(), { clock: new FakeClock() });
    const large = { metadata: { ...thing('b', 3).metadata, annotations: { note: 'x'.repeat(400_000) } } };
    server.answer(LIST, stream([event('ADDED', thing('a', 2)), ...Array(5).fill(event('ADDED', large))]));
    expect((await collect(client)).map(({ object }) => object.metadata.name)).toEqual([
      ...['a', 'b', 'b', 'b', 'b', 'b'],
    ]);
  });

  test('does not take connections away from calls', async () => {
    const watches = Array.from({ length: 40 }, () => {
      server.answer(LIST, stream([event('ADDED', thing('a', 2))], silence));
      return client.watch(PODS, { resourceVersion: '1', timeoutSeconds: 30 })[Symbol.asyncIterator]();
    });
    await Promise.all(watches.map((watch) => watch.next()));
    server.answer(GET, json(thing('a', 1)));
    await client.get(target, { timeoutMs: 5_000 });
    const pending = watches.map((watch) => thrown(watch.next()));
    await client.close();
    expect((await Promise.all(pending)).every(isUnreachable)).toBe(true);
  });
});

describe('the rate limit', () => {
  const limited = async (): Promise<FakeClock> => {
    const clock = new FakeClock();
    await client.close();
    client = createKubeClient(server.connection(), { limit: new TokenBucket({ qps: 1, burst: 1, clock }) });
    return clock;
  };

  test('holds calls back, in order, but neither watches nor what is exempt', async () => {
    const clock = await limited();
    server.answer(GET, json(thing('a', 1)), json(thing('a', 2)), json(thing('a', 3)));
    server.answer('GET /api/v1/pods?watch', stream([event('ADDED', thing('a', 4))], cut));
    await client.get(target);
    const done: string[] = [];
    const second = client.get(target).then(() => done.push('second'));
    await client.get(target, { unlimited: true }).then(() => done.push('exempt'));
    for await (const batch of client.watch(PODS, { resourceVersion: '1', timeoutSeconds: 5 })) {
      done.push(`watch ${batch.length}`);
      break;
    }
    expect(done).toEqual(['exempt', 'watch 1']);
    await clock.pass(1_000);
    await second;
    expect(done).toEqual(['exempt', 'watch 1', 'second']);
  });

  test('a call that waits for it can be called off, and is never sent', async () => {
    await limited();
    server.answer(GET, json(thing('a', 1)));
    await client.get(target);
    const enough = new AbortController();
    const waiting = thrown(client.get(target, { signal: enough.signal }));
    enough.abort(new Error('enough'));
    expect((await waiting).message).toBe('enough');
    expect(server.requests).toHaveLength(1);
  });
});

test('the observer hears of every request with its verb and answer, repetitions and lost ones included', async () => {
  const heard: string[] = [];
  await client.close();
  client = createKubeClient(server.connection(), {
    random: () => 0,
    observer: { answered: (verb, code) => heard.push(`${verb} ${code}`) },
  });
  server.answer(PATCH, status(429, 'busy', { 'retry-after': '0' }), json(thing('a', 2)), cut);
  server.answer(GET, status(404, 'gone'));
  server.answer(LIST, json({ items: [], metadata: {} }));
  await client.mergePatch(target, {});
  await thrown(client.mergePatch(target, {}));
  await thrown(client.get(target));
  await client.list(PODS);
  await thrown(client.get(target, { signal: AbortSignal.abort(new Error('enough')) }));
  expect(heard).toEqual(['patch 429', 'patch 200', 'patch undefined', 'get 404', 'list 200']);
});

import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Backend } from '../../../../src/backends/backend.ts';
import { Cache } from '../../../../src/kube/loop/cache.ts';
import type { OwnedObjects } from '../../../../src/controller/scheduler-objects/owned-objects.ts';
import { StillThere } from '../../../../src/controller/watch/shared.ts';
import {
  backendReconciler,
  cleanersOf,
  tellBlocked,
} from '../../../../src/controller/scheduler-objects/reconcile-backend.ts';
import { Bindings, SyncMemory } from '../../../../src/controller/scheduler-objects/sync-memory.ts';
import { POD_INDEXERS } from '../../../../src/controller/watch/gang-view.ts';
import type { GangRecord, PodRecord } from '../../../../src/gang/records.ts';
import { readGangRecord, readPodRecord } from '../../../../src/gang/read-records.ts';
import type { JsonObject } from '../../../../src/json/json.ts';
import { POD_GANGS, type Resource } from '../../../../src/kube/client/resources.ts';
import { backend as backendOf } from '../../../support/backends.ts';
import { observeLog } from '../../../support/observed.ts';
import { FakeClock } from '../../kube/loop/fake-clock.ts';
import { at, FakeObjects, refusal } from './fake-objects.ts';

const KEY = 'ml/train';
const { signal } = new AbortController();
const gangOf = (uid: string, minReplicas = 2, annotations = {}): GangRecord =>
  readGangRecord({
    metadata: { namespace: 'ml', name: 'train', uid, annotations },
    spec: { podgroups: [{ name: 'worker', minReplicas, podReferences: [] }] },
  });

let gang: GangRecord | undefined;
let gone: Map<string, GangRecord>;
let ready: boolean;
let owned: number;
let events: string[];
let looks: string[];
let operated: string[];
let memory: SyncMemory;
let clock: FakeClock;
let server: FakeObjects;
let takes: boolean;
let serves: boolean;
let logged: [string, object][];
const logAt =
  (level: string) =>
  (about: object, msg: string): void => {
    observeLog({ level, msg });
    logged.push([msg, about]);
  };
let former: { resource: Resource; name: string; object: JsonObject }[];
let pods: Cache<PodRecord>;

beforeEach(() => {
  [gang, gone, ready, owned] = [gangOf('u1'), new Map(), true, 0];
  [events, looks, operated] = [[], [], []];
  memory = new SyncMemory();
  clock = new FakeClock();
  server = new FakeObjects();
  [takes, serves, logged, former] = [true, true, [], []];
  pods = new Cache(POD_INDEXERS);
});

const reconcilerOf = (parts: Partial<Backend>) =>
  backendReconciler({
    backend: backendOf('b', { owns: () => [POD_GANGS], ...parts }).create({
      config: {},
      topology: { enabled: false, keys: [] },
    }),
    ready: () => ready,
    kinds: () => [POD_GANGS],
    gangOf: () => gang,
    takes: () => takes,
    serves: () => serves,
    gone,
    view: { pods },
    client: server.client,
    owned: {
      whenSynced: () => Promise.resolve(),
      of: () => Array.from({ length: owned }, () => ({})),
      get: () => undefined,
      besides: () => former,
    } as unknown as OwnedObjects,
    memory,
    recorder: { event: (_, { type, reason, note }) => events.push(`${type} ${reason}: ${note}`) },
    log: { debug: logAt('debug'), info: logAt('info'), error: logAt('error') } as never,
    operated: (operation, ok, seconds) => operated.push(`${operation} ${ok ? 'ok' : 'failed'} ${seconds}`),
    synced: (key) => looks.push(key),
    clock,
  });

describe('keeping a gang’s objects', () => {
  test('asks the backend once, and again only for what it goes by', async () => {
    const seen: number[] = [];
    const reconcile = reconcilerOf({
      syncPodGang: (_context, given) =>
        Promise.resolve(void seen.push(given.spec.groups[0]?.minReplicas ?? 0)),
    });
    await reconcile(KEY, signal);
    await reconcile(KEY, signal);
    expect([seen, looks, operated]).toEqual([[2], [KEY], ['create ok 0']]);
    expect(memory.of(KEY, gang as GangRecord, { name: 'b' })).toEqual({ done: true });
    // References are Muster's own matter.
    gang = readGangRecord({
      metadata: { namespace: 'ml', name: 'train', uid: 'u1' },
      spec: {
        podgroups: [{ name: 'worker', minReplicas: 2, podReferences: [{ namespace: 'ml', name: 'a' }] }],
      },
    });
    await reconcile(KEY, signal);
    expect(seen).toEqual([2]);
    owned = 1;
    gang = gangOf('u1', 3);
    expect(memory.of(KEY, gang, { name: 'b' })).toEqual({ done: false, failure: undefined });
    await reconcile(KEY, signal);
    gang = gangOf('u1', 3, { queue: 'q' });
    await reconcile(KEY, signal);
    gang = gangOf('u2', 3, { queue: 'q' });
    await reconcile(KEY, signal);
    expect(seen).toEqual([2, 3, 3, 3]);
    expect(operated.slice(1)).toEqual(['update ok 0', 'update ok 0', 'update ok 0']);
  });

  test('tells the gang’s live Pods, not those that have ended: no scheduler counts on them', async () => {
    const pod = (name: string, deletionTimestamp?: string, phase = 'Running'): PodRecord =>
      readPodRecord({
        metadata: {
          namespace: 'ml',
          name,
          uid: name,
          resourceVersion: '1',
          labels: { 'grove.io/podgang': 'train', 'grove.io/podclique': 'worker' },
          ...(deletionTimestamp && { deletionTimestamp }),
        },
        status: { phase },
      });
    pods.put(pod('a'));
    pods.put(pod('c', undefined, 'Failed'));
    pods.put(pod('d', undefined, 'Succeeded'));
    pods.put(pod('b', '2026-01-01T00:00:00Z'));
    let names: string[] = [];
    await reconcilerOf({
      syncPodGang: (context) => Promise.resolve(void (names = context.pods.map(({ name }) => name))),
    })(KEY, signal);
    expect(names).toEqual(['a']);
  });

  test('a backend that is not ready is not asked', async () => {
    ready = false;
    await reconcilerOf({ syncPodGang: () => Promise.reject(new Error('asked')) })(KEY, signal);
    expect([operated, looks]).toEqual([[], []]);
  });

  test('what it throws is told in the words of the requirements, and tried again', async () => {
    const reconcile = reconcilerOf({ syncPodGang: () => Promise.reject(new Error('queue "q" is closed')) });
    await expect(reconcile(KEY, signal)).rejects.toThrow('queue "q" is closed');
    expect(events).toEqual([
      "Warning BackendOperationFailed: Backend operation 'create' failed for PodGang 'train': queue \"q\" is closed",
    ]);
    expect([operated, looks]).toEqual([['create failed 0'], [KEY]]);
    expect(memory.of(KEY, gang as GangRecord, { name: 'b' })).toEqual({
      done: false,
      failure: 'queue "q" is closed',
    });
  });

  test('a lost race is tried again and is no Event', async () => {
    const reconcile = reconcilerOf({
      syncPodGang: () => Promise.reject(refusal(409, 'Conflict', 'modified')),
    });
    await expect(reconcile(KEY, signal)).rejects.toThrow('409');
    expect(events).toEqual([]);
  });

  test('a predecessor on its way out is waited for', async () => {
    const reconcile = reconcilerOf({
      syncPodGang: () => Promise.reject(new StillThere('it is being deleted')),
    });
    expect(await reconcile(KEY, signal)).toEqual({ requeueAfterMs: 500 });
    expect(memory.of(KEY, gang as GangRecord, { name: 'b' })).toEqual({
      done: false,
      failure: 'it is being deleted',
    });
    expect(events).toEqual([]);
  });

  test('one that hangs is given up on', async () => {
    const reconcile = reconcilerOf({ syncPodGang: () => new Promise(() => undefined) });
    const settled = expect(reconcile(KEY, signal)).rejects.toThrow('backend b did not answer within 30 s');
    await clock.pass(30_000);
    await settled;
    expect(operated).toEqual(['create failed 30']);
  });

  test('one that throws at once, and no Error, is contained', async () => {
    const reconcile = reconcilerOf({
      syncPodGang: () => {
        throw 'no' as unknown as Error;
      },
    });
    await expect(reconcile(KEY, signal)).rejects.toBe('no');
    expect(events[0]).toContain("failed for PodGang 'train': no");
  });
});

describe('a gang that goes', () => {
  test('is cleaned up after, once, before its successor is looked at', async () => {
    const order: string[] = [];
    gone.set(KEY, gangOf('u0'));
    const reconcile = reconcilerOf({
      onPodGangDelete: (_context, given) =>
        Promise.resolve(void order.push(`delete ${(given as GangRecord).uid}`)),
      syncPodGang: (_context, given) => Promise.resolve(void order.push(`sync ${(given as GangRecord).uid}`)),
    });
    await reconcile(KEY, signal);
    await reconcile(KEY, signal);
    expect(order).toEqual(['delete u0', 'sync u1']);
  });

  test('stays to be cleaned up after where that failed', async () => {
    gone.set(KEY, gangOf('u0'));
    gang = undefined;
    const reconcile = reconcilerOf({ onPodGangDelete: () => Promise.reject(new Error('no')) });
    await expect(reconcile(KEY, signal)).rejects.toThrow('no');
    expect(gone.size).toBe(1);
    expect(events).toEqual([
      "Warning BackendOperationFailed: Backend operation 'delete' failed for PodGang 'train': no",
    ]);
  });

  test('and is being deleted: no more objects for it', async () => {
    gang = readGangRecord({
      metadata: { namespace: 'ml', name: 'train', uid: 'u1', deletionTimestamp: '2026-01-01T00:00:00Z' },
      spec: { podgroups: [] },
    });
    await reconcilerOf({ syncPodGang: () => Promise.reject(new Error('asked')) })(KEY, signal);
    expect(operated).toEqual([]);
  });
});

describe('a backend that has to clean up', () => {
  const FINALIZER = 'cleanup.muster.dev/b';
  const stored = (parts: JsonObject = {}): GangRecord => {
    server.put('train', { metadata: { uid: 'u1', ...parts }, spec: { podgroups: [] } });
    return readGangRecord(server.of('train') ?? {});
  };
  const finalizers = (): unknown => at(server.of('train'), 'metadata', 'finalizers');

  test('has a finalizer before anything is made, beside those of others, and only if it asks for one', async () => {
    gang = stored({ finalizers: ['x.io/theirs'] });
    const seen: unknown[] = [];
    const syncPodGang = (): Promise<void> => Promise.resolve(void seen.push(finalizers()));
    await reconcilerOf({ cleansUp: true, syncPodGang })(KEY, signal);
    expect(seen).toEqual([['x.io/theirs', FINALIZER]]);
    memory.clear();
    server.calls.length = 0;
    await reconcilerOf({ syncPodGang })(KEY, signal);
    expect(server.calls).toEqual([]);
  });

  test.each([
    ['ends', { deletionTimestamp: '2026-01-01T00:00:00Z' }, true],
    ['is another backend’s now', {}, false],
  ])('is asked to when the gang %s, and the finalizer goes after it has', async (_, parts, its) => {
    gang = stored({ finalizers: [FINALIZER, 'x.io/theirs'], ...parts });
    [serves, ready] = [its, false];
    let works = false;
    const reconcile = reconcilerOf({
      cleansUp: true,
      onPodGangDelete: () => (works ? Promise.resolve() : Promise.reject(new Error('the queue is full'))),
      syncPodGang: () => Promise.reject(new Error('asked')),
    });
    await expect(reconcile(KEY, signal)).rejects.toThrow('the queue is full');
    expect(finalizers()).toEqual([FINALIZER, 'x.io/theirs']);
    expect(events).toEqual([
      "Warning BackendOperationFailed: Backend operation 'delete' failed for PodGang 'train': the queue is full",
    ]);
    works = true;
    await reconcile(KEY, signal);
    expect(finalizers()).toEqual(['x.io/theirs']);
    expect(operated).toEqual(['delete failed 0', 'delete ok 0']);
  });

  test('leaves what it keeps where the gang is another Muster’s, until that is to go', async () => {
    [takes, serves] = [false, false];
    gang = stored({ finalizers: [FINALIZER] });
    const reconcile = reconcilerOf({ cleansUp: true });
    await reconcile(KEY, signal);
    expect([finalizers(), operated]).toEqual([[FINALIZER], []]);
    gang = stored({ finalizers: [FINALIZER], deletionTimestamp: '2026-01-01T00:00:00Z' });
    await reconcile(KEY, signal);
    expect([finalizers(), operated]).toEqual([[], ['delete ok 0']]);
  });

  test('one that is not enabled keeps the gang, which is told with the way out', () => {
    gang = stored({ finalizers: ['cleanup.muster.dev/gone'] });
    expect(cleanersOf(gang)).toEqual(['gone']);
    tellBlocked({ event: (_, { reason, note }) => events.push(`${reason}: ${note}`) }, gang, 'gone');
    expect(events).toEqual([
      'CleanupBlocked: the backend gone cleans up before this PodGang can go, and is not enabled: enable it, or take the finalizer cleanup.muster.dev/gone off',
    ]);
  });
});

describe('what a former backend has left', () => {
  const made = (name: string, uid: string): (typeof former)[number] => {
    const owner = { kind: 'PodGang', name: 'train', uid, controller: true };
    server.put(name, { metadata: { uid: `uid-${name}`, ownerReferences: [owner] } });
    return { resource: { ...POD_GANGS, kind: 'PodGroup' }, name, object: server.of(name) ?? {} };
  };

  test('goes, where it is this gang’s', async () => {
    former = [made('old', 'u1'), made('predecessors', 'u0')];
    await reconcilerOf({})(KEY, signal);
    expect([...server.objects.keys()]).toEqual(['ml/predecessors']);
    expect(logged.at(-1)).toEqual([
      'removing what another backend kept for the gang',
      expect.objectContaining({ backend: 'b', podgang: KEY, name: 'old' }),
    ]);
  });

  test('stays while the gang’s own backend has not managed, and is tried again where its removal failed', async () => {
    former = [made('old', 'u1')];
    let works = false;
    const reconcile = reconcilerOf({
      syncPodGang: () => (works ? Promise.resolve() : Promise.reject(new Error('no'))),
    });
    await expect(reconcile(KEY, signal)).rejects.toThrow('no');
    expect(server.of('old')).toBeDefined();
    works = true;
    server.before = (call) => {
      if (call === 'delete old') throw refusal(403, 'Forbidden', 'no right');
    };
    await expect(reconcile(KEY, signal)).rejects.toThrow('no right');
    expect(events.at(-1)).toContain(
      "Backend operation 'delete' failed for PodGang 'train': test: 403 Forbidden",
    );
    server.before = () => undefined;
    await reconcile(KEY, signal);
    expect([server.of('old'), operated]).toEqual([undefined, ['create failed 0', 'create ok 0']]);
  });
});

describe('the log', () => {
  test('has the start and the end of each operation', async () => {
    await reconcilerOf({})(KEY, signal);
    const about = { backend: 'b', operation: 'create', podgang: KEY };
    expect(logged).toEqual([
      ['Backend operation started', about],
      ['Backend operation finished', { ...about, ms: 0 }],
    ]);
  });

  test('or why it failed', async () => {
    const error = new Error('no');
    const reconcile = reconcilerOf({ syncPodGang: () => Promise.reject(error) });
    await expect(reconcile(KEY, signal)).rejects.toThrow('no');
    const about = { backend: 'b', operation: 'create', podgang: KEY };
    expect(logged.at(-1)).toEqual(['Backend operation failed', { ...about, err: error }]);
  });
});

test('a touch while the gang is being synced is not lost', async () => {
  let syncs = 0;
  const reconcile = reconcilerOf({
    syncPodGang: () => {
      syncs += 1;
      if (syncs === 1) memory.forget(KEY);
      return Promise.resolve();
    },
  });
  await reconcile(KEY, signal);
  expect(memory.of(KEY, gang as GangRecord, { name: 'b' })).toEqual({ done: false, failure: undefined });
  await reconcile(KEY, signal);
  await reconcile(KEY, signal);
  expect(syncs).toBe(2);
});

test('an object that is in the way is told with the way out', async () => {
  server.put('train', { metadata: { uid: 'theirs' } });
  const resource = { ...POD_GANGS, kind: 'Line' };
  const reconcile = reconcilerOf({
    syncPodGang: async (context) => void (await context.apply({ resource, name: 'train', spec: {} })),
  });
  const why =
    'Line train exists and has no controller, so PodGang train cannot have it: delete or rename that Line, or give the PodGang another name';
  await expect(reconcile(KEY, signal)).rejects.toThrow('cannot have it');
  expect(memory.of(KEY, gang as GangRecord, { name: 'b' })).toEqual({ done: false, failure: why });
  expect(events[0]).toContain(why);
});

test('a gang is told of when its first Pod is bound, and when none is any more', () => {
  const turned: string[] = [];
  const bindings = new Bindings((key) => turned.push(key));
  const pod = (name: string, nodeName: string, deletionTimestamp?: string): PodRecord => ({
    ...readPodRecord({
      metadata: { namespace: 'ml', name, uid: name, labels: { 'grove.io/podgang': 'train' } },
      spec: { nodeName },
    }),
    deletionTimestamp,
  });
  const see = (old: PodRecord | undefined, now: PodRecord | undefined): string[] => {
    turned.length = 0;
    bindings.observe({ type: 'updated', old, new: now } as never);
    return [...turned];
  };
  expect(see(undefined, pod('a', ''))).toEqual([]);
  expect(see(pod('a', ''), pod('a', 'n1'))).toEqual([KEY]);
  expect(see(undefined, pod('b', 'n1'))).toEqual([]);
  expect(see(pod('a', 'n1'), pod('a', 'n1', '2026-01-01T00:00:00Z'))).toEqual([]);
  expect(see(pod('b', 'n1'), { ...pod('b', 'n1'), phase: 'Failed' })).toEqual([KEY]);
  expect(see({ ...pod('b', 'n1'), phase: 'Failed' }, undefined)).toEqual([]);
  expect(see(pod('a', 'n1', '2026-01-01T00:00:00Z'), undefined)).toEqual([]);
});

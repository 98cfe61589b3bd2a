import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Backend } from '../../../../src/backends/backend.ts';
import { Cache } from '../../../../src/kube/loop/cache.ts';
import type { OwnedObjects } from '../../../../src/controller/scheduler-objects/owned-objects.ts';
import { StillThere } from '../../../../src/controller/scheduler-objects/gang-objects.ts';
import { backendReconciler } from '../../../../src/controller/scheduler-objects/reconcile-backend.ts';
import { SyncMemory } from '../../../../src/controller/scheduler-objects/sync-memory.ts';
import { POD_INDEXERS } from '../../../../src/controller/watch/gang-view.ts';
import type { GangRecord, PodRecord } from '../../../../src/gang/records.ts';
import { readGang, readPod } from '../../../../src/gang/read-records.ts';
import { POD_GANGS } from '../../../../src/kube/client/resources.ts';
import { backend as backendOf } from '../../../support/backends.ts';
import { FakeClock } from '../fake-clock.ts';
import { FakeObjects, refusal } from './fake-objects.ts';

const KEY = 'ml/train';
const { signal } = new AbortController();
const gangOf = (uid: string, minReplicas = 2, annotations = {}): GangRecord =>
  readGang({
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
let pods: Cache<PodRecord>;

beforeEach(() => {
  [gang, gone, ready, owned] = [gangOf('u1'), new Map(), true, 0];
  [events, looks, operated] = [[], [], []];
  memory = new SyncMemory();
  clock = new FakeClock();
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
    gone,
    view: { pods },
    client: new FakeObjects().client,
    owned: {
      whenSynced: () => Promise.resolve(),
      of: () => Array.from({ length: owned }, () => ({})),
      get: () => undefined,
    } as unknown as OwnedObjects,
    memory,
    recorder: { event: (_, { type, reason, note }) => events.push(`${type} ${reason}: ${note}`) },
    log: { error: () => undefined } as never,
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
    expect(memory.of(KEY, gang as GangRecord, 'b')).toEqual({ done: true });
    // References are Muster's own matter.
    gang = readGang({
      metadata: { namespace: 'ml', name: 'train', uid: 'u1' },
      spec: {
        podgroups: [{ name: 'worker', minReplicas: 2, podReferences: [{ namespace: 'ml', name: 'a' }] }],
      },
    });
    await reconcile(KEY, signal);
    expect(seen).toEqual([2]);
    owned = 1;
    gang = gangOf('u1', 3);
    expect(memory.of(KEY, gang, 'b')).toEqual({ done: false, failure: undefined });
    await reconcile(KEY, signal);
    gang = gangOf('u1', 3, { queue: 'q' });
    await reconcile(KEY, signal);
    gang = gangOf('u2', 3, { queue: 'q' });
    await reconcile(KEY, signal);
    expect(seen).toEqual([2, 3, 3, 3]);
    expect(operated.slice(1)).toEqual(['update ok 0', 'update ok 0', 'update ok 0']);
  });

  test('tells the gang’s live Pods', async () => {
    const pod = (name: string, deletionTimestamp?: string): PodRecord =>
      readPod({
        metadata: {
          namespace: 'ml',
          name,
          uid: name,
          resourceVersion: '1',
          labels: { 'grove.io/podgang': 'train', 'grove.io/podclique': 'worker' },
          ...(deletionTimestamp && { deletionTimestamp }),
        },
      });
    pods.put(pod('a'));
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
    expect(memory.of(KEY, gang as GangRecord, 'b')).toEqual({ done: false, failure: 'queue "q" is closed' });
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
    expect(memory.of(KEY, gang as GangRecord, 'b')).toEqual({ done: false, failure: 'it is being deleted' });
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
    gang = readGang({
      metadata: { namespace: 'ml', name: 'train', uid: 'u1', deletionTimestamp: '2026-01-01T00:00:00Z' },
      spec: { podgroups: [] },
    });
    await reconcilerOf({ syncPodGang: () => Promise.reject(new Error('asked')) })(KEY, signal);
    expect(operated).toEqual([]);
  });
});

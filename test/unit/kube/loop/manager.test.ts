/** Controllers in a list: each gets its watch, its leadership and its end, whatever it is. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { BackendRegistry } from '../../../../src/backends/registry.ts';
import { startControllers, controllers, type Loop } from '../../../../src/controller/controller.ts';
import type { ControllerFactory } from '../../../../src/controller/watch/shared.ts';
import type { Identified } from '../../../../src/kube/loop/cache.ts';
import { aborted } from '../../../../src/kube/loop/deadline.ts';
import { Manager, type Controller } from '../../../../src/kube/loop/manager.ts';
import { Reflector } from '../../../../src/kube/loop/reflector.ts';
import { Watches } from '../../../../src/kube/loop/watches.ts';
import { startWorkers } from '../../../../src/kube/loop/keyed-controller.ts';
import { WorkQueue } from '../../../../src/kube/loop/work-queue.ts';
import type { KubeClient } from '../../../../src/kube/client/client.ts';
import { ApiError } from '../../../../src/kube/client/errors.ts';
import { PRIORITY_CLASSES, type KubeObject, type Resource } from '../../../../src/kube/client/resources.ts';
import { LoopMetrics } from '../../../../src/telemetry/loop-metrics.ts';
import { backend } from '../../../support/backends.ts';
import { until } from '../../tls/until.ts';
import { FakeCluster } from './fake-cluster.ts';
import { FakeLeaseServer } from './fake-lease-server.ts';

const TOYS: Resource = { group: 'toys.test', version: 'v1', plural: 'toys', kind: 'Toy', namespaced: true };
const toy = (name: string): KubeObject => ({
  metadata: { namespace: 'ml', name, uid: name, resourceVersion: '1' },
});
const trim = ({ metadata: { name, uid = '', resourceVersion = '' } }: KubeObject): Identified => ({
  ...{ namespace: 'ml', name, uid, resourceVersion },
});

let loop: Loop | undefined;
afterEach(async () => {
  await loop?.stop();
  loop = undefined;
});

describe('a further controller in the list', () => {
  const cluster = new FakeCluster();
  const did: string[] = [];
  /** A kind of its own, a queue of its own, and what it does with a key. */
  const toys: ControllerFactory = ({ client, observe }) => {
    const watched = new Reflector({ client, resource: TOYS, trim, observer: observe(TOYS) });
    let queue: WorkQueue | undefined;
    watched.subscribe(({ new: now }) => now && queue?.add(now.name));
    return {
      name: 'toys',
      watches: new Watches([watched]),
      start: () => Promise.resolve(void did.push('started')),
      lead: async (signal) => {
        did.push(`leads with ${watched.store.size}`);
        queue = new WorkQueue();
        for (const { name } of watched.store.values()) queue.add(name);
        const reconcile = (key: string): Promise<void> => Promise.resolve(void did.push(`reconciled ${key}`));
        const workers = startWorkers({ queue, reconcile, concurrency: 1 });
        await aborted(signal);
        await workers.stop();
        did.push('rests');
      },
      stop: () => Promise.resolve(void did.push('stopped')),
    };
  };

  test('gets its watch, its leadership, its metrics and its end beside the others', async () => {
    cluster.objects.set(TOYS, [toy('a')]);
    const metrics = new LoopMetrics();
    loop = startControllers(
      {
        client: cluster.client,
        registry: new BackendRegistry([{ name: 'b' }], 'b', { factories: [backend('b')] }),
        settings: {
          concurrentSyncs: 1,
          selectors: {} as never,
          leaderElection: { enabled: false } as never,
        },
        log: pino({ level: 'silent' }),
        metrics,
        backendMetrics: { initialized: () => undefined, operated: () => undefined },
        now: () => new Date(),
        ownNamespace: 'muster-system',
      },
      [...controllers, toys],
    );
    expect(loop.check()).toBe('waiting for the first list of pods and podgangs and namespaces and toys');
    await until('the first toy is dealt with', () => did.includes('reconciled a'));
    expect(loop.check()).toBeUndefined();
    await cluster.tell(TOYS, 'ADDED', toy('b'));
    await until('the second toy is dealt with', () => did.includes('reconciled b'));
    const exposed = await metrics.expose();
    expect(exposed).toContain('muster_loop_cached_objects{resource="toys"} 2');
    expect(exposed).toContain('muster_loop_lists_total{resource="toys"} 1');
    expect(exposed).toContain('muster_loop_leading 1');
    await loop.stop();
    loop = undefined;
    expect(did).toEqual(['started', 'leads with 1', 'reconciled a', 'reconciled b', 'rests', 'stopped']);
    expect(await metrics.expose()).toContain('muster_loop_leading 0');
  });
});

describe('the PriorityClasses', () => {
  const startOn = (client: KubeClient): Loop =>
    startControllers(
      {
        client,
        registry: new BackendRegistry([{ name: 'b' }], 'b', { factories: [backend('b')] }),
        settings: {
          concurrentSyncs: 1,
          selectors: {} as never,
          leaderElection: { enabled: false } as never,
        },
        log: pino({ level: 'silent' }),
        metrics,
        backendMetrics: { initialized: () => undefined, operated: () => undefined },
        now: () => new Date(),
        ownNamespace: 'muster-system',
      },
      [() => ({ name: 'idle', watches: [], lead: aborted })],
    );
  let metrics = new LoopMetrics();
  beforeEach(() => {
    metrics = new LoopMetrics();
  });

  test('are known for admission, whoever leads', async () => {
    const cluster = new FakeCluster();
    const usual = {
      metadata: { name: 'usual', uid: 'u', resourceVersion: '1' },
      value: 3,
      globalDefault: true,
    };
    cluster.objects.set(PRIORITY_CLASSES, [usual]);
    loop = startOn(cluster.client);
    const { classes } = loop;
    await until('they are listed', () => classes.known);
    expect(classes.byDefault).toMatchObject({ name: 'usual', value: 3 });
    expect(await metrics.expose()).toContain('muster_loop_cached_objects{resource="priorityclasses"} 1');
  });

  test('keep nobody waiting: without the right all else goes on', async () => {
    const cluster = new FakeCluster();
    const list = cluster.client.list.bind(cluster.client);
    const forbidden = new ApiError('list', { status: 403, message: 'no' });
    Object.assign(cluster.client, {
      list: (...given: Parameters<KubeClient['list']>) =>
        given[0] === PRIORITY_CLASSES ? Promise.reject(forbidden) : list(...given),
    });
    loop = startOn(cluster.client);
    // Each retry is counted too, and more than one may fail between two looks.
    await until('a refusal is counted', async () =>
      /muster_loop_watch_failures_total\{resource="priorityclasses"\} [1-9]/.test(await metrics.expose()),
    );
    expect(loop.check()).toBeUndefined();
    expect(loop.classes.known).toBe(false);
  });
});

describe('what controllers share', () => {
  const idle = (name: string, parts: Partial<Controller> = {}): Controller => ({
    name,
    watches: [],
    lead: aborted,
    ...parts,
  });
  const closable = (client: KubeClient): KubeClient =>
    Object.assign(client, { close: () => Promise.resolve() });

  test('a watch that two name is begun and ended once, and all is listed before anybody leads', async () => {
    const calls: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const watched = {
      ...{ resource: TOYS, hasSynced: false, store: { size: 0 } },
      whenSynced: () => promise,
      start: () => void calls.push('start'),
      stop: () => Promise.resolve(void calls.push('stop')),
    };
    const lead = (signal: AbortSignal): Promise<void> => {
      calls.push('lead');
      return aborted(signal);
    };
    const manager = new Manager({ client: new FakeCluster().client, name: 'toy' });
    manager.start([idle('a', { watches: [watched], lead }), idle('b', { watches: [watched] })]);
    expect([manager.check(), calls]).toEqual(['waiting for the first list of toys', ['start']]);
    resolve();
    await until('one leads', () => calls.includes('lead'));
    await manager.stop();
    expect(calls).toEqual(['start', 'lead', 'stop']);
  });

  test('one that cannot start is told of, keeps the process unready, and no other from its work', async () => {
    const failed: string[] = [];
    let works = false;
    const manager = new Manager({
      client: new FakeCluster().client,
      name: 'toy',
      observer: { failed: (what, error) => failed.push(`${what}: ${(error as Error).message}`) },
    });
    const lead = (signal: AbortSignal): Promise<void> => {
      works = true;
      return aborted(signal);
    };
    manager.start([idle('broken', { start: () => Promise.reject(new Error('no')) }), idle('b', { lead })]);
    await until('the other works', () => works);
    expect(failed).toEqual(['broken: no']);
    expect(manager.check()).toBe('the controller broken could not start: no');
    await manager.stop();
  });

  test('the Lease is taken, and given up once all have ended; one that fails ends the term of all', async () => {
    const server = new FakeLeaseServer();
    const told: string[] = [];
    let terms = 0;
    const manager = new Manager({
      client: closable(server.client()),
      name: 'toy',
      election: {
        ...{ namespace: 'crew', name: 'lock' },
        // Nobody is to lose it because the machine stood still.
        ...{ leaseDurationMs: 60_000, renewDeadlineMs: 40_000, retryPeriodMs: 20 },
      },
      observer: {
        working: (works) => told.push(works ? 'works' : 'rests'),
        failed: (what, error) => told.push(`${what}: ${(error as Error).message}`),
      },
    });
    const lead = async (signal: AbortSignal): Promise<void> => {
      terms += 1;
      if (terms === 1) throw new Error('broken');
      await aborted(signal);
    };
    const ends: boolean[] = [];
    const other = async (signal: AbortSignal): Promise<void> => {
      await aborted(signal);
      ends.push(server.lease?.spec !== undefined && server.holders.at(-1) === manager.identity);
    };
    manager.start([idle('a', { lead }), idle('b', { lead: other })]);
    await until('there is a second term', () => terms === 2);
    await manager.stop();
    expect(told).toEqual(['works', 'a: broken', 'rests', 'works', 'rests']);
    expect(ends).toEqual([true, true]);
    expect(server.holders.at(-1)).toBe('');
  });
});

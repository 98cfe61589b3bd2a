import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Identified } from '../../src/kube/loop/cache.ts';
import { LeaseElection } from '../../src/kube/loop/lease.ts';
import { EventRecorder } from '../../src/kube/loop/event-recorder.ts';
import { Reflector } from '../../src/kube/loop/reflector.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { findConnection } from '../../src/kube/client/find-connection.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { PODS, type KubeObject, type Resource } from '../../src/kube/client/resources.ts';
import type { KubeList } from './control-plane/client.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';

const THINGS: Resource = { ...PODS, plural: 'configmaps', kind: 'ConfigMap' };

/** Far above what it takes; what was missed would come minutes later, with the next list. */
const SOON = { withinMs: 20_000 };

/** A wire to the API server that can be cut, and can go dead while its sockets stay open. */
class Wire {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #dead = false;

  constructor(target: number) {
    this.#server = createServer((near) => {
      const far = connect(target, '127.0.0.1');
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from);
        const dead = this.#dead;
        from.on('data', (chunk) => {
          if (!this.#dead || dead) to.write(chunk);
        });
        from.on('error', () => to.destroy());
        from.on('close', () => {
          this.#sockets.delete(from);
          to.destroy();
        });
      }
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** What is connected now hears nothing any more; new connections work. */
  goDead(): void {
    this.#dead = true;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const trim = ({
  metadata: { name, namespace = '', uid = '', resourceVersion = '' },
}: KubeObject): Identified => ({
  name,
  namespace,
  uid,
  resourceVersion,
});

clusterSuite('reflector, Lease and Events, on a real API server', () => {
  let plane: ControlPlane;
  let client: KubeClient;
  let wire: Wire;
  let wired: KubeClient;
  let reflector: Reflector<Identified>;
  const make = (name: string, labels: Record<string, string> = { set: 'small' }): Promise<KubeObject> =>
    client.create(THINGS, { metadata: { namespace: 'crew', name, labels } });
  const names = (): string[] => Array.from(reflector.store.values(), ({ name }) => name).sort();
  const reflect = async (labelSelector: string, times: { silenceMs?: number } = {}): Promise<void> => {
    reflector = new Reflector({ client: wired, resource: THINGS, labelSelector, trim, times });
    reflector.start();
    await reflector.whenSynced();
  };

  beforeAll(async () => {
    plane = await startControlPlane();
    await plane.client.ok('POST', '/api/v1/namespaces', { metadata: { name: 'crew' } });
    const connection = await findConnection({ kubeconfig: plane.kubeconfig });
    client = createKubeClient(connection);
    wire = new Wire(Number(new URL(plane.url).port));
    wired = createKubeClient({ ...connection, server: `https://127.0.0.1:${await wire.listen()}` });
  }, 120_000);

  afterEach(async () => {
    await reflector?.stop();
  });

  afterAll(async () => {
    await Promise.all([client?.close(), wired?.close(), wire?.close()]);
    await plane?.stop();
  });

  test('sees 2,000 objects, and what happens to them', async () => {
    const crowd = Array.from({ length: 2_000 }, (_, n) => `crowd-${n}`);
    for (let n = 0; n < crowd.length; n += 50)
      await Promise.all(crowd.slice(n, n + 50).map((name) => make(name, { set: 'crowd' })));
    await reflect('set=crowd');
    expect(reflector.store.size).toBe(2_000);
    await client.delete({ resource: THINGS, namespace: 'crew', name: 'crowd-7' });
    await make('crowd-new', { set: 'crowd' });
    await until('both are seen', () => names().includes('crowd-new') && !names().includes('crowd-7'));
    // Out of the selection is out of the cache.
    await client.mergePatch(
      { resource: THINGS, namespace: 'crew', name: 'crowd-8' },
      { metadata: { labels: { set: 'none' } } },
    );
    await until('the relabelled one is gone', () => !names().includes('crowd-8'));
  }, 120_000);

  test('misses nothing when its connections are cut, or go dead', async () => {
    await make('before');
    await reflect('set=small', { silenceMs: 1_500 });
    wire.cut();
    await make('after-a-cut');
    await until('it is seen', () => names().includes('after-a-cut'), SOON);
    wire.goDead();
    await make('after-death');
    await until('it is seen', () => names().includes('after-death'), SOON);
  });

  test('is in step soon after the API server is back', async () => {
    await reflect('set=small');
    await plane.stopApiServer({ kill: true });
    await plane.startApiServer();
    await make('after-a-restart');
    await until('it is seen', () => names().includes('after-a-restart'), SOON);
  }, 60_000);

  test('a Lease goes over when its holder stops, and when it falls silent', async () => {
    const began: string[] = [];
    const candidate = (identity: string, through: KubeClient): LeaseElection =>
      new LeaseElection({
        ...{ client: through, namespace: 'crew', name: 'lock', identity },
        ...{ leaseDurationMs: 6_000, renewDeadlineMs: 4_000, retryPeriodMs: 200 },
        lead: (signal) =>
          new Promise((resolve) => {
            began.push(identity);
            signal.addEventListener('abort', () => resolve(), { once: true });
          }),
      });
    const [a, b, c] = [candidate('a', client), candidate('b', wired), candidate('c', client)];
    a.start();
    await until('a leads', () => a.leads);
    b.start();
    await a.stop();
    await until('b leads, and need not wait until it runs out', () => b.leads, { withinMs: 5_000 });
    c.start();
    await wired.close();
    await until('c leads', () => c.leads);
    expect([began, b.leads]).toEqual([['a', 'b', 'c'], false]);
    await Promise.all([b.stop(), c.stop()]);
    const lease = await plane.client.ok<{ spec: object }>(
      'GET',
      '/apis/coordination.k8s.io/v1/namespaces/crew/leases/lock',
    );
    expect(lease.spec).toMatchObject({ holderIdentity: '', leaseTransitions: 2 });
  }, 60_000);

  test('an Event is one that kubectl shows, and that is counted', async () => {
    const pod = await client.create(PODS, {
      metadata: { namespace: 'crew', name: 'rower' },
      spec: { containers: [{ name: 'main', image: 'example.test/none' }] },
    });
    let now = 0;
    let sent = 0;
    const events = new EventRecorder({
      client,
      observer: { sent: () => (sent += 1) },
      controller: 'muster.dev/loop',
      instance: 'muster-0',
      clock: { now: () => now, date: () => new Date(), after: () => () => undefined },
    });
    const regarding = { resource: PODS, namespace: 'crew', name: 'rower', uid: pod.metadata.uid ?? '' };
    const details = { type: 'Warning', reason: 'WaitingForPods', note: '☂'.repeat(500) } as const;
    const shown = async (): Promise<{ count?: number; series?: { count: number }; note: string }[]> =>
      (await plane.client.ok<KubeList>('GET', '/apis/events.k8s.io/v1/namespaces/crew/events')).items.filter(
        (event) => event.reason === 'WaitingForPods',
      ) as never;
    events.event(regarding, details);
    // Others see it before whoever sent it has the answer, and only then knows its name.
    await until('it is sent', () => sent === 1);
    expect(await shown()).toHaveLength(1);
    now = 61_000;
    events.event(regarding, details);
    await until('it is counted', async () => (await shown())[0]?.series?.count === 2);
    const listed = await plane.kubectl(['events', '-n', 'crew', '--for', 'pod/rower']);
    expect(listed.stdout).toMatch(/\(x2 .*Warning\s+WaitingForPods\s+Pod\/rower\s+☂+…/);
  });
});

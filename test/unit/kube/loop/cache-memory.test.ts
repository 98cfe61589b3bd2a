/** What one namespace may take of the memory that all caches share, and what becomes of what does not fit. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { CacheMemory, memoryLimitsOf, heapSize } from '../../../../src/kube/loop/cache-memory.ts';
import type { ObjectChange, Identified } from '../../../../src/kube/loop/cache.ts';
import { Reflector } from '../../../../src/kube/loop/reflector.ts';
import type { KubeObject, Resource } from '../../../../src/kube/client/resources.ts';
import { until } from '../../tls/until.ts';
import { FakeClock, settled } from './fake-clock.ts';
import { FakeCluster } from './fake-cluster.ts';

const TOYS: Resource = { group: 'x.io', version: 'v1', plural: 'toys', kind: 'Toy', namespaced: true };
const KIB = 1024;
const LIMITS = { total: 100 * KIB, ofNamespace: 50 * KIB, reserve: 5 * KIB };

interface Toy extends Identified {
  readonly text: string;
}
const toy = (namespace: string, name: string, kib: number, version = 1): KubeObject & { text: string } => ({
  metadata: { namespace, name, uid: `${namespace}/${name}`, resourceVersion: String(version) },
  text: 'x'.repeat(kib * KIB),
});
const trim = (object: KubeObject): Toy => ({
  namespace: object.metadata.namespace ?? '',
  name: object.metadata.name,
  uid: object.metadata.uid ?? '',
  resourceVersion: object.metadata.resourceVersion ?? '',
  text: (object as unknown as Toy).text,
});

test('a heap’s size is about that of its texts, maps and lists', () => {
  expect(heapSize('x'.repeat(1_000))).toBe(1_016);
  const list = Array.from({ length: 100 }, (_, index) => ({ namespace: 'ml', name: `pod-${index}` }));
  expect(heapSize(list) / 100).toBeGreaterThan(60);
  expect(heapSize(new Map([['k'.repeat(500), 'v'.repeat(500)]]))).toBeGreaterThan(1_000);
  expect([heapSize(undefined), heapSize(null), heapSize(7)]).toEqual([8, 8, 8]);
});

describe('the room of all caches', () => {
  test('has a bound for a namespace, one for all, and a reserve for each', () => {
    const room = new CacheMemory(LIMITS);
    room.move('a', 50 * KIB);
    expect([room.fits('a', 1), room.fits('b', 50 * KIB), room.fits('b', 51 * KIB)]).toEqual([
      false,
      true,
      false,
    ]);
    room.move('b', 50 * KIB);
    // All of it is taken, and still nobody is kept out entirely.
    expect([room.fits('c', 5 * KIB), room.fits('c', 6 * KIB)]).toEqual([true, false]);
    room.move('a', -30 * KIB);
    expect(room.fits('c', 30 * KIB)).toBe(true);
  });

  test('tells of a namespace once, whatever is left out of it, and when all of it is known again', () => {
    const room = new CacheMemory({ ...LIMITS, ofNamespace: 64 * 2 ** 20 });
    const told: [string, boolean][] = [];
    room.onTurn((namespace, why) => told.push([namespace, why !== undefined]));
    // Two watches may be of kinds that are called the same: the PodGroups of two schedulers.
    const [pods, gangs, others] = [{ kind: 'pods' }, { kind: 'podgangs' }, { kind: 'podgangs' }];
    for (const by of [pods, gangs, others]) room.leftOut('a', by);
    room.whole('a', pods);
    room.whole('a', others);
    expect(told).toEqual([['a', true]]);
    expect(room.standing).toBe(1);
    expect(room.why('a')).toBe(
      'namespace a holds more than Muster keeps of one in memory (64 MiB; left out are some podgangs): its gangs stay as they are until some of it is deleted, or Muster has more memory',
    );
    room.whole('a', gangs);
    room.whole('a', gangs);
    expect([told, room.why('a'), room.standing]).toEqual([
      [
        ['a', true],
        ['a', false],
      ],
      undefined,
      0,
    ]);
  });

  test('is half of the heap, and half of that for a namespace', () => {
    const { total, ofNamespace, reserve } = memoryLimitsOf(256 * 2 ** 20);
    expect([total, ofNamespace, reserve].map((bytes) => bytes / 2 ** 20)).toEqual([128, 64, 0.5]);
  });
});

describe('a watched kind', () => {
  let cluster: FakeCluster;
  let clock: FakeClock;
  let room: CacheMemory;
  let changes: ObjectChange<Toy>[];
  let toys: Reflector<Toy>;

  beforeEach(() => {
    [cluster, clock, room, changes] = [new FakeCluster(), new FakeClock(), new CacheMemory(LIMITS), []];
    toys = new Reflector({ client: cluster.client, resource: TOYS, trim, room, clock });
    toys.subscribe((change) => changes.push(change));
  });
  const known = (): string[] =>
    [...toys.store.values()].map(({ namespace, name }) => `${namespace}/${name}`).sort();
  const deleted = (): number => changes.filter(({ type }) => type === 'deleted').length;

  test('leaves out what does not fit, of that namespace alone', async () => {
    cluster.objects.set(TOYS, [
      ...Array.from({ length: 9 }, (_, index) => toy('flood', `t${index}`, 10)),
      toy('good', 'a', 1),
    ]);
    toys.start();
    await toys.whenSynced();
    expect(known()).toEqual(['flood/t0', 'flood/t1', 'flood/t2', 'flood/t3', 'good/a']);
    expect(room.why('flood')).toContain('left out are some toys');
    expect(room.why('good')).toBeUndefined();
    await toys.stop();
  });

  test('never takes what does not fit for gone: what is known of it stays as it was', async () => {
    cluster.objects.set(TOYS, [toy('flood', 'a', 10), toy('flood', 'b', 10)]);
    toys.start();
    await toys.whenSynced();
    await cluster.tell(TOYS, 'MODIFIED', toy('flood', 'a', 45, 2));
    await until('it is left out', () => room.standing === 1);
    expect(toys.store.get('flood', 'a')).toMatchObject({ resourceVersion: '1' });
    // A list has it larger, too, and nothing of it is deleted.
    expect(deleted()).toBe(0);
    await cluster.tell(TOYS, 'MODIFIED', toy('flood', 'a', 12, 3));
    await until('it is known again', () => toys.store.get('flood', 'a')?.resourceVersion === '3');
    await cluster.tell(TOYS, 'DELETED', toy('flood', 'b', 10));
    await until('what is gone is gone', () => deleted() === 1);
    await toys.stop();
  });

  test('is read again until all of it fits, and tells what it had left out', async () => {
    const all = Array.from({ length: 9 }, (_, index) => toy('flood', `t${index}`, 10));
    cluster.objects.set(TOYS, all);
    toys.start();
    await toys.whenSynced();
    await clock.pass(30_000);
    expect([toys.store.size, room.standing]).toEqual([4, 1]);
    cluster.objects.set(TOYS, [...all.slice(2, 4), toy('flood', 'late', 10)]);
    for (const index of [0, 1]) await cluster.tell(TOYS, 'DELETED', all[index] as KubeObject);
    await until('there is room', () => toys.store.size === 2);
    expect(room.standing).toBe(1);
    await clock.pass(60_000);
    await settled();
    expect(known()).toEqual(['flood/late', 'flood/t2', 'flood/t3']);
    expect(room.standing).toBe(0);
    expect(changes.filter(({ type }) => type === 'added').map(({ new: now }) => now?.name)).toContain('late');
    await toys.stop();
  });

  test('keeps gone what went while it was read again', async () => {
    const all = Array.from({ length: 9 }, (_, index) => toy('flood', `t${index}`, 10));
    cluster.objects.set(TOYS, all);
    toys.start();
    await toys.whenSynced();
    for (const one of all.slice(0, 4)) await cluster.tell(TOYS, 'DELETED', one);
    await until('they are gone', () => toys.store.size === 0);
    // The list that is on its way was made before one more of them went.
    cluster.beforeList = async () => {
      cluster.beforeList = () => Promise.resolve();
      await cluster.tell(TOYS, 'DELETED', all[5] as KubeObject);
      await settled();
    };
    cluster.objects.set(TOYS, [all[5], all[6]] as KubeObject[]);
    await clock.pass(30_000);
    await until('the other is known', () => known().includes('flood/t6'));
    expect(known()).toEqual(['flood/t6']);
    await toys.stop();
  });
});

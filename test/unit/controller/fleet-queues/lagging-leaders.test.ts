/** Leaders whose caches lag behind, each by as much as it likes, die between any two writes, and share one queue. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../../src/json/json.ts';
import { Behind, letThrough } from '../../../../src/controller/fleet-queues/let-through.ts';
import { readQueuedBinding } from '../../../../src/fleet/bindings/queued-binding.ts';
import { isBefore, readQueue, type Versions } from '../../../../src/fleet/queues/read-queue.ts';
import type { KubeClient } from '../../../../src/kube/client/client.ts';
import { errorFromAnswer } from '../../../../src/kube/client/errors.ts';
import { searchLength } from '../../../support/length.ts';

const CAPACITY = 4;
const NOW = new Date('2026-08-21T03:10:01Z');

interface Stored {
  readonly name: string;
  readonly cpu: number;
  readonly priority: number;
  readonly held: boolean;
  readonly version: number;
}
/** What the API server told of bindings; `stored` is undefined where one was deleted. */
interface Told {
  readonly version: number;
  readonly name: string;
  readonly stored: Stored | undefined;
}

/** One store: bindings, one queue, and everything that it told of both. */
class Fleet {
  readonly bindings = new Map<string, Stored>();
  readonly told: Told[] = [];
  readonly queues: { readonly version: number; readonly status: JsonObject }[] = [{ version: 1, status: {} }];
  version = 1;
  #made = 0;

  put(stored: Omit<Stored, 'version'>): void {
    this.version += 1;
    const made = { ...stored, version: this.version };
    this.bindings.set(stored.name, made);
    this.told.push({ version: this.version, name: stored.name, stored: made });
  }

  make(cpu: number, priority: number): void {
    this.put({ name: `b${(this.#made += 1)}`, cpu, priority, held: true });
  }

  /** The first one that is through comes to its end, or is deleted by hand. */
  end(): void {
    const [through] = [...this.bindings.values()].filter(({ held }) => !held);
    if (through === undefined) return;
    this.version += 1;
    this.bindings.delete(through.name);
    this.told.push({ version: this.version, name: through.name, stored: undefined });
  }

  get used(): number {
    return [...this.bindings.values()].reduce((sum, { cpu, held }) => sum + (held ? 0 : cpu), 0);
  }
}

/** One replica's caches of it: of each kind, how much of what was told has come. */
class Replica {
  readonly #fleet: Fleet;
  #bindings = 0;
  #queue = 0;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  hear(bindings: number, queues: number): void {
    this.#bindings = Math.min(this.#fleet.told.length, this.#bindings + bindings);
    this.#queue = Math.min(this.#fleet.queues.length - 1, this.#queue + queues);
  }

  /** @param lives so many writes before it dies */
  async lead(lives: number): Promise<unknown> {
    const fleet = this.#fleet;
    const heard = fleet.told.slice(0, this.#bindings);
    const cached = new Map<string, Stored>();
    for (const { name, stored } of heard)
      if (stored === undefined) cached.delete(name);
      else cached.set(name, stored);
    const seen = String(heard.at(-1)?.version ?? 0);
    const queue = fleet.queues[this.#queue] ?? { version: 0, status: {} };
    let left = lives;
    const write = (isCurrent: boolean, store: () => void): Promise<undefined> => {
      if (left-- <= 0) return Promise.reject(new Error('killed'));
      if (!isCurrent)
        return Promise.reject(
          errorFromAnswer('PATCH', 409, JSON.stringify({ message: 'changed' }), undefined),
        );
      store();
      return Promise.resolve(undefined);
    };
    const client = {
      jsonPatch: (_: unknown, [check, add]: readonly { value: unknown }[]) =>
        write(check?.value === String(fleet.queues.at(-1)?.version), () => {
          fleet.version += 1;
          fleet.queues.push({ version: fleet.version, status: add?.value as JsonObject });
        }),
      mergePatch: ({ name }: { name: string }, { metadata }: { metadata: { resourceVersion: string } }) => {
        const stored = fleet.bindings.get(name);
        return write(String(stored?.version) === metadata.resourceVersion, () => {
          if (stored !== undefined) fleet.put({ ...stored, held: false });
        });
      },
    } as unknown as KubeClient;
    return letThrough({
      client,
      bindings: [...cached.values()].map(({ name, cpu, priority, held, version }) =>
        readQueuedBinding({
          metadata: {
            ...{ namespace: 'ml', name, uid: name, resourceVersion: String(version) },
            ...{ creationTimestamp: '2026-08-21T03:10:00Z', annotations: { 'muster.dev/fleet-queue': 'q' } },
          },
          spec: {
            ...{ suspension: { scheduling: held }, replicas: cpu, schedulePriority: { priority } },
            replicaRequirements: { resourceRequest: { cpu: '1' } },
          },
        }),
      ),
      queues: [
        readQueue({
          metadata: { name: 'q', uid: 'q', resourceVersion: String(queue.version), generation: 1 },
          spec: { capacity: { cpu: String(CAPACITY) } },
          status: queue.status,
        }),
      ],
      hasSeen: (versions: Versions) => !Object.values(versions).some((version) => isBefore(seen, version)),
      ...{ reserveAfterMs: 60_000, standstill: () => undefined, now: NOW },
      signal: new AbortController().signal,
      released: () => undefined,
    }).catch((thrown: unknown) => thrown);
  }
}

const step = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('make' as const),
      cpu: fc.integer({ min: 1, max: 3 }),
      priority: fc.nat(9),
    }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('end' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      what: fc.constant('lead' as const),
      who: fc.nat(1),
      // What it hears of before: nothing, some of it, or all.
      bindings: fc.constantFrom(0, 1, 2, 99, 99),
      queues: fc.constantFrom(0, 1, 99, 99),
      lives: fc.constantFrom(0, 1, 2, 99, 99),
    }),
  },
);

test('never is more let through than the queue has, however far behind who leads is; in the end all go on', async () => {
  const found = { behind: 0, full: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
      const fleet = new Fleet();
      const replicas = [new Replica(fleet), new Replica(fleet)];
      for (const one of steps) {
        const replica = replicas['who' in one ? one.who : 0] as Replica;
        if (one.what === 'make') fleet.make(one.cpu, one.priority);
        else if (one.what === 'end') fleet.end();
        else {
          replica.hear(one.bindings, one.queues);
          const came = await replica.lead(one.lives);
          if (came instanceof Behind && came.cause === undefined) found.behind += 1;
        }
        expect(fleet.used).toBeLessThanOrEqual(CAPACITY);
        if (fleet.used === CAPACITY) found.full += 1;
      }
      // Whoever hears everything goes on.
      const [last] = replicas as [Replica];
      for (let round = 0; round < 200 && fleet.bindings.size > 0; round += 1) {
        last.hear(1_000, 1_000);
        await last.lead(99);
        expect(fleet.used).toBeLessThanOrEqual(CAPACITY);
        fleet.end();
      }
      expect(fleet.bindings.size).toBe(0);
    }),
    { numRuns: searchLength({ short: 1_000, long: 20_000 }) },
  );
  expect(found.behind).toBeGreaterThan(10);
  expect(found.full).toBeGreaterThan(10);
});

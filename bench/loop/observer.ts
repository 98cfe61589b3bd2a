import { GATE_POD_GANG_PENDING } from '../../src/api/names.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { PODS, type KubeObject } from '../../src/kube/client/resources.ts';
import { until } from '../../test/cluster/control-plane/until.ts';
import { OBSERVED } from './objects.ts';

/** What was seen of the Pods of one namespace. Times are `performance.now()` of this process. */
export interface Seen {
  readonly present: ReadonlySet<string>;
  /** When a Pod was first seen without the gate. */
  readonly gateOffAt: ReadonlyMap<string, number>;
}

interface Taken {
  readonly present: Set<string>;
  readonly gateOffAt: Map<string, number>;
}

/** Longer than any bench. */
const WATCH_SECONDS = 3600;

/** A watch of its own on the benchmarked Pods, whoever takes their gates off. */
export class GateObserver {
  readonly #namespaces = new Map<string, Taken>();
  readonly #stop = new AbortController();
  #watching: Promise<void> | undefined;
  #failure: unknown;
  #cuts = 0;

  async start(client: KubeClient): Promise<void> {
    const { resourceVersion } = await client.list(PODS, { labelSelector: OBSERVED, limit: 1 });
    this.#watching = this.#watch(client, resourceVersion).catch((error: unknown) => {
      if (!this.#stop.signal.aborted) this.#failure = error;
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the bench is over'));
    await this.#watching;
  }

  /** How often the watch had to begin anew: each may have made a sight late. */
  get cuts(): number {
    return this.#cuts;
  }

  of(namespace: string): Seen {
    return this.#of(namespace);
  }

  /** Waits until `count` Pods of a namespace were seen without their gate. @returns when the last one was */
  async gatesOff(namespace: string, count: number, withinMs: number): Promise<number> {
    const { gateOffAt } = this.#of(namespace);
    await this.#until(`${count} gates are off`, () => gateOffAt.size >= count, withinMs);
    return Math.max(...gateOffAt.values());
  }

  async gone(namespace: string, withinMs: number): Promise<void> {
    const { present } = this.#of(namespace);
    await this.#until('the Pods are gone', () => present.size === 0, withinMs);
  }

  async #until(what: string, probe: () => boolean, withinMs: number): Promise<void> {
    await until(
      what,
      () => {
        if (this.#failure !== undefined) return true;
        return probe();
      },
      { withinMs, everyMs: 20 },
    );
    if (this.#failure !== undefined)
      throw new Error('the watch of the bench has ended', { cause: this.#failure });
  }

  /** Goes on where it was cut: the API server ends a watch whose reader is slow. Nothing is lost, but seen late. */
  async #watch(client: KubeClient, from: string): Promise<void> {
    const { signal } = this.#stop;
    for (let resourceVersion = from; ; this.#cuts += 1) {
      const options = { labelSelector: OBSERVED, resourceVersion, timeoutSeconds: WATCH_SECONDS, signal };
      for await (const batch of client.watch(PODS, options)) {
        const now = performance.now();
        for (const { type, object } of batch) {
          this.#take(type, object, now);
          resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
        }
      }
    }
  }

  #take(type: string, { metadata, spec }: KubeObject, now: number): void {
    if (type === 'BOOKMARK') return;
    const { present, gateOffAt } = this.#of(metadata.namespace ?? '');
    if (type === 'DELETED') {
      present.delete(metadata.name);
      return;
    }
    present.add(metadata.name);
    const gates = (spec as { schedulingGates?: readonly { name: string }[] }).schedulingGates ?? [];
    const gated = gates.some(({ name }) => name === GATE_POD_GANG_PENDING);
    if (!gated && !gateOffAt.has(metadata.name)) gateOffAt.set(metadata.name, now);
  }

  #of(namespace: string): Taken {
    let taken = this.#namespaces.get(namespace);
    if (taken === undefined) {
      taken = { present: new Set(), gateOffAt: new Map() };
      this.#namespaces.set(namespace, taken);
    }
    return taken;
  }
}

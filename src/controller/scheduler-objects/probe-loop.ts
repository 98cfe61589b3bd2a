import type { ClusterProbe, Readiness } from '../../backends/cluster.ts';
import type { BackendRegistry } from '../../backends/registry.ts';
import { sleep, systemClock, type Clock } from '../../kube/client/clock.ts';
import { within } from '../../kube/loop/deadline.ts';

/** How long (ms) a backend may take to probe the cluster. */
const INIT_MS = 10_000;
/** Probe intervals (ms): a CRD that is installed is found within `failed`, one that is removed within `ready`. */
const AGAIN_MS = { failed: 5_000, ready: 60_000 } as const;
/** First retry delay (ms) after a cluster did not answer the first probe, growing with each retry: gang Pods wait for it. */
const FIRST_AGAIN_MS = 250;
/** How long (ms) a replica stays unready while a cluster answers no probe; then it serves the other backends. */
const FIRST_LOOK_MS = 30_000;

export interface ProbeLoopOptions {
  readonly registry: BackendRegistry;
  /** undefined when there is no cluster. */
  readonly cluster: (signal: AbortSignal) => ClusterProbe | undefined;
  /** Called after every probe, including those that change nothing. */
  readonly probed: (backend: string, now: Readiness, before: Readiness, seconds: number) => void;
  readonly clock?: Clock;
}

/** Keeps the readiness of every backend up to date, on every replica, since admission depends on it. */
export class ProbeLoop {
  readonly #options: ProbeLoopOptions;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  /** Functions that end a backend's wait for its next probe. */
  readonly #hurry = new Map<string, () => void>();
  readonly #running: Promise<void>[] = [];
  #startedAt: number | undefined;

  constructor(options: ProbeLoopOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * Resolves once every backend in this process was probed once. Backends in other processes are not waited for: one
   * that hangs must not prevent the start. Probing continues until {@link stop}.
   */
  async start(): Promise<void> {
    this.#startedAt = this.#clock.now();
    const { enabled, hosted } = this.#options.registry;
    const elsewhere = new Set(hosted.map(({ name }) => name));
    const firsts = enabled.map((name) => {
      const first = this.#probe(name);
      this.#running.push(first.then(() => this.#keepProbing(name)));
      return elsewhere.has(name) ? Promise.resolve() : first;
    });
    await Promise.all(firsts);
  }

  /** For readiness: a backend of this process that has not probed the cluster yet, and why; undefined when there is none. */
  check(): string | undefined {
    const { registry } = this.#options;
    if (this.#startedAt === undefined) return 'waiting for the backends to look at the cluster';
    if (this.#clock.now() - this.#startedAt >= FIRST_LOOK_MS) return undefined;
    const elsewhere = new Set(registry.hosted.map(({ name }) => name));
    for (const name of registry.enabled) {
      const unseen = elsewhere.has(name) ? undefined : registry.unseen(name);
      if (unseen !== undefined) return unseen;
    }
    return undefined;
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the controller is stopping'));
    await Promise.all(this.#running);
  }

  /**
   * Probes a backend again at once, but never twice in a row: a state that changes with every probe must not cause a
   * hot loop.
   */
  soon(name: string): void {
    this.#hurry.get(name)?.();
  }

  async #keepProbing(name: string): Promise<void> {
    const { signal } = this.#stop;
    const { registry } = this.#options;
    let unseenMs = FIRST_AGAIN_MS;
    for (let hurried = false; !signal.aborted;) {
      let wait: number = registry.readiness(name).state === 'ready' ? AGAIN_MS.ready : AGAIN_MS.failed;
      if (registry.unseen(name) !== undefined) {
        wait = Math.min(unseenMs, AGAIN_MS.failed);
        unseenMs *= 2;
      }
      const soon = new AbortController();
      if (!hurried) this.#hurry.set(name, () => soon.abort(new Error('soon')));
      await sleep(this.#clock, wait, AbortSignal.any([signal, soon.signal])).catch(() => undefined);
      this.#hurry.delete(name);
      hurried = soon.signal.aborted;
      if (!signal.aborted) await this.#probe(name);
    }
  }

  async #probe(name: string): Promise<void> {
    const { registry, cluster, probed } = this.#options;
    const { signal } = this.#stop;
    const before = registry.readiness(name);
    const since = this.#clock.now();
    const now = await registry.init(name, (init) =>
      within(
        `backend ${name}`,
        INIT_MS,
        signal,
        (limit) => init({ cluster: cluster(limit), signal: limit }),
        this.#clock,
      ),
    );
    if (signal.aborted) return;
    probed(name, now, before, (this.#clock.now() - since) / 1000);
  }
}

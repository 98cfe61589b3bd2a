import type { ClusterProbe, Readiness } from '../../backends/cluster.ts';
import type { BackendRegistry } from '../../backends/registry.ts';
import { sleep, systemClock, type Clock } from '../../kube/client/clock.ts';
import { within } from '../../kube/loop/deadline.ts';

/** How long a backend may take to probe the cluster. */
const INIT_MS = 10_000;
/** A cluster changes seldom: a CRD that is installed is found within this time, one that goes within the second. */
const AGAIN_MS = { failed: 5_000, ready: 60_000 } as const;
/** Gang Pods wait for the first look, so a cluster that did not answer it is asked soon again, and ever less often. */
const FIRST_AGAIN_MS = 250;
/** How long a replica stays unready for a cluster that answers no look: from then on the other backends are served. */
const FIRST_LOOK_MS = 30_000;

export interface ProbeLoopOptions {
  readonly registry: BackendRegistry;
  /** undefined where there is none. */
  readonly cluster: (signal: AbortSignal) => ClusterProbe | undefined;
  /** Hears of every probe, also of one that finds what was known. */
  readonly probed: (backend: string, now: Readiness, before: Readiness, seconds: number) => void;
  readonly clock?: Clock;
}

/** Keeps what is known of every backend up to date, on every replica, since admission goes by it. */
export class ProbeLoop {
  readonly #options: ProbeLoopOptions;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  /** Backends that wait for their next probe: what ends the wait. */
  readonly #hurry = new Map<string, () => void>();
  readonly #running: Promise<void>[] = [];
  #startedAt: number | undefined;

  constructor(options: ProbeLoopOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * Resolves once every backend was asked once, but for those that run elsewhere: one that hangs there keeps nobody from
   * starting. Goes on asking until {@link stop}.
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

  /** For readiness: the backend of this process that is still to look at the cluster, and why. */
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

  /** Probes a backend again at once, though not twice in a row: what changes at every probe is no reason for a hot loop. */
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

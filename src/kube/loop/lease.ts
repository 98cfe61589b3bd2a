import { messageOf } from '../../errors.ts';
import { microTime, sleep, systemClock, type Clock, type UniformRandom } from '../client/clock.ts';
import type { KubeCallOptions, KubeClient } from '../client/client.ts';
import { isConflict, isNotFound } from '../client/errors.ts';
import { LEASES, type KubeObject } from '../client/resources.ts';
import { leaseSpec, readLease, type LeaseRecord } from './lease-record.ts';

export interface LeaseOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  /** Unique among all candidates, also after a restart: the Pod's name and a random part. */
  readonly identity: string;
  /** How long others wait without a renewal before they take over. Usually 15 s. */
  readonly leaseDurationMs: number;
  /** The leader stops leading when it could not renew for this long. Usually 10 s; below the duration. */
  readonly renewDeadlineMs: number;
  /** Interval between attempts to take or renew. Usually 2 s. The configuration checks the three against each other. */
  readonly retryPeriodMs: number;
  /**
   * Does the leader's work until `signal` is aborted, because the leadership was lost or ended. The Lease is given up
   * only after it has returned, so that the next leader does not meet its last writes. A rejection ends the leadership.
   */
  readonly lead: (signal: AbortSignal) => Promise<void>;
  readonly observer?: LeaseObserver;
  readonly clock?: Clock;
  readonly random?: UniformRandom;
}

export interface LeaseObserver {
  /** Called when this replica starts or stops leading; `why` is for people. */
  leading?(leads: boolean, why: string): void;
  /** Called when another candidate holds the Lease; empty for none. */
  holder?(identity: string): void;
  failed?(error: unknown): void;
}

/** Attempts to give the Lease up: its version may have changed by this replica's last write and by another's. */
const RELEASE_TRIES = 3;

/** Random fraction of the retry period: candidates that were started together must not retry together. */
const SPREAD = 0.2;

/**
 * Leader election on a Lease, modelled on client-go: the holder renews the Lease, and others take it when they have
 * seen no renewal for its whole duration **by their own clock**, so clocks need not agree, only run at about the same
 * speed. Every write is conditional on what was read, so two candidates cannot both take it.
 *
 * This nearly always prevents two leaders. It cannot always do so (a process that was suspended resumes believing
 * that it leads), which is why all writes of the leader are conditional too.
 */
export class LeaseElection {
  readonly #options: LeaseOptions;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #lease: KubeObject | undefined;
  /** When the Lease was last seen to change, by this replica's clock. */
  #changedAt = 0;
  #leads = false;
  /**
   * Whether a call was aborted before its answer: the write may have happened, so this replica may hold a Lease it has
   * not seen.
   */
  #unsure = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  get leads(): boolean {
    return this.#leads;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends the leader's work, waits for it, and gives the Lease up so that another candidate may take it at once. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the election was stopped'));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      if (await this.#attempt(this.#options.renewDeadlineMs)) await this.#reign();
      await sleep(this.#clock, this.#untilNextTry(), signal).catch(() => undefined);
    }
    if (this.#unsure) await this.#release(this.#options.retryPeriodMs);
  }

  /**
   * A retry period, or half of one while another candidate holds the Lease: seeing the last renewal late delays the
   * takeover by as much. At most the Lease's duration.
   */
  #untilNextTry(): number {
    const { retryPeriodMs, random = Math.random } = this.#options;
    const wait = retryPeriodMs * (1 - SPREAD * random());
    if (!this.#isOthers() || this.#lease === undefined) return wait;
    const left = this.#changedAt + readLease(this.#lease).durationMs - this.#clock.now();
    return left > 0 ? Math.min(wait / 2, left) : wait;
  }

  async #reign(): Promise<void> {
    const { lead, observer, identity } = this.#options;
    this.#leads = true;
    observer?.leading?.(true, `${identity} took the Lease`);
    const lost = new AbortController();
    const ending = AbortSignal.any([this.#stop.signal, lost.signal]);
    const work = (async () => lead(ending))().catch((error: unknown) => {
      if (!ending.aborted) observer?.failed?.(error);
    });
    const over = new AbortController();
    const worked = work.then(() => over.abort());
    // Renewal continues while the work ends after a stop: no other candidate may start before.
    const why = await this.#renew(over.signal, lost);
    await worked;
    this.#leads = false;
    observer?.leading?.(false, why);
    if (why !== LOST) await this.#release(this.#options.renewDeadlineMs);
  }

  /**
   * Renews until `over` is aborted or no renewal succeeded for the renew deadline; then aborts `lost`. @returns why it
   * ended
   */
  async #renew(over: AbortSignal, lost: AbortController): Promise<string> {
    const { retryPeriodMs, renewDeadlineMs } = this.#options;
    let renewedAt = this.#clock.now();
    for (;;) {
      await sleep(this.#clock, retryPeriodMs, over).catch(() => undefined);
      const began = this.#clock.now();
      const left = renewedAt + renewDeadlineMs - began;
      const renewed = left > 0 && !over.aborted && (await this.#attempt(left, over));
      if (over.aborted) return 'the leader has finished';
      if (renewed) renewedAt = began;
      else if (this.#isOthers() || this.#clock.now() - renewedAt >= renewDeadlineMs) {
        this.#leads = false;
        lost.abort(new Error(LOST));
        return LOST;
      }
    }
  }

  /** Whether the Lease, as last seen, names another holder. */
  #isOthers(): boolean {
    const holder = this.#lease && readLease(this.#lease).holder;
    return Boolean(holder) && holder !== this.#options.identity;
  }

  /** Makes one attempt to take or renew the Lease. @returns whether this replica holds it */
  async #attempt(timeoutMs: number, over?: AbortSignal): Promise<boolean> {
    const signal = over ?? this.#stop.signal;
    const calls = { signal, timeoutMs: Math.max(1, timeoutMs), unlimited: true };
    try {
      if (this.#leads && this.#lease !== undefined) {
        // The usual case takes one call: the Lease was not changed since this replica's last renewal.
        const renewed = await this.#write(this.#lease, calls).catch(() => undefined);
        if (renewed) return true;
        signal.throwIfAborted();
      }
      return await this.#readAndWrite(calls);
    } catch (error) {
      if (signal.aborted) this.#unsure = true;
      else this.#options.observer?.failed?.(error);
      return false;
    }
  }

  async #readAndWrite(calls: KubeCallOptions): Promise<boolean> {
    const { client, namespace, name, identity } = this.#options;
    const lease = await this.#read(calls);
    if (lease === undefined) {
      const spec = leaseSpec(this.#record(undefined));
      this.#observe(await client.create(LEASES, { metadata: { namespace, name }, spec }, calls));
      return true;
    }
    this.#observe(lease);
    const { holder, durationMs } = readLease(lease);
    const taken = holder !== '' && holder !== identity;
    if (taken && this.#clock.now() < this.#changedAt + durationMs) return false;
    return this.#write(lease, calls);
  }

  async #write(lease: KubeObject, calls: KubeCallOptions, record?: LeaseRecord): Promise<true> {
    const spec = { ...(lease.spec as object), ...leaseSpec(record ?? this.#record(readLease(lease))) };
    this.#observe(await this.#options.client.replace(LEASES, { ...lease, spec }, calls));
    return true;
  }

  #record(before: LeaseRecord | undefined): LeaseRecord {
    const now = microTime(this.#clock.date());
    const ours = before?.holder === this.#options.identity;
    return {
      holder: this.#options.identity,
      durationMs: this.#options.leaseDurationMs,
      acquireTime: ours ? before.acquireTime : now,
      renewTime: now,
      transitions: before === undefined ? 0 : before.transitions + (ours ? 0 : 1),
    };
  }

  #observe(lease: KubeObject): void {
    const before = this.#lease;
    this.#lease = lease;
    if (before !== undefined && before.metadata.resourceVersion === lease.metadata.resourceVersion) return;
    this.#changedAt = this.#clock.now();
    const { holder } = readLease(lease);
    if (before === undefined || readLease(before).holder !== holder) this.#options.observer?.holder?.(holder);
  }

  async #release(timeoutMs: number): Promise<void> {
    const calls = { timeoutMs, unlimited: true };
    try {
      let known = this.#unsure ? undefined : this.#lease;
      this.#unsure = false;
      for (let tries = 1; ; tries += 1) {
        known ??= await this.#read(calls);
        if (known === undefined || readLease(known).holder !== this.#options.identity) return;
        const renewTime = microTime(this.#clock.date());
        try {
          await this.#write(known, calls, { ...readLease(known), holder: '', durationMs: 1000, renewTime });
          return;
        } catch (error) {
          if (!isConflict(error) || tries === RELEASE_TRIES) throw error;
          known = undefined;
        }
      }
    } catch (cause) {
      const message = `the Lease could not be given up, it will run out by itself: ${messageOf(cause)}`;
      this.#options.observer?.failed?.(new Error(message, { cause }));
    }
  }

  /** Returns undefined when the Lease does not exist. */
  async #read(calls: KubeCallOptions): Promise<KubeObject | undefined> {
    const { client, namespace, name } = this.#options;
    try {
      return await client.get({ resource: LEASES, namespace, name }, calls);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

const LOST = 'the Lease could not be renewed in time, or was taken by another';

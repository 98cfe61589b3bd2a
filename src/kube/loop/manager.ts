import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { sleep, systemClock } from '../client/clock.ts';
import type { KubeClient } from '../client/client.ts';
import { messageOf } from '../../errors.ts';
import { aborted } from './deadline.ts';
import { EventRecorder } from './event-recorder.ts';
import { LeaseElection, type LeaseObserver, type LeaseOptions } from './lease.ts';
import { Watches, type ManagedWatch } from './watches.ts';

/**
 * One controller. It watches on every replica, and works on the one that leads. Its queues, its metrics and what it does
 * with a key are its own affair.
 */
export interface Controller {
  readonly name: string;
  /** Begun on every replica and listed once before anybody leads. What several controllers name is one watch. */
  readonly watches: Iterable<ManagedWatch>;
  /** What else has to be known before anybody leads. Called once, on every replica. */
  start?(): Promise<void>;
  /** For readiness, once the watches are listed: what it still waits for. */
  check?(): string | undefined;
  /** Works until `signal` is aborted, and resolves once nothing of it is under way any more. */
  lead(signal: AbortSignal): Promise<void>;
  /** Whether it works on something that Events should give way to. */
  busy?(): boolean;
  /** The end, after {@link lead} has returned. */
  stop?(): Promise<void>;
}

export interface ManagerObserver extends Pick<LeaseObserver, 'leading' | 'holder'> {
  /** Leader election, or the controller of that name. */
  failed?(what: string, error: unknown): void;
  /** The controllers work, or have ended. */
  working?(works: boolean): void;
}

export interface ManagerOptions {
  readonly client: KubeClient;
  /** Who shows up in Events. */
  readonly name: string;
  /** Absent: this process always leads. */
  readonly election?: Pick<
    LeaseOptions,
    'namespace' | 'name' | 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'
  >;
  readonly observer?: ManagerObserver;
}

/** Before controllers that failed without a leader election are let go on (ms). */
const AGAIN_MS = 1_000;

/** What controllers have in common: the client, the Events, the watches, leadership, a beginning and an end. */
export class Manager {
  readonly recorder: EventRecorder;
  /** Ours alone, also after a restart. */
  readonly identity = `${hostname()}_${randomBytes(4).toString('hex')}`;
  readonly #options: ManagerOptions;
  #controllers: readonly Controller[] = [];
  #watches = new Watches([]);
  #election: { start(): void; stop(): Promise<void> } | undefined;
  #ready: Promise<unknown> = Promise.resolve();
  /** Controllers that have not started yet, or could not: with why. */
  readonly #notStarted = new Map<string, string>();

  constructor(options: ManagerOptions) {
    this.#options = options;
    const { client, name } = options;
    const busy = (): boolean => this.#controllers.some((controller) => controller.busy?.() === true);
    this.recorder = new EventRecorder({ client, controller: name, instance: this.identity, busy });
  }

  /** The distinct watches of all controllers. */
  get watches(): Watches {
    return this.#watches;
  }

  start(controllers: readonly Controller[]): void {
    this.#controllers = controllers;
    this.#watches = new Watches(controllers.flatMap(({ watches }) => [...watches]));
    this.#watches.start();
    const started = controllers.map((controller) => this.#start(controller));
    this.#ready = Promise.all([...started, this.#watches.whenSynced().catch(() => undefined)]);
    this.#election = this.#elect();
    this.#election.start();
  }

  /** For readiness: undefined once all is known that a leader needs, else what is missing. */
  check(): string | undefined {
    const { missing } = this.#watches;
    if (missing.length > 0) return `waiting for the first list of ${missing.join(' and ')}`;
    for (const controller of this.#controllers) {
      const waiting = controller.check?.() ?? this.#notStarted.get(controller.name);
      if (waiting !== undefined) return waiting;
    }
    return undefined;
  }

  /** Ends the work under way, gives the Lease up, sends the last Events, ends the watches and the client. */
  async stop(): Promise<void> {
    await this.#election?.stop();
    await Promise.all(this.#controllers.map(async (controller) => controller.stop?.()));
    await this.recorder.stop();
    await this.#watches.stop();
    await this.#ready;
    await this.#options.client.close();
  }

  async #start(controller: Controller): Promise<void> {
    const { name } = controller;
    this.#notStarted.set(name, `waiting for the controller ${name} to start`);
    try {
      await controller.start?.();
      this.#notStarted.delete(name);
    } catch (error) {
      this.#notStarted.set(name, `the controller ${name} could not start: ${messageOf(error)}`);
      this.#options.observer?.failed?.(name, error);
    }
  }

  async #lead(signal: AbortSignal): Promise<void> {
    const { observer } = this.#options;
    await Promise.race([aborted(signal), this.#ready]);
    if (signal.aborted) return;
    observer?.working?.(true);
    const broken = new AbortController();
    const over = AbortSignal.any([signal, broken.signal]);
    const work = async (controller: Controller): Promise<void> => {
      try {
        await controller.lead(over);
      } catch (error) {
        if (!over.aborted) observer?.failed?.(controller.name, error);
        // The others must have ended, too, before the Lease is given up.
        broken.abort(error);
      }
    };
    await Promise.all(this.#controllers.map(work));
    observer?.working?.(false);
  }

  #elect(): { start(): void; stop(): Promise<void> } {
    const { client, election, observer } = this.#options;
    const lead = (signal: AbortSignal): Promise<void> => this.#lead(signal);
    if (election === undefined) return alwaysLeading(lead);
    return new LeaseElection({
      ...election,
      client,
      identity: this.identity,
      lead,
      observer: { ...observer, failed: (error) => observer?.failed?.('leader election', error) },
    });
  }
}

function alwaysLeading(lead: (signal: AbortSignal) => Promise<void>): {
  start(): void;
  stop(): Promise<void>;
} {
  const ending = new AbortController();
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await lead(ending.signal);
      await sleep(systemClock, AGAIN_MS, ending.signal).catch(() => undefined);
    }
  };
  return {
    start: () => {
      running ??= run();
    },
    stop: async () => {
      ending.abort(new Error('the controllers are stopping'));
      await running;
    },
  };
}

import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { sleep, systemClock } from '../client/clock.ts';
import type { KubeClient } from '../client/client.ts';
import { messageOf } from '../../errors.ts';
import { aborted } from './deadline.ts';
import { EventRecorder } from './event-recorder.ts';
import { LeaseElection, type LeaseObserver, type LeaseOptions } from './lease.ts';
import { Watches, type ManagedWatch } from './watches.ts';

/** One controller. It watches on every replica, and works on the leader. Queues, metrics and reconciliation are its own. */
export interface Controller {
  readonly name: string;
  /**
   * Started on every replica and listed once before this replica leads. A watch that several controllers name is
   * started once.
   */
  readonly watches: Iterable<ManagedWatch>;
  /** Prepares what has to be known before this replica leads. Called once, on every replica. */
  start?(): Promise<void>;
  /** For readiness, once the watches are listed: what the controller still waits for; undefined when it is ready. */
  check?(): string | undefined;
  /** Works until `signal` is aborted; resolves once no work is in progress. */
  lead(signal: AbortSignal): Promise<void>;
  /** Whether the controller has work that Events should give way to. */
  busy?(): boolean;
  /** Called last, after {@link lead} has returned. */
  stop?(): Promise<void>;
}

export interface ManagerObserver extends Pick<LeaseObserver, 'leading' | 'holder'> {
  /** @param what leader election, or the name of a controller */
  failed?(what: string, error: unknown): void;
  /** Called when the controllers begin to work, and when they have ended. */
  working?(works: boolean): void;
}

export interface ManagerOptions {
  readonly client: KubeClient;
  /** The name shown in Events. */
  readonly name: string;
  /** Absent: this process always leads. */
  readonly election?: Pick<
    LeaseOptions,
    'namespace' | 'name' | 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'
  >;
  readonly observer?: ManagerObserver;
}

/** Delay (ms) before controllers that failed are started again when there is no leader election. */
const AGAIN_MS = 1_000;

/**
 * Runs controllers: provides the client and Events, starts the watches, elects a leader, starts and stops the
 * controllers.
 */
export class Manager {
  readonly recorder: EventRecorder;
  /** Unique to this process, also after a restart. */
  readonly identity = `${hostname()}_${randomBytes(4).toString('hex')}`;
  readonly #options: ManagerOptions;
  #controllers: readonly Controller[] = [];
  #watches = new Watches([]);
  #election: { start(): void; stop(): Promise<void> } | undefined;
  #ready: Promise<unknown> = Promise.resolve();
  /** Controllers that have not started yet, or failed to, with the reason. */
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

  /** For readiness: undefined once everything that a leader needs is known, else what is missing. */
  check(): string | undefined {
    const { missing } = this.#watches;
    if (missing.length > 0) return `waiting for the first list of ${missing.join(' and ')}`;
    for (const controller of this.#controllers) {
      const waiting = controller.check?.() ?? this.#notStarted.get(controller.name);
      if (waiting !== undefined) return waiting;
    }
    return undefined;
  }

  /** Ends the work in progress, gives the Lease up, sends the last Events, stops the watches and the client. */
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
        // The other controllers must have ended too before the Lease is given up.
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

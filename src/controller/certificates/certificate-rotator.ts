import { messageOf } from '../../errors.ts';
import { sleep, systemClock, type Clock } from '../../kube/client/clock.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isConflict } from '../../kube/client/errors.ts';
import type { Logger } from '../../telemetry/log.ts';
import { checkPair, type ServingPair } from '../../tls/check.ts';
import {
  nextCheckMs,
  isToBeServed,
  nextStep,
  type CertificateWrite,
} from '../../tls/in-cluster/next-step.ts';
import { OWN_CA, type ServedCertificates } from '../../tls/in-cluster/read-stored.ts';
import { isCovered, type CertificateTimes } from '../../tls/in-cluster/state.ts';
import { issueAuthority, issueServingCertificate } from '../../tls/issue.ts';
import type { ReloadResult } from '../../tls/reload.ts';
import { CertificateStore, pemOf, type Reading } from './certificate-store.ts';
import { CertificateMemory } from './certificate-memory.ts';
import { CertificateProblems, problemsOf, reasonFor } from './certificate-problems.ts';

/** Who serves the certificates, and counts. */
export interface RotatorEvents {
  /** Puts a new pair into service; the first one is what `start` returns as well. */
  onSwap(pair: ServingPair): void;
  onResult(result: ReloadResult): void;
}

export interface CertificateRotatorOptions {
  readonly client: KubeClient;
  readonly secret: { readonly namespace: string; readonly name: string };
  /** The name that API servers call. */
  readonly serverName: string;
  readonly times: CertificateTimes;
  readonly log: Logger;
  /** Reports whether every stored caBundle covers the leaf in service, once there is one. */
  readonly covers: (covers: boolean) => void;
  readonly clock?: Clock;
  /** The longest wait (ms) between two looks; what a watch misses is seen then. */
  readonly pollMs?: number;
}

const POLL_MS = 30_000;
/** The first and the longest wait (ms) after a failure. */
const RETRY_MS = { first: 500, longest: 15_000 };
/** Certificates are valid from an hour before they are made, for API servers whose clocks differ. */
const BACKDATED_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;
/** Writes of one look: those of a first start and a few conflicts. */
const MAX_WRITES = 16;

/**
 * Keeps CA, leaf and caBundles in the cluster, on every replica: reads what is stored, serves the leaf of the Secret once
 * every caBundle covers it, and makes the next write of the state machine. Without an API server it goes on serving.
 */
export class CertificateRotator {
  readonly #options: CertificateRotatorOptions;
  readonly #store: CertificateStore;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #memory: CertificateMemory;
  readonly #problems: CertificateProblems;
  #served: (ServedCertificates & { readonly pair: ServingPair }) | undefined;
  #events: RotatorEvents | undefined;
  #running: Promise<unknown> | undefined;
  #wake = (): void => undefined;
  #changed = false;
  #first = Promise.withResolvers<ServingPair>();

  constructor(options: CertificateRotatorOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#store = new CertificateStore(options.client, options.secret);
    this.#memory = new CertificateMemory(this.#clock);
    this.#problems = new CertificateProblems(options.log);
    // Nobody may be waiting for it when the rotator is stopped.
    this.#first.promise.catch(() => undefined);
  }

  /** Begins to read and write; returns at once. */
  run(): this {
    const { signal } = this.#stop;
    const changed = (): void => {
      this.#changed = true;
      this.#wake();
    };
    this.#running ??= Promise.all([this.#loop(), this.#store.watch(changed, this.#clock, signal)]);
    return this;
  }

  /** Names who serves; before that nobody is told of a pair. */
  announceTo(events: RotatorEvents): this {
    this.#events = events;
    return this;
  }

  /** @returns the first pair, once there is one that every caBundle covers */
  start(): Promise<ServingPair> {
    return this.#first.promise;
  }

  /** The pair in service. */
  get current(): ServingPair {
    if (this.#served === undefined) throw new Error('no certificate is served yet');
    return this.#served.pair;
  }

  /** Why API servers would not accept this replica's certificate; undefined when they do, as far as its dates say. */
  notReady(): string | undefined {
    if (this.#served === undefined)
      return `there is none to serve yet: ${this.#problems.text ?? 'it is being made'}`;
    const expired = this.#memory.clocks().now > this.#served.pair.notAfter.getTime();
    return expired
      ? `the serving certificate has expired${this.#problems.text === undefined ? '' : `: ${this.#problems.text}`}`
      : undefined;
  }

  /** Ends reading and writing. The last pair stays in service. */
  async stop(): Promise<void> {
    const reason = new Error('the certificates are kept no longer');
    this.#stop.abort(reason);
    this.#first.reject(reason);
    this.#wake();
    await this.#running;
    await this.#options.client.close();
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stop;
    let failures = 0;
    while (!signal.aborted) {
      this.#changed = false;
      let waitMs: number;
      try {
        waitMs = await this.#look(signal);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        this.#events?.onResult('rejected');
        this.#problems.report([reasonFor(error)], this.#served?.pair);
        waitMs = Math.min(RETRY_MS.longest, RETRY_MS.first * 2 ** failures);
        failures = Math.min(failures + 1, 10);
      }
      if (!this.#changed) await this.#sleep(waitMs);
    }
  }

  async #sleep(ms: number): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await sleep(this.#clock, ms, AbortSignal.any([woken.signal, this.#stop.signal])).catch(() => undefined);
  }

  /** Reads, serves and writes until nothing is to be done. @returns how long to wait (ms) */
  async #look(signal: AbortSignal): Promise<number> {
    const failed = new Map<string, string>();
    let swapped = false;
    for (let writes = 0; ; writes += 1) {
      const reading = await this.#store.read(this.#options.serverName, this.#served, signal);
      this.#memory.remember(reading);
      const situation = this.#memory.situation(reading, new Set(failed.keys()), this.#options.times);
      if (isToBeServed(situation) && this.#serve(reading)) {
        swapped = true;
        continue;
      }
      if (reading.served !== undefined)
        this.#options.covers(isCovered(reading.served.leaf, reading.stored, situation.clocks));
      const step = nextStep(situation);
      if (step === undefined || writes >= MAX_WRITES) {
        const problems = [...problemsOf(reading, this.#store.secretName), ...failed.values()];
        this.#problems.report(problems, this.#served?.pair);
        this.#events?.onResult(problems.length > 0 ? 'rejected' : swapped ? 'swapped' : 'unchanged');
        return nextCheckMs(
          situation,
          problems.length > 0 ? RETRY_MS.longest : (this.#options.pollMs ?? POLL_MS),
        );
      }
      try {
        await this.#write(step, reading, situation.clocks.now);
      } catch (error) {
        // Another replica was faster.
        if (isConflict(error)) continue;
        if (step.do !== 'trust') throw error;
        failed.set(step.configuration, reasonFor(error));
      }
    }
  }

  async #write(step: CertificateWrite, reading: Reading, now: number): Promise<void> {
    const { times, serverName, log } = this.#options;
    const validFor = (ms: number) => ({ now: new Date(now), days: ms / DAY_MS, backdatedMs: BACKDATED_MS });
    const { current, next } = reading.issued;
    if (step.do === 'trust') await this.#store.trust(reading, step.configuration, step.bundles);
    else if (step.do === 'make-ca') {
      const commonName = `${OWN_CA} ${new Date(now).toISOString().slice(0, 19)}Z`;
      const made = await issueAuthority({ commonName, ...validFor(times.ca.durationMs) });
      await this.#store.keep(reading, { [step.as]: made });
    } else {
      const authority = step.by === 'next' ? next : current;
      if (authority === undefined) return;
      const dnsNames = namesOf(serverName);
      const leaf = await issueServingCertificate({ authority, dnsNames, ...validFor(step.until - now) });
      await this.#store.keep(reading, {
        leaf,
        ...(step.by === 'next' ? { current: authority, next: undefined } : {}),
      });
    }
    const { do: what, why } = step;
    log.info({ what, why, secret: this.#store.secretName }, 'certificates in the cluster written');
  }

  /** @returns false where OpenSSL refuses it; it is reported, and the last one stays in service */
  #serve({ certificates, issued }: Reading): boolean {
    if (certificates === undefined || issued.leaf === undefined) return false;
    const { log, serverName } = this.#options;
    const { certificate, key } = issued.leaf;
    const files = {
      certificate: Buffer.from(certificate),
      key: Buffer.from(key),
      authority: pemOf(certificates.cas),
    };
    try {
      const now = new Date(this.#memory.clocks().now);
      const pair = checkPair(files, `the Secret ${this.#store.secretName}`, { now, serverName });
      this.#events?.onSwap(pair);
      this.#served = { ...certificates, pair };
      this.#first.resolve(pair);
      const { serial, notAfter, dnsNames } = pair;
      log.info({ serial, notAfter: notAfter.toISOString(), dnsNames }, 'serving a new TLS certificate');
      return true;
    } catch (error) {
      this.#problems.report([messageOf(error)], this.#served?.pair);
      return false;
    }
  }
}

/** `muster.muster-system.svc`, and the shorter names by which people call it. */
function namesOf(serverName: string): readonly string[] {
  const [, service, namespace] = /^([^.]+)\.([^.]+)\.svc$/.exec(serverName) ?? [];
  return service === undefined ? [serverName] : [serverName, `${service}.${namespace}`, service];
}

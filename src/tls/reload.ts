import { watch, type FSWatcher } from 'node:fs';
import { MusterError, messageOf } from '../errors.ts';
import { checkDates, checkPair, type ServingPair, type PairExpectations } from './check.ts';
import { readMountedFiles, type MountedFiles } from './mounted-directory.ts';

/** What one look at the directory led to. */
export type ReloadResult = 'unchanged' | 'swapped' | 'rejected';

/** As pino has it: fields first, then the sentence. */
export interface ReloadLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface CertificateReloaderOptions {
  readonly directory: string;
  /** What the API server calls: `<service>.<namespace>.svc`. */
  readonly serverName?: string;
  readonly now: () => Date;
  /**
   * Milliseconds between two looks at the directory, whether or not the watch reported anything. Default 10 s: watches
   * miss events on some file systems, and against the minute that a kubelet takes to mount a change, 10 s are little.
   */
  readonly pollIntervalMs?: number;
  /** Puts a new pair into service. If it throws, the old pair stays current. Not called for the first pair. */
  readonly onSwap: (pair: ServingPair) => void;
  /** Called once for each distinct fault, not at each look. Must not throw. */
  readonly onRejected?: (error: MusterError) => void;
  /** Called after every look, for `muster_tls_reload_total{result}`. Must not throw. */
  readonly onResult?: (result: ReloadResult) => void;
  readonly log: ReloadLog;
}

const DEFAULT_POLL_INTERVAL_MS = 10_000;
/** A kubelet's swap is a burst of five or six events within some milliseconds; one look after it is enough. */
const DEBOUNCE_MS = 50;
/** With less time left than this (ms) somebody has to renew the certificate by hand: whatever should have, has not. */
const SHORT_MS = 24 * 60 * 60 * 1000;

/**
 * Keeps the certificate of a server up to date with a mounted Secret. The last good pair stays in service whatever
 * happens to the directory; a look never fails, it is counted.
 */
export class CertificateReloader {
  /** How many looks ended how, since the start. */
  readonly counts: Record<ReloadResult, number> = { unchanged: 0, swapped: 0, rejected: 0 };

  readonly #options: CertificateReloaderOptions;
  #current: ServingPair | undefined;
  #running = false;
  #watcher: FSWatcher | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #debounceTimer: NodeJS.Timeout | undefined;
  /** The looks, one after the other. */
  #tail: Promise<unknown> = Promise.resolve();
  #reported: string | undefined;
  #warnedOf: ServingPair | undefined;

  constructor(options: CertificateReloaderOptions) {
    this.#options = options;
  }

  /**
   * Loads the first pair, then keeps watch.
   *
   * @throws MusterError as `loadServingPair`, when there is no good pair; nothing is left running then
   */
  async start(): Promise<ServingPair> {
    const { directory } = this.#options;
    const pair = await loadServingPair(directory, this.#expectations());
    this.#current = pair;
    this.#warnOfEnd(pair);
    this.#running = true;
    this.#openWatch();
    this.#lookSoon(); // for what changed between the reading and the watching
    this.#schedulePoll();
    return pair;
  }

  /** The pair in service. */
  get current(): ServingPair {
    if (this.#current === undefined) throw new Error('CertificateReloader was not started');
    return this.#current;
  }

  /** Whether clients refuse the pair in service because it is out of date: a reason not to be ready. */
  expired(now: Date = this.#options.now()): boolean {
    return this.#current === undefined || now > this.#current.notAfter;
  }

  /** Looks at the directory once more, after any look under way. */
  check(): Promise<ReloadResult> {
    const look = this.#tail.then(() => this.#look());
    this.#tail = look.catch(() => undefined);
    return look;
  }

  /** Resolves when no look is under way and none will come. The current pair remains. */
  async stop(): Promise<void> {
    this.#running = false;
    clearTimeout(this.#pollTimer);
    clearTimeout(this.#debounceTimer);
    this.#watcher?.close();
    this.#watcher = undefined;
    await this.#tail;
  }

  async #look(): Promise<ReloadResult> {
    const result = await this.#lookForResult();
    this.counts[result] += 1;
    this.#options.onResult?.(result);
    return result;
  }

  async #lookForResult(): Promise<ReloadResult> {
    const { directory, onSwap, log } = this.#options;
    const before = this.current;
    try {
      const files = await readMountedFiles(directory);
      if (!this.#running) return 'unchanged';
      if (holds(before, files)) {
        checkDates(before, directory, this.#options.now());
        this.#reported = undefined;
        this.#warnOfEnd(before);
        return 'unchanged';
      }
      const pair = checkPair(files, directory, this.#expectations());
      onSwap(pair);
      this.#current = pair;
      this.#reported = undefined;
      log.info(describe(pair), 'serving a new TLS certificate');
      this.#warnOfEnd(pair);
      return 'swapped';
    } catch (thrown) {
      this.#report(asMusterError(thrown, directory), before);
      return 'rejected';
    }
  }

  /** Once for each pair, when its last day begins. */
  #warnOfEnd(pair: ServingPair): void {
    const left = pair.notAfter.getTime() - this.#options.now().getTime();
    if (left >= SHORT_MS || pair === this.#warnedOf) return;
    this.#warnedOf = pair;
    const hoursLeft = Math.max(0, Math.floor(left / 3_600_000));
    const { log, directory } = this.#options;
    log.warn({ ...describe(pair), hoursLeft, directory }, 'the serving certificate ends soon: renew it');
  }

  #report(error: MusterError, kept: ServingPair): void {
    const fault = `${error.code} ${error.message}`;
    if (fault === this.#reported) return;
    this.#reported = fault;
    this.#options.log.warn(
      { code: error.code, reason: error.message, fix: error.fix, kept: describe(kept) },
      'TLS certificate not usable, the last good one stays in service',
    );
    this.#options.onRejected?.(error);
  }

  #expectations(): { now: Date; serverName?: string } {
    const { serverName, now } = this.#options;
    return serverName === undefined ? { now: now() } : { now: now(), serverName };
  }

  #schedulePoll(): void {
    const interval = this.#options.pollIntervalMs ?? DEFAULT_POLL_INTERVAL_MS;
    this.#pollTimer = setTimeout(() => {
      // A watch dies silently with the directory it was opened on; a new one each time cannot.
      this.#openWatch();
      void this.check().then(() => {
        if (this.#running) this.#schedulePoll();
      });
    }, interval).unref();
  }

  #lookSoon(): void {
    if (!this.#running) return;
    clearTimeout(this.#debounceTimer);
    this.#debounceTimer = setTimeout(() => void this.check(), DEBOUNCE_MS).unref();
  }

  /** Watches the directory, not the files: those are links that never change themselves. Polling covers a failure. */
  #openWatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    try {
      const watcher = watch(this.#options.directory, { persistent: false }, () => this.#lookSoon());
      watcher.on('error', () => watcher.close());
      this.#watcher = watcher;
    } catch {
      // no such directory for now, or no more inotify watches on this node
    }
  }
}

const holds = (pair: ServingPair, files: MountedFiles): boolean =>
  pair.certificate.equals(files.certificate) &&
  pair.key.equals(files.key) &&
  (files.authority === undefined
    ? pair.caCertificate === undefined
    : pair.caCertificate?.equals(files.authority) === true);

const describe = (pair: ServingPair) => ({
  serial: pair.serial,
  notAfter: pair.notAfter.toISOString(),
  dnsNames: pair.dnsNames,
});

const asMusterError = (thrown: unknown, directory: string): MusterError =>
  thrown instanceof MusterError
    ? thrown
    : new MusterError(
        'TLS_UNREADABLE',
        `the new certificate in ${directory} could not be put into service: ${messageOf(thrown)}`,
        'issue a new certificate; if this one serves elsewhere, report the message as a bug',
        { cause: thrown },
      );

export type { PairExpectations, ServingPair } from './check.ts';

/**
 * Reads `tls.crt`, `tls.key` and, if it is there, `ca.crt` from a directory as the kubelet mounts a Secret, and checks
 * that a client which calls `serverName` now will accept them.
 *
 * @throws MusterError `TLS_UNREADABLE`, `TLS_MISMATCH`, `TLS_EXPIRED`, `TLS_NOT_YET_VALID`, `TLS_WRONG_NAME` or
 *   `TLS_CHAIN`; the message says which file and what, `fix` what to do
 */
export const loadServingPair = async (
  directory: string,
  expectations: PairExpectations,
): Promise<ServingPair> => checkPair(await readMountedFiles(directory), directory, expectations);

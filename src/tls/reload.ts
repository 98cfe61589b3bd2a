import { watch, type FSWatcher } from 'node:fs';
import { MusterError, messageOf } from '../errors.ts';
import { checkDates, checkPair, type ServingPair, type PairExpectations } from './check.ts';
import { readMountedFiles, type MountedFiles } from './mounted-directory.ts';

/** The result of one check of the directory. */
export type ReloadResult = 'unchanged' | 'swapped' | 'rejected';

/** pino's interface: fields first, then the message. */
export interface ReloadLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface CertificateReloaderOptions {
  readonly directory: string;
  /** The name that the API server dials: `<service>.<namespace>.svc`. */
  readonly serverName?: string;
  readonly now: () => Date;
  /**
   * Milliseconds between two checks of the directory, whether or not the watch reported anything. Default 10 s: watches
   * miss events on some file systems, and a kubelet takes up to a minute to mount a change anyway.
   */
  readonly pollIntervalMs?: number;
  /** Puts a new pair into service. If it throws, the old pair stays in service. Not called for the first pair. */
  readonly onSwap: (pair: ServingPair) => void;
  /** Called once for each distinct fault, not at each check. Must not throw. */
  readonly onRejected?: (error: MusterError) => void;
  /** Called after every check, for `muster_tls_reload_total{result}`. Must not throw. */
  readonly onResult?: (result: ReloadResult) => void;
  readonly log: ReloadLog;
}

const DEFAULT_POLL_INTERVAL_MS = 10_000;
/** A kubelet's swap causes five or six events within some milliseconds; one check (ms) after the burst is enough. */
const DEBOUNCE_MS = 50;
/**
 * With less validity left than this (ms) the automatic renewal has failed, and the certificate has to be renewed by
 * hand.
 */
const SHORT_MS = 24 * 60 * 60 * 1000;

/**
 * Keeps a server's certificate up to date with a mounted Secret. The last valid pair stays in service whatever happens
 * to the directory; a failed check is counted and never throws.
 */
export class CertificateReloader {
  /** Number of checks by result, since the start. */
  readonly counts: Record<ReloadResult, number> = { unchanged: 0, swapped: 0, rejected: 0 };

  readonly #options: CertificateReloaderOptions;
  #current: ServingPair | undefined;
  #running = false;
  #watcher: FSWatcher | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #debounceTimer: NodeJS.Timeout | undefined;
  /** The last queued check: checks run one after the other. */
  #tail: Promise<unknown> = Promise.resolve();
  #reported: string | undefined;
  #warnedOf: ServingPair | undefined;

  constructor(options: CertificateReloaderOptions) {
    this.#options = options;
  }

  /**
   * Loads the first pair, then watches the directory.
   *
   * @throws MusterError as `loadServingPair`, when there is no valid pair; nothing is left running then
   */
  async start(): Promise<ServingPair> {
    const { directory } = this.#options;
    const pair = await loadServingPair(directory, this.#expectations());
    this.#current = pair;
    this.#warnOfEnd(pair);
    this.#running = true;
    this.#openWatch();
    this.#lookSoon(); // for changes between the first read and the start of the watch
    this.#schedulePoll();
    return pair;
  }

  /** The pair in service. */
  get current(): ServingPair {
    if (this.#current === undefined) throw new Error('CertificateReloader was not started');
    return this.#current;
  }

  /** Whether the pair in service has expired, so that clients refuse it: the replica is then not ready. */
  expired(now: Date = this.#options.now()): boolean {
    return this.#current === undefined || now > this.#current.notAfter;
  }

  /** Why clients refuse the pair in service; undefined when they do not. */
  notReady(): string | undefined {
    return this.expired() ? 'the serving certificate has expired' : undefined;
  }

  /** Checks the directory once more, after any check in progress. */
  check(): Promise<ReloadResult> {
    const look = this.#tail.then(() => this.#look());
    this.#tail = look.catch(() => undefined);
    return look;
  }

  /** Resolves when no check is in progress and none will follow. The current pair remains. */
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

  /** Warns once for each pair, when less than a day of its validity is left. */
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
      // A watch ends silently with the directory it was opened on, so a new one is opened each time.
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

  /** Watches the directory and not the files, which are links that never change themselves. Polling covers failures. */
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
 * Reads `tls.crt`, `tls.key` and, if it exists, `ca.crt` from a directory that the kubelet mounts for a Secret, and
 * checks that a client that calls `serverName` now will accept them.
 *
 * @throws MusterError `TLS_UNREADABLE`, `TLS_MISMATCH`, `TLS_EXPIRED`, `TLS_NOT_YET_VALID`, `TLS_WRONG_NAME` or
 * `TLS_CHAIN`; the message names the file and the fault, `fix` the remedy
 */
export const loadServingPair = async (
  directory: string,
  expectations: PairExpectations,
): Promise<ServingPair> => checkPair(await readMountedFiles(directory), directory, expectations);

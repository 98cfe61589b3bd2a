import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { dirname, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json } from '../json/json.ts';
import { messageOf } from '../errors.ts';
import { decodeMessage } from './decode.ts';
import {
  Lines,
  MAX_LINE,
  type FromModule,
  type ModuleOperation,
  type Thrown,
  type ToModule,
} from './wire.ts';
import { ProcessWatch, OutputMeter, type ModuleLimits } from './process-limits.ts';

/** Bytes that the module has not read yet; beyond this further calls are refused. */
const MOST_UNREAD = 8 * 1024 * 1024;
/** Callbacks that one call may have open at a time. */
const MOST_CALLBACKS = 64;
/** Calls given up without an answer before the process is ended: each may still hold its arguments. */
const MOST_GIVEN_UP = 256;

/** A call without an outcome: the module's process ended, or did not answer in time. */
export class NotAnswered extends Error {
  override readonly name = 'NotAnswered';
}

/** An error that the module's own code threw. */
export class ModuleThrew extends Error {
  override readonly name = 'ModuleThrew';
  readonly field: string | undefined;

  constructor({ message, field }: Thrown) {
    super(message);
    this.field = field;
  }
}

/** Callbacks that a module may request during a call. @throws Error whose message is sent to the module */
export type Callbacks = (method: string, given: readonly Json[]) => Promise<unknown>;

export interface ModuleCallOptions {
  readonly withinMs?: number;
  /** Aborting gives the call up; the module is informed. */
  readonly signal?: AbortSignal;
  readonly callbacks?: Callbacks;
}

export interface ModuleProcessListener {
  /** Called once, when the process has ended or was killed. */
  ended(reason: string): void;
  /** Called with each line that the module wrote to its standard output or error. */
  wrote(line: string): void;
}

interface Pending {
  readonly settle: (outcome: { readonly value: Json } | { readonly error: Error }) => void;
  readonly callbacks: Callbacks | undefined;
  readonly failures: Map<number, unknown>;
  open: number;
}

/**
 * A module in a process of its own, so that its heap, its loops and its `process.exit()` do not affect Muster. The process
 * has no environment, may read no file but its own package, and may open no connection, start no process and no thread.
 */
export class ModuleProcess {
  /** Resolves once the process has ended and all that it wrote was passed on. */
  readonly closed: Promise<void>;
  readonly #child: ChildProcess;
  readonly #wire: Socket;
  readonly #listener: ModuleProcessListener;
  readonly #limits: ModuleLimits;
  readonly #pending = new Map<number, Pending>();
  readonly #givenUp = new Set<number>();
  readonly #watch: ProcessWatch;
  #last = 0;
  #over: string | undefined;
  #stderr = '';
  readonly #killed = (): void => void this.#child.kill('SIGKILL');

  /** @param readable folders that the module may read */
  constructor(readable: readonly string[], listener: ModuleProcessListener, limits: ModuleLimits) {
    this.#listener = listener;
    this.#limits = limits;
    const extension = extname(import.meta.url);
    const program = fileURLToPath(new URL(`./host${extension}`, import.meta.url));
    const folders = [dirname(dirname(program)), ...readable];
    const flags = [
      '--permission',
      // For the thread of host.ts that ends the process with Muster; the permission is dropped before the module is loaded.
      '--allow-worker',
      ...folders.map((folder) => `--allow-fs-read=${folder}/*`),
      `--max-old-space-size=${limits.heapMib}`,
      '--max-semi-space-size=4',
      // Node then sizes V8's thread pool by the available processors, which the process shares with Muster.
      '--v8-pool-size=0',
      '--disable-sigusr1',
      '--disable-warning=SecurityWarning',
    ];
    // `detached`: the signals that a terminal sends to Muster do not reach the process. It exits when its socket closes.
    this.#child = spawn(process.execPath, [...flags, program, String(process.pid)], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    this.closed = new Promise((resolve) => this.#child.once('close', () => resolve()));
    this.#wire = this.#child.stdio[3] as Socket;
    this.#watch = new ProcessWatch(this.#child.pid, limits, {
      busy: () => this.#pending.size > 0 || this.#givenUp.size > 0,
      ping: () => void this.call('ping', null).catch(() => undefined),
      end: (reason) => this.end(reason),
    });
    // A module in an endless loop does not notice that its socket has closed, so it is killed.
    process.once('exit', this.#killed);
    this.#listen();
  }

  #listen(): void {
    const lines = new Lines(
      MAX_LINE,
      (line) => this.#receive(line),
      () => this.end(`it sent a message of more than ${MAX_LINE} characters`),
    );
    this.#wire.setEncoding('utf8').on('data', (text: string) => lines.push(text));
    this.#wire.on('error', () => undefined);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream === null) continue;
      new OutputMeter(stream, (line) => {
        if (stream === this.#child.stderr) this.#stderr = `${this.#stderr}\n${line}`.slice(-2_000);
        this.#listener.wrote(line);
      });
      (stream as Socket).unref();
    }
    this.#wire.unref();
    this.#child.unref();
    this.#child.on('error', (error) => this.end(`it cannot be started: ${messageOf(error)}`));
    this.#child.on('close', (code, signal) => this.end(this.#endOf(code, signal)));
  }

  #endOf(code: number | null, signal: string | null): string {
    if (this.#stderr.includes('heap out of memory'))
      return `it took more than its ${this.#limits.heapMib} MiB of heap`;
    return code === null
      ? `it was ended by ${signal ?? 'a signal'}`
      : `it ended itself, with exit code ${code}`;
  }

  /** Calls an operation. @throws ModuleThrew, NotAnswered, the error of a callback, the reason of the signal */
  call(
    operation: ModuleOperation,
    given: unknown,
    { withinMs, signal, callbacks }: ModuleCallOptions = {},
  ): Promise<Json> {
    if (this.#over !== undefined) return Promise.reject(new NotAnswered(this.#over));
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    if (this.#wire.writableLength > MOST_UNREAD) {
      return Promise.reject(new NotAnswered('it does not keep up with what it is asked'));
    }
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve, reject) => {
      const giveUp = (error: Error): void => {
        if (!this.#pending.has(id)) return;
        settle({ error });
        this.#givenUp.add(id);
        this.#send({ what: 'over', id, reason: error.message });
        if (this.#givenUp.size > MOST_GIVEN_UP)
          this.end(`it has left ${MOST_GIVEN_UP} calls without an answer`);
      };
      const late = (): void =>
        giveUp(new NotAnswered(`it did not answer within ${(withinMs ?? 0) / 1000} s`));
      const timer = withinMs === undefined ? undefined : setTimeout(late, withinMs);
      const onAbort = (): void => giveUp(signal?.reason as Error);
      const settle: Pending['settle'] = (outcome) => {
        this.#pending.delete(id);
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        if ('error' in outcome) reject(outcome.error);
        else resolve(outcome.value);
      };
      signal?.addEventListener('abort', onAbort);
      this.#pending.set(id, { settle, callbacks, failures: new Map(), open: 0 });
      this.#send({ what: 'call', id, operation, given });
    });
  }

  /** Kills the process, if it still runs, and fails all open calls with this reason. */
  end(reason: string): void {
    if (this.#over !== undefined) return;
    this.#over = reason;
    this.#watch.stop();
    process.off('exit', this.#killed);
    this.#killed();
    this.#wire.destroy();
    for (const { settle } of [...this.#pending.values()]) settle({ error: new NotAnswered(reason) });
    this.#listener.ended(reason);
  }

  #send(message: ToModule): void {
    if (this.#over === undefined) this.#wire.write(`${JSON.stringify(message)}\n`);
  }

  #receive(line: string): void {
    if (this.#over !== undefined) return;
    this.#watch.received();
    const message = decodeMessage(line);
    if (message === undefined) this.end('it sent what is no message');
    else if (message.what === 'last') this.end(message.reason);
    else this.#take(message);
  }

  #take(message: Exclude<FromModule, { what: 'last' }>): void {
    const pending = this.#pending.get(message.id);
    if (pending === undefined) {
      const late = this.#givenUp.has(message.id);
      if (message.what !== 'ask') this.#givenUp.delete(message.id);
      if (!late) this.end('it sent what nobody had asked for');
    } else if (message.what === 'value') pending.settle(message);
    else if (message.what === 'thrown') {
      const { thrown } = message;
      // An error of a callback keeps its class: a write conflict, for one, is retried without a log line.
      const own = thrown.callback === undefined ? undefined : pending.failures.get(thrown.callback);
      pending.settle({ error: own instanceof Error ? own : new ModuleThrew(thrown) });
    } else void this.#callback(message, pending);
  }

  async #callback(
    { id, number, method, given }: Extract<FromModule, { what: 'ask' }>,
    pending: Pending,
  ): Promise<void> {
    pending.open += 1;
    if (pending.open > MOST_CALLBACKS) {
      this.end(`it asked for more than ${MOST_CALLBACKS} things at a time`);
      return;
    }
    try {
      if (pending.callbacks === undefined) throw new Error(`${method} is not for here`);
      this.#send({ what: 'callback', id, number, value: await pending.callbacks(method, given) });
    } catch (thrown) {
      pending.failures.set(number, thrown);
      this.#send({ what: 'callback', id, number, failed: messageOf(thrown) });
    } finally {
      pending.open -= 1;
    }
  }
}

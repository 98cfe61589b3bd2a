import type { Json, JsonObject } from '../json/json.ts';
import type { HostedListener } from '../backends/hosted.ts';
import { messageOf, MusterError } from '../errors.ts';
import type { ModuleLimits } from './process-limits.ts';
import type { ModuleOperation } from './wire.ts';
import { checkName, type ModuleKind } from './import-module.ts';
import { readModule, type ModuleSource } from './module-file.ts';
import { ModuleProcess } from './module-process.ts';
import { deprecation, outOfRange, type ContractRange } from '../api/contract-range.ts';

/** Receives events of the modules' processes. */
export interface ModuleObserver {
  ended(backend: string, reason: string, againInMs: number): void;
  wrote(backend: string, line: string): void;
  /** The module works, but a person has to act, such as on a deprecated contract version. */
  noticed?(backend: string, notice: string): void;
}

/** A module to keep running, and how it is loaded. */
export interface SupervisedModule<Facts> {
  readonly what: ModuleKind;
  readonly name: string;
  readonly source: ModuleSource;
  /** The operation that loads the module, and its arguments beside the module's file. */
  readonly operation: ModuleOperation;
  readonly given: object;
  /** Decodes the facts that the module states. @throws Error that names the wrong part */
  readonly factsOf: (said: Json) => Facts;
  /** A notice for people about these facts; undefined: there is none. */
  readonly noticeOf?: (facts: Facts) => string | undefined;
}

/** Runs one module's process; one that ended may start again after a back-off that doubles each time. */
export class ModuleSupervisor<Facts> {
  readonly name: string;
  readonly #kept: SupervisedModule<Facts>;
  readonly #observer: ModuleObserver;
  readonly #limits: ModuleLimits;
  readonly #backOff = new BackOff(() => performance.now());
  readonly #listeners: HostedListener[] = [];
  #process: ModuleProcess | undefined;
  #loading: ModuleProcess | undefined;
  #beginning: Promise<ModuleProcess> | undefined;
  #initialized = false;
  #reason = 'it has not been started yet';
  #facts: Facts | undefined;
  #stopped = false;

  constructor(kept: SupervisedModule<Facts>, observer: ModuleObserver, limits: ModuleLimits) {
    this.name = kept.name;
    this.#kept = kept;
    this.#observer = observer;
    this.#limits = limits;
  }

  /** Name for messages, such as `backend line-scheduler`. */
  get title(): string {
    return `${this.#kept.what} ${this.name}`;
  }

  /** Facts that the module stated when it was last loaded. */
  get facts(): Facts | undefined {
    return this.#facts;
  }

  tell(listener: HostedListener): void {
    this.#listeners.push(listener);
  }

  said(gang: string): void {
    for (const listener of this.#listeners) listener.said(gang);
  }

  /** The process, once it runs and `init` is done; else the reason why it cannot be called. */
  get current(): ModuleProcess | string {
    if (this.#process === undefined) return `${this.title} does not run: ${this.#reason}`;
    return this.#initialized ? this.#process : `${this.title} has not looked at the cluster yet`;
  }

  /** The running process. @throws Error with the reason where the module does not run */
  get running(): ModuleProcess {
    const { current } = this;
    if (typeof current === 'string') throw new Error(current);
    return current;
  }

  /**
   * The process, which is started where there is none.
   * @throws Error during the back-off, with the reason why the last process ended; where the module does not load
   */
  async begun(): Promise<ModuleProcess> {
    if (this.#process !== undefined) return this.#process;
    if (this.#stopped || this.#backOff.leftMs > 0) throw new Error(this.#reason);
    // Concurrent callers share one start.
    this.#beginning ??= this.#begin().finally(() => (this.#beginning = undefined));
    return this.#beginning;
  }

  /** As {@link begun}, for modules without `init`, which may be called at once. */
  async ready(): Promise<ModuleProcess> {
    const process = await this.begun();
    this.initialized();
    return process;
  }

  async #begin(): Promise<ModuleProcess> {
    const { source, operation, given, factsOf } = this.#kept;
    const file = await readModule(source);
    const process: ModuleProcess = new ModuleProcess(
      file.pinned ? [] : [file.root],
      {
        ended: (reason) => this.#ended(process, reason),
        wrote: (line) => this.#observer.wrote(this.name, line),
      },
      this.#limits,
    );
    this.#loading = process;
    this.#backOff.began();
    try {
      const { field } = source;
      const said = process.call(operation, { file, field, ...given }, { withinMs: this.#limits.loadMs });
      this.#facts = factsOf(await said);
      const notice = this.#kept.noticeOf?.(this.#facts);
      if (notice !== undefined) this.#observer.noticed?.(this.name, notice);
      this.#process = process;
      this.#initialized = false;
      return process;
    } catch (thrown) {
      process.end(messageOf(thrown));
      throw new Error(this.#reason, { cause: thrown });
    }
  }

  /** Milliseconds until the next start is allowed; 0: now. */
  get backOffMs(): number {
    return this.#backOff.leftMs;
  }

  /** Marks `init` as done, successful or not: the module may be called. */
  initialized(): void {
    this.#initialized = true;
  }

  #ended(process: ModuleProcess, reason: string): void {
    if (this.#process !== process && this.#loading !== process) return;
    this.#process = undefined;
    this.#loading = undefined;
    this.#initialized = false;
    if (this.#stopped) return;
    const wait = this.#backOff.ended();
    this.#reason = reason;
    this.#observer.ended(this.name, reason, wait);
    for (const listener of this.#listeners) listener.ended();
  }

  /** Stops the module for good. @returns once its last output was passed on, or after {@link LAST_OUTPUT_MS} */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#reason = 'Muster is ending';
    const processes = [this.#process, this.#loading].filter((process) => process !== undefined);
    for (const process of processes) process.end(this.#reason);
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, LAST_OUTPUT_MS);
    await Promise.race([late.promise, Promise.all(processes.map(({ closed }) => closed))]);
    clearTimeout(timer);
  }
}

/** How long (ms) the output of a module is waited for that wrote more than is read in a second. */
const LAST_OUTPUT_MS = 1_000;

const FIRST_MS = 1_000;
const MOST_MS = 60_000;
/** After a run of this length (ms) the back-off starts anew. */
const SOUND_MS = 60_000;

/** The time until a process that ended may start again: doubled each time, unless the process ran for {@link SOUND_MS}. */
export class BackOff {
  readonly #now: () => number;
  #began = 0;
  #wait = 0;
  #until = 0;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  began(): void {
    this.#began = this.#now();
  }

  /** Counts an end of the process. @returns milliseconds until the next start is allowed */
  ended(): number {
    const sound = this.#now() - this.#began >= SOUND_MS;
    this.#wait = sound || this.#wait === 0 ? FIRST_MS : Math.min(this.#wait * 2, MOST_MS);
    this.#until = this.#now() + this.#wait;
    return this.#wait;
  }

  /** Milliseconds until the next start is allowed; 0: now. */
  get leftMs(): number {
    return Math.max(0, this.#until - this.#now());
  }
}

/** An entry of a list of modules in the configuration. */
export interface ModuleEntry {
  readonly name: string;
  readonly source: ModuleSource;
  readonly config: JsonObject;
}

/** Facts that every module states. */
interface Named {
  readonly name: string;
  readonly contractVersion: number;
}

/** The module of an entry; loading checks its name against the entry's, and that its contract version is supported. */
export const supervisedEntry = <Facts extends Named>(
  what: ModuleKind,
  { name, source, config }: ModuleEntry,
  by: {
    readonly operation: ModuleOperation;
    readonly range: ContractRange;
    readonly factsOf: (said: Json) => Facts;
  },
): SupervisedModule<Facts> => ({
  what,
  name,
  source,
  operation: by.operation,
  given: { config },
  factsOf: (said) => {
    const facts = by.factsOf(said);
    checkName(what, facts.name, name, source);
    const wrong = outOfRange(`${what} ${name}`, facts.contractVersion, by.range);
    if (wrong === undefined) return facts;
    const fix = `use the release of the ${what} that goes with this Muster`;
    throw new MusterError('BACKEND_CONTRACT', wrong, fix);
  },
  noticeOf: (facts) => deprecation(what, facts, by.range),
});

import type { Json } from '../json/json.ts';
import type { HostedListener } from '../backends/hosted.ts';
import { messageOf } from '../errors.ts';
import { BackOff } from './back-off.ts';
import type { ModuleLimits } from './limits.ts';
import type { Operation } from './messages.ts';
import type { ModuleKind } from './import-module.ts';
import { readModule, type ModuleSource } from './module-file.ts';
import { ModuleProcess } from './module-process.ts';

/** Who hears what becomes of modules. */
export interface ModuleObserver {
  ended(backend: string, reason: string, againInMs: number): void;
  wrote(backend: string, line: string): void;
  /** It works, and there is something to be done about it. */
  noticed?(backend: string, notice: string): void;
}

/** What is kept running, and what it is asked when it begins. */
export interface Kept<Facts> {
  readonly what: ModuleKind;
  readonly name: string;
  readonly source: ModuleSource;
  /** By which it is loaded, and what it is given beside its file. */
  readonly operation: Operation;
  readonly given: object;
  /** What it said of itself. @throws Error that says what of it cannot be */
  readonly factsOf: (said: Json) => Facts;
  /** What people are to know of what it said; undefined: nothing. */
  readonly noticeOf?: (facts: Facts) => string | undefined;
}

/** Keeps one module running: where it ended it may begin again after a while, and longer each time. */
export class ModuleKeeper<Facts> {
  readonly name: string;
  readonly #kept: Kept<Facts>;
  readonly #observer: ModuleObserver;
  readonly #limits: ModuleLimits;
  readonly #backOff = new BackOff(() => performance.now());
  readonly #listeners: HostedListener[] = [];
  #process: ModuleProcess | undefined;
  #loading: ModuleProcess | undefined;
  #beginning: Promise<ModuleProcess> | undefined;
  #looked = false;
  #reason = 'it has not been started yet';
  #facts: Facts | undefined;
  #stopped = false;

  constructor(kept: Kept<Facts>, observer: ModuleObserver, limits: ModuleLimits) {
    this.name = kept.name;
    this.#kept = kept;
    this.#observer = observer;
    this.#limits = limits;
  }

  /** For people: `backend line-scheduler`. */
  get title(): string {
    return `${this.#kept.what} ${this.name}`;
  }

  /** What it said of itself when it was last loaded. */
  get facts(): Facts | undefined {
    return this.#facts;
  }

  tell(listener: HostedListener): void {
    this.#listeners.push(listener);
  }

  said(gang: string): void {
    for (const listener of this.#listeners) listener.said(gang);
  }

  /** The process, where it runs and has looked at the cluster; else why it cannot be asked. */
  get current(): ModuleProcess | string {
    if (this.#process === undefined) return `${this.title} does not run: ${this.#reason}`;
    return this.#looked ? this.#process : `${this.title} has not looked at the cluster yet`;
  }

  /** @throws Error with the reason where it does not run */
  get running(): ModuleProcess {
    const { current } = this;
    if (typeof current === 'string') throw new Error(current);
    return current;
  }

  /**
   * The process, which is started where there is none.
   * @throws Error with the reason why it ended where it has to rest; why it does not load
   */
  async begun(): Promise<ModuleProcess> {
    if (this.#process !== undefined) return this.#process;
    if (this.#stopped || this.#backOff.leftMs > 0) throw new Error(this.#reason);
    // Two that ask at a time get the same one.
    this.#beginning ??= this.#begin().finally(() => (this.#beginning = undefined));
    return this.#beginning;
  }

  /** The same of a module that looks at no cluster: it may be asked at once. */
  async ready(): Promise<ModuleProcess> {
    const process = await this.begun();
    this.looked();
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
      this.#looked = false;
      return process;
    } catch (thrown) {
      process.end(messageOf(thrown));
      throw new Error(this.#reason, { cause: thrown });
    }
  }

  /** Milliseconds until it may begin again; 0: now. */
  get restsMs(): number {
    return this.#backOff.leftMs;
  }

  /** Whatever came of it, it has looked at the cluster, and may be asked. */
  looked(): void {
    this.#looked = true;
  }

  #ended(process: ModuleProcess, reason: string): void {
    if (this.#process !== process && this.#loading !== process) return;
    this.#process = undefined;
    this.#loading = undefined;
    this.#looked = false;
    if (this.#stopped) return;
    const wait = this.#backOff.ended();
    this.#reason = reason;
    this.#observer.ended(this.name, reason, wait);
    for (const listener of this.#listeners) listener.ended();
  }

  stop(): void {
    this.#stopped = true;
    this.#reason = 'Muster is ending';
    this.#process?.end(this.#reason);
    this.#loading?.end(this.#reason);
  }
}

import { CONTRACT_RANGE, type BackendSettings } from '../backends/backend.ts';
import { checkContract } from '../backends/contract.ts';
import type { HostedListener } from '../backends/hosted.ts';
import { messageOf } from '../errors.ts';
import { BackOff } from './back-off.ts';
import { factsOf, type ModuleFacts } from './heard.ts';
import { checkName } from './import-module.ts';
import type { LoadGiven } from './messages.ts';
import type { ModuleLimits } from './limits.ts';
import { readModule, type ModuleSource } from './module-file.ts';
import { ModuleProcess } from './module-process.ts';

/** Who hears what becomes of modules. */
export interface ModuleObserver {
  ended(backend: string, reason: string, againInMs: number): void;
  wrote(backend: string, line: string): void;
}

/** One profile of the configuration that brings its backend along. */
export interface ModuleProfile {
  readonly name: string;
  readonly source: ModuleSource;
  readonly settings: BackendSettings;
}

/** Keeps one module running: where it ended it may begin again after a while, and longer each time. */
export class ModuleKeeper {
  readonly name: string;
  readonly #source: ModuleSource;
  readonly #settings: BackendSettings;
  readonly #observer: ModuleObserver;
  readonly #limits: ModuleLimits;
  readonly #backOff = new BackOff(() => performance.now());
  readonly #listeners: HostedListener[] = [];
  #process: ModuleProcess | undefined;
  #loading: ModuleProcess | undefined;
  #beginning: Promise<ModuleProcess> | undefined;
  #looked = false;
  #reason = 'it has not been started yet';
  #facts: ModuleFacts | undefined;
  #stopped = false;

  constructor({ name, source, settings }: ModuleProfile, observer: ModuleObserver, limits: ModuleLimits) {
    this.name = name;
    this.#source = source;
    this.#settings = settings;
    this.#observer = observer;
    this.#limits = limits;
  }

  /** What it said of itself when it was last loaded. */
  get facts(): ModuleFacts | undefined {
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
    if (this.#process === undefined) return `backend ${this.name} does not run: ${this.#reason}`;
    return this.#looked ? this.#process : `backend ${this.name} has not looked at the cluster yet`;
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

  async #begin(): Promise<ModuleProcess> {
    const { module, field } = this.#source;
    const file = await readModule(this.#source);
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
      const given: LoadGiven = { file, field, settings: this.#settings };
      const facts = factsOf(await process.call('load', given, { withinMs: this.#limits.loadMs }));
      checkName(facts.name, this.name, { module, field });
      checkContract(this.name, facts, CONTRACT_RANGE);
      this.#facts = facts;
      this.#process = process;
      this.#looked = false;
      return process;
    } catch (thrown) {
      process.end(messageOf(thrown));
      throw new Error(this.#reason, { cause: thrown });
    }
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

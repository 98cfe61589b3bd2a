import type { Resource } from '../client/resources.ts';

/** The part of a reflector that its lifetime needs. */
export interface ManagedWatch {
  readonly resource: Resource;
  readonly hasSynced: boolean;
  readonly store: { readonly size: number };
  whenSynced(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

/** Several watches handled as one; each is started and stopped once, however often it is listed. */
export class Watches implements Iterable<ManagedWatch> {
  readonly #all: ReadonlySet<ManagedWatch>;

  constructor(all: Iterable<ManagedWatch>) {
    this.#all = new Set(all);
  }

  [Symbol.iterator](): Iterator<ManagedWatch> {
    return this.#all.values();
  }

  /** Whether every watch was listed once. */
  get hasSynced(): boolean {
    return this.missing.length === 0;
  }

  /** Plural names of the kinds that were not listed yet. */
  get missing(): readonly string[] {
    return [...this.#all].filter(({ hasSynced }) => !hasSynced).map(({ resource }) => resource.plural);
  }

  /** @throws when a watch is stopped before its first list */
  async whenSynced(): Promise<void> {
    await Promise.all([...this.#all].map((watch) => watch.whenSynced()));
  }

  start(): void {
    for (const watch of this.#all) watch.start();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#all].map((watch) => watch.stop()));
  }
}

import type { Resource } from '../client/resources.ts';

/** As much of a reflector as its lifetime needs. */
export interface ManagedWatch {
  readonly resource: Resource;
  readonly hasSynced: boolean;
  readonly store: { readonly size: number };
  whenSynced(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

/** Several watches as one; each is begun and ended once, however often it is named. */
export class Watches implements Iterable<ManagedWatch> {
  readonly #all: ReadonlySet<ManagedWatch>;

  constructor(all: Iterable<ManagedWatch>) {
    this.#all = new Set(all);
  }

  [Symbol.iterator](): Iterator<ManagedWatch> {
    return this.#all.values();
  }

  /** Whether each was listed once. */
  get hasSynced(): boolean {
    return this.missing.length === 0;
  }

  /** Names of the kinds that were not listed yet. */
  get missing(): readonly string[] {
    return [...this.#all].filter(({ hasSynced }) => !hasSynced).map(({ resource }) => resource.plural);
  }

  /** @throws when one is stopped before */
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

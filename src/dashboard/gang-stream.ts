import type { ServerResponse } from 'node:http';
import { splitKey } from '../kube/loop/cache.ts';
import type { StaleSince } from './wire.ts';

/** Gangs in one message, and in the first: a screen has no more, and need not wait for the others. */
const MOST = 500;
const MOST_FIRST = 50;
/** Milliseconds between two comments, by which a browser and a server notice that the other is gone. */
const COMMENT_MS = 15_000;

/** Whoever reads a list or a stream. */
export interface Onlooker {
  /** Whether gangs of a namespace are shown. */
  sees(namespace: string): boolean;
  /** Which rights the gangs of other namespaces take; undefined where all are shown. */
  readonly narrowed?: string | undefined;
}

/** Whoever has the rights that the gangs were read with. */
export const ALL_GANGS: Onlooker = { sees: () => true };

export const narrowedField = (narrowed: string | undefined): string =>
  narrowed === undefined ? '' : `,"narrowed":${JSON.stringify(narrowed)}`;

/** Where a stream finds what it writes. */
interface RowSource extends Onlooker {
  /** JSON of a gang's row; undefined once the gang is gone. */
  row(key: string): string | undefined;
  stale(): StaleSince | null;
}

/**
 * Server-sent events of one browser. What it has not read yet are the keys of gangs, once each, and not messages: a browser
 * that sleeps costs no more than the gangs that there are.
 */
export class GangStream {
  readonly #response: ServerResponse;
  readonly #source: RowSource;
  readonly #pending = new Set<string>();
  readonly #comments: NodeJS.Timeout;
  /** Whether a message is owed even if no gang has changed. */
  #owed = true;
  #full = false;
  #most = MOST_FIRST;

  constructor(response: ServerResponse, source: RowSource) {
    this.#response = response;
    this.#source = source;
    this.#comments = setInterval(() => {
      if (!this.#full) this.#write(':\n\n');
    }, COMMENT_MS).unref();
    response.on('drain', () => {
      this.#full = false;
      this.#pump();
    });
  }

  send(keys: Iterable<string>): void {
    this.#owed = true;
    for (const key of keys) if (this.#source.sees(splitKey(key).namespace)) this.#pending.add(key);
    this.#pump();
  }

  end(): void {
    clearInterval(this.#comments);
    this.#response.end();
  }

  #pump(): void {
    while (!this.#full && (this.#owed || this.#pending.size > 0)) {
      this.#owed = false;
      this.#write(`data: ${this.#message()}\n\n`);
    }
  }

  #message(): string {
    const changed: string[] = [];
    const deleted: string[] = [];
    for (const key of this.#pending) {
      if (changed.length + deleted.length === this.#most) break;
      this.#pending.delete(key);
      const row = this.#source.row(key);
      if (row === undefined) deleted.push(JSON.stringify(splitKey(key)));
      else changed.push(row);
    }
    this.#most = MOST;
    const stale = JSON.stringify(this.#source.stale());
    return `{"changed":[${changed.join(',')}],"deleted":[${deleted.join(',')}],"left":${this.#pending.size},"stale":${stale}${narrowedField(this.#source.narrowed)}}`;
  }

  #write(text: string): void {
    if (!this.#response.writableEnded) this.#full = !this.#response.write(text);
  }
}

import type { Random } from '../support/random.ts';

/** What is tried, and by what it is judged. */
export interface Target {
  readonly name: string;
  /** Of a thousand inputs of all targets together, how many are for this one. */
  readonly share: number;
  /**
   * What has to come of some input where `of` of them are tried, by the words of {@link Trial.attempt}. Where all inputs
   * end at the first check, nothing behind it was tried.
   */
  readonly reaches: { readonly of: number; readonly words: readonly string[] };
  open(): Promise<Trial>;
}

/** A target that is ready. */
export interface Trial {
  /** How many inputs are tried at a time. */
  readonly width: number;
  /** One input, from nothing but the random source. It is what a replay file holds. */
  make(random: Random): Buffer;
  /**
   * Gives one input to the program.
   * @returns what came of it, in words that can be counted
   * @throws what was found
   */
  attempt(input: Buffer): Promise<readonly string[]>;
  /** What can only be said at the end, such as memory. @throws what was found */
  end?(): Promise<void>;
  close(): Promise<void>;
}

/** A statement about the program that has to hold for every input. */
export function must(holds: boolean, what: string | (() => string)): asserts holds {
  if (!holds) throw new Error(typeof what === 'string' ? what : what());
}

/** Text that may go to a terminal: no control characters but line ends, nothing that turns text around. */
const UNCLEAN =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
export function mustBeClean(text: string, what: string): void {
  const found = UNCLEAN.exec(text);
  must(found === null, () => {
    const at = found?.index ?? 0;
    return `${what} has the character ${text.charCodeAt(at).toString(16)}: ${JSON.stringify(text.slice(Math.max(0, at - 60), at + 20))}`;
  });
}

/** Nothing that was sent may have reached the prototypes of this process. */
const PROTOTYPE = Object.getOwnPropertyNames(Object.prototype).join();
export const mustBeUnpolluted = (): void =>
  must(Object.getOwnPropertyNames(Object.prototype).join() === PROTOTYPE, 'Object.prototype was changed');

/** By so much processor time (ms) one input may be dealt with: far more than any needs, far less than a bomb takes. */
const MOST_MS = 3_000;

/** What `run` gives, where it came soon enough. For what waits for nobody: only its own work is measured. */
export async function inTime<T>(run: () => T | Promise<T>): Promise<T> {
  const before = process.cpuUsage();
  const result = await run();
  const { user, system } = process.cpuUsage(before);
  const ms = (user + system) / 1000;
  must(ms < MOST_MS, `it took ${Math.round(ms)} ms of the processor`);
  return result;
}

/** The message of what was thrown, without what differs from input to input: for the count. */
export const shapeOf = (message: string): string =>
  message
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '"…"')
    .replaceAll(/[0-9]+/g, '0')
    .slice(0, 60);

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Random } from '../support/random.ts';
import type { Target, Trial } from './target.ts';

/** One input that showed something. */
export interface Finding {
  readonly index: number;
  readonly what: string;
  /** Where the input was written. */
  readonly file: string;
}

export interface Outcome {
  readonly target: string;
  readonly tried: number;
  readonly ms: number;
  /** How often each word of the trial was said. */
  readonly met: ReadonlyMap<string, number>;
  readonly findings: readonly Finding[];
}

/** The random source of one input: by its seed, its target and its number, whatever was tried before it. */
export function randomOf(seed: number, target: string, index: number): Random {
  let mixed = seed >>> 0;
  for (const char of `${target}/${index}`) mixed = Math.imul(mixed ^ char.charCodeAt(0), 0x01000193) >>> 0;
  return new Random(mixed);
}

export interface Extent {
  readonly count: number;
  readonly seed: number;
  /** Where inputs that showed something are kept. */
  readonly folder: string;
  /** After so many the target is given up: the rest would be the same. */
  readonly enough?: number;
}

/** Tries `count` inputs of one target. */
export async function fuzz(target: Target, { count, seed, folder, enough = 10 }: Extent): Promise<Outcome> {
  const startedAt = performance.now();
  const met = new Map<string, number>();
  const findings: Finding[] = [];
  const trial = await target.open();
  let next = 0;
  let tried = 0;
  const found = async (index: number, thrown: unknown, input: Buffer): Promise<void> => {
    await mkdir(folder, { recursive: true });
    const file = join(folder, `${target.name}-${seed}-${index}`);
    await writeFile(file, input);
    findings.push({ index, what: whatOf(thrown), file });
  };
  const worker = async (): Promise<void> => {
    while (next < count && findings.length < enough) {
      const index = next;
      next += 1;
      const input = trial.make(randomOf(seed, target.name, index));
      try {
        for (const word of await trial.attempt(input)) met.set(word, (met.get(word) ?? 0) + 1);
      } catch (thrown) {
        await found(index, thrown, input);
      }
      tried += 1;
    }
  };
  try {
    await Promise.all(Array.from({ length: trial.width }, worker));
    await trial.end?.();
    const missed = count < target.reaches.of ? [] : target.reaches.words.filter((word) => !met.has(word));
    if (missed.length > 0 && findings.length === 0)
      throw new Error(`no input of ${count} came to: ${missed.join(', ')}`);
  } catch (thrown) {
    await found(tried, thrown, Buffer.alloc(0));
  } finally {
    await trial.close();
  }
  return { target: target.name, tried, ms: performance.now() - startedAt, met, findings };
}

/** Tries one input that was kept. */
export async function replay(target: Target, input: Buffer): Promise<readonly string[]> {
  const trial: Trial = await target.open();
  try {
    const words = await trial.attempt(input);
    await trial.end?.();
    return words;
  } finally {
    await trial.close();
  }
}

/** The message, and where it was thrown. */
export const whatOf = (thrown: unknown): string => {
  if (!(thrown instanceof Error)) return String(thrown);
  const places = (thrown.stack ?? '').split('\n').filter((line) => /^ +at .*(src|test)\//.test(line));
  return [
    thrown.message.slice(0, 4_000),
    ...places.filter((line) => !line.includes(' must ')).slice(0, 3),
  ].join('\n');
};

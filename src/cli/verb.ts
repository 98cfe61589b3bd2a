import type { Command } from 'commander';
import type { CliIo } from './output/io.ts';

/** One verb of the program: what `muster --help` says of it, and where it is. */
export interface Verb {
  readonly name: string;
  /** The same as the description of its command; a test compares the two. */
  readonly summary: string;
  /** Loads the verb's own file and nothing else: `version` has no use for a TLS server, nor `serve` for a diff. */
  load(io: CliIo): Promise<Command>;
  /** What a shell completes behind the verb, where that is more than a choice of its argument. */
  words?(): Promise<readonly string[]>;
}

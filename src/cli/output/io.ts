import type { Command } from 'commander';
import { basename, dirname, resolve } from 'node:path';
import { mkdir, stat } from 'node:fs/promises';

/** What a verb may touch of the process it runs in: passed in, so that a test can run it without one. */
export interface CliIo {
  /** Writes `text` as it is; the caller ends its lines. */
  stdout(text: string): void;
  stderr(text: string): void;
  now(): Date;
  readonly env: Record<string, string | undefined>;
  /** Whether a person is watching standard output. */
  readonly isTerminal: boolean;
  /** The terminal behind standard output; undefined where there is none. */
  readonly terminal?: Terminal | undefined;
  /**
   * Calls back once whoever runs Muster has had enough: `SIGINT` (Ctrl-C) and the like, or nobody reads standard output
   * any more (`EPIPE`). Until it is taken away, such a signal does not end the process; a second one does.
   * @returns what takes it away
   */
  onEnough?(listener: (why: string) => void): () => void;
  /** What people call it by: `kubectl muster` where it is a plugin. Default: `muster`. */
  readonly programName?: string;
  /** All of standard input. */
  readStdin(): Promise<Buffer>;
}

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

/** A terminal that is drawn on. */
export interface Terminal {
  /** In characters, as it is now. */
  size(): { readonly columns: number; readonly rows: number };
  /** @returns what takes the listener away */
  onResize(listener: () => void): () => void;
  /** Calls back when the process ends, whatever ends it, short of a kill. @returns what takes the listener away */
  onExit(listener: () => void): () => void;
}

/** The terminal that a stream writes to; undefined where it is a pipe or a file. */
export function terminalOf(stream: {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}): Terminal | undefined {
  if (stream.isTTY !== true) return undefined;
  return {
    // A terminal that does not know its size says 0.
    size: () => ({ columns: stream.columns || 80, rows: stream.rows || 24 }),
    onResize: (listener) => {
      stream.on('resize', listener);
      return () => void stream.off('resize', listener);
    },
    onExit: (listener) => {
      process.on('exit', listener);
      return () => void process.off('exit', listener);
    },
  };
}

const ENOUGH = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** As kubectl finds its plugins, by the name of the file. */
const PLUGIN = /^kubectl-muster(?:\.\w+)?$/;

/** Standard output and the rest of the process Muster runs in. */
export function processIo(): CliIo {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // `muster review … | head`: whoever reads has seen enough. The verb runs on, so that its exit code is right.
      if (error.code === 'EPIPE') return;
      // A full disk. Nothing that follows would be seen, and what is there is not whole.
      if (stream === process.stdout)
        process.stderr.write(
          `error[OUTPUT_FAILED]: cannot write standard output: ${error.message}\nfix: make room, or name another file behind ">"\n`,
        );
      process.exit(1);
    });
  }
  return {
    ...(PLUGIN.test(basename(process.argv[1] ?? '')) ? { programName: 'kubectl muster' } : {}),
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    now: () => new Date(),
    env: process.env,
    isTerminal: process.stdout.isTTY === true,
    terminal: terminalOf(process.stdout),
    onEnough: (listener) => {
      const unread = (error: NodeJS.ErrnoException): void => {
        if (error.code === 'EPIPE') listener('EPIPE');
      };
      process.stdout.on('error', unread);
      for (const signal of ENOUGH) process.once(signal, listener);
      return () => {
        process.stdout.off('error', unread);
        for (const signal of ENOUGH) process.off(signal, listener);
      };
    },
    readStdin: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    },
  };
}

/**
 * A folder and those above it, where they are missing. Not by `recursive` of `mkdir`: where the file system refuses in its
 * own way, as /proc does, that one tries for ever.
 * @throws Error of the file system
 */
export async function makeFolder(path: string): Promise<void> {
  const folder = resolve(path);
  const there = await stat(folder).catch(() => undefined);
  if (there?.isDirectory() === true) return;
  if (dirname(folder) !== folder) await makeFolder(dirname(folder));
  await mkdir(folder);
}

/**
 * Thrown by a verb that has said all it has to say and ends with this exit code: `review` when something is
 * denied, for one. Nothing is printed for it, unlike for a MusterError. (commander throws away what an action
 * returns, so a code cannot be handed back.)
 */
export class ExitStatus extends Error {
  readonly exitCode: 0 | 1 | 2 | 3 | 4;

  constructor(exitCode: 0 | 1 | 2 | 3 | 4) {
    super(`exit status ${exitCode}`);
    this.name = 'ExitStatus';
    this.exitCode = exitCode;
  }
}

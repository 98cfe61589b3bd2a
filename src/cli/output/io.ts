import type { Command } from 'commander';
import { basename, dirname, resolve } from 'node:path';
import { mkdir, stat } from 'node:fs/promises';

/** The parts of the process that a verb uses; a parameter, so that tests run a verb without a process. */
export interface CliIo {
  /** Writes `text` unchanged; the caller ends its lines. */
  stdout(text: string): void;
  stderr(text: string): void;
  now(): Date;
  readonly env: Record<string, string | undefined>;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** The terminal of standard output; undefined where there is none. */
  readonly terminal?: Terminal | undefined;
  /**
   * Registers a listener for the end that the user asks for: `SIGINT` (Ctrl-C) and similar signals, or a closed standard
   * output (`EPIPE`). While it is registered, the first such signal does not end the process; a second one does.
   * @returns a function that removes the listener
   */
  onEnough?(listener: (why: string) => void): () => void;
  /** Name of the command for messages: `kubectl muster` for the plugin. Default: `muster`. */
  readonly programName?: string;
  /** Asks whoever sits at the terminal; undefined where standard input is none. @returns the line that was typed */
  ask?(question: string): Promise<string>;
  /** Reads all of standard input. */
  readStdin(): Promise<Buffer>;
}

/** A verb of the program: its name and summary for `muster --help`, and how to load it. */
export interface Verb {
  readonly name: string;
  /** Equal to the description of the verb's command; a test compares both. */
  readonly summary: string;
  /** Loads the file of this verb alone: `version` needs no TLS server, and `serve` no diff. */
  load(io: CliIo): Promise<Command>;
  /** Words that a shell completes behind the verb, beside the choices of its argument. */
  words?(): Promise<readonly string[]>;
}

/** A terminal that a verb draws on. */
export interface Terminal {
  /** The current size in characters. */
  size(): { readonly columns: number; readonly rows: number };
  /** @returns a function that removes the listener */
  onResize(listener: () => void): () => void;
  /** Registers a listener for any end of the process but SIGKILL. @returns a function that removes the listener */
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
    // A terminal of unknown size reports 0.
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

/** File name of a kubectl plugin. */
const PLUGIN = /^kubectl-muster(?:\.\w+)?$/;

/** Standard output and the other parts of this process. */
export function processIo(): CliIo {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // The reader of `muster review …
      // head` has closed the pipe. The verb runs on, so that its exit code is right.
      if (error.code === 'EPIPE') return;
      // Such as a full disk: the output is incomplete, and further writes would fail as well.
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
    ...(process.stdin.isTTY ? { ask: askTerminal } : {}),
    readStdin: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    },
  };
}

async function askTerminal(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(question);
  } finally {
    lines.close();
  }
}

/**
 * Creates a folder and its missing parents. `mkdir` with `recursive` never returns on file systems with errors of their own,
 * such as /proc.
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
 * Thrown by a verb that has printed everything and ends with this exit code, such as `review` after a refusal. Unlike a
 * MusterError it is not printed. (commander discards the return value of an action, so a verb cannot return the code.)
 */
export class ExitStatus extends Error {
  readonly exitCode: 0 | 1 | 2 | 3 | 4;

  constructor(exitCode: 0 | 1 | 2 | 3 | 4) {
    super(`exit status ${exitCode}`);
    this.name = 'ExitStatus';
    this.exitCode = exitCode;
  }
}

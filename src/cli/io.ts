/** What a verb may touch of the process it runs in: passed in, so that a test can run it without one. */
export interface CliIo {
  /** Writes `text` as it is; the caller ends its lines. */
  stdout(text: string): void;
  stderr(text: string): void;
  now(): Date;
  readonly env: Record<string, string | undefined>;
  /** Whether a person is watching standard output. */
  readonly isTerminal: boolean;
  /** All of standard input, as UTF-8. */
  readStdin(): Promise<string>;
}

/** Standard output and the rest of the process Muster runs in. */
export function processIo(): CliIo {
  // `muster review … | head`: whoever reads has seen enough. The verb runs on, so that its exit code is right.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  return {
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    now: () => new Date(),
    env: process.env,
    isTerminal: process.stdout.isTTY === true,
    readStdin: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString('utf8');
    },
  };
}

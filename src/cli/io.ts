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

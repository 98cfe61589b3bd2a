import type { CliIo } from '../../../src/cli/output/io.ts';
import { run } from '../../../src/cli/run.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface Surroundings {
  readonly stdin?: string | Buffer;
  readonly env?: Record<string, string>;
  readonly isTerminal?: boolean;
  /** How wide the terminal is; none without. */
  readonly columns?: number;
  readonly programName?: string;
}

/** A process that writes into strings. */
export function fakeIo({
  stdin = '',
  env = {},
  isTerminal = false,
  columns,
  programName,
}: Surroundings = {}) {
  const written = { out: '', err: '' };
  const io: CliIo = {
    stdout: (text) => void (written.out += text),
    stderr: (text) => void (written.err += text),
    now: () => new Date('2026-01-02T03:04:05Z'),
    env,
    isTerminal,
    ...(programName === undefined ? {} : { programName }),
    ...(columns === undefined
      ? {}
      : {
          terminal: {
            size: () => ({ columns, rows: 24 }),
            onResize: () => () => undefined,
            onExit: () => () => undefined,
          },
        }),
    readStdin: () => Promise.resolve(Buffer.from(stdin)),
  };
  return { io, written };
}

/** `muster …args`, in this process. */
export async function muster(args: readonly string[], surroundings?: Surroundings): Promise<Ran> {
  const { io, written } = fakeIo(surroundings);
  const code = await run(args, io);
  return { code, ...written };
}

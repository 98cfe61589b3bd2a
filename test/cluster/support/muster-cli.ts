import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../../src/cli/version.ts';
import { run } from '../../../src/cli/run.ts';
import { fakeIo } from '../../unit/cli/fake-io.ts';

export interface Said {
  readonly code: number;
  /** Standard output, and what standard error has behind it. */
  readonly out: string;
}

/** Runs `muster` from its source, to its end. `flags` are those of Node. */
export const cli = (args: readonly string[], flags: readonly string[] = []): Promise<Said> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [...flags, join(packageRoot() ?? '', 'src', 'main.ts'), ...args],
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), out: stdout + stderr }),
    );
  });

/** The same verb in this process, where a process is not the subject: it costs a tenth. */
export async function verb(args: readonly string[]): Promise<Said> {
  const { io, written } = fakeIo();
  const code = await run(args, { ...io, now: () => new Date() });
  return { code, out: written.out + written.err };
}

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../../src/cli/input/package-root.ts';

/** Runs `muster` from its source, to its end. */
export const cli = (args: readonly string[]): Promise<{ code: number; out: string }> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(packageRoot() ?? '', 'src', 'main.ts'), ...args],
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), out: stdout + stderr }),
    );
  });

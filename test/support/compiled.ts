import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withBuildLock } from '../cluster/control-plane/build-lock.ts';
import { inLength } from './length.ts';

const ROOT = join(import.meta.dirname, '../..');

/**
 * What the compiler makes of the program, a folder with src/. The first test of a run that needs it compiles it, which
 * takes as long as a control plane; nobody may write there. Declarations of types are in the long form's only.
 */
export async function compiledProgram(): Promise<string> {
  const folder = join(tmpdir(), 'compiled-program');
  const enough = (): Promise<boolean> => Promise.resolve(existsSync(folder));
  if (await enough()) return folder;
  await withBuildLock(
    `${folder}.lock`,
    async () => {
      if (await enough()) return;
      const [tsc, unfinished] = [join(ROOT, 'node_modules/typescript/bin/tsc'), `${folder}.unfinished`];
      const types = ['--declaration', inLength({ short: 'false', long: 'true' })];
      const flags = ['-p', 'tsconfig.build.json', '--noCheck', ...types, '--outDir', unfinished];
      await promisify(execFile)(process.execPath, [tsc, ...flags], { cwd: ROOT });
      await rename(unfinished, folder);
    },
    { told: () => Promise.resolve(), enough },
  );
  return folder;
}

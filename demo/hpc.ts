import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../src/cli/version.ts';
import type { Narrator } from './narrator.ts';

const GANG = 'docs/examples/hpc-gang.yaml';
const JOBS = 'docs/examples/hpc-jobs.yaml';

/** What becomes of the Pods of a gang that runs its program under Flux, and what they run with. Without a cluster. */
export async function hpcDemo(main: string, tell: Narrator): Promise<void> {
  const cwd = packageRoot() ?? '';
  const muster = async (shown: string, args: readonly string[]): Promise<string> => {
    tell.command(`muster ${shown}`);
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [main, ...args], { cwd });
    tell.output(stdout + stderr);
    return stdout;
  };
  tell.scene('An MPI program under Flux: its Pods, as they are prepared');
  const review = ['review', '-f', GANG, '-f', JOBS];
  const prepared = await muster(review.join(' '), review);
  tell.check(
    'the lead and the workers get Flux, its settings and a key, and wait behind the gate',
    ['flux-installer', 'lammps-flux-entrypoint', 'lammps-flux-curve', 'schedulingGates'].every(
      (part) => prepared.split(part).length > 2,
    ),
  );

  tell.scene('What they run with: made before the first gate comes off');
  const folder = await mkdtemp(join(tmpdir(), 'muster-demo-hpc-'));
  try {
    await muster(`hpc render -f ${GANG} --out DIR`, ['hpc', 'render', '-f', GANG, '--out', folder]);
    const files = (await readdir(folder)).sort();
    tell.command('ls DIR; bash -n DIR/*.sh');
    tell.output(files.join('\n'));
    const scripts = files.filter((file) => file.endsWith('.sh'));
    const sound = scripts.map((file) =>
      promisify(execFile)('bash', ['-n', join(folder, file)]).then(
        () => true,
        () => false,
      ),
    );
    tell.check(
      'two scripts, which bash can read, and the settings of the brokers',
      scripts.length === 2 && (await Promise.all(sound)).every(Boolean),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

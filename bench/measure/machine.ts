import { execFileSync } from 'node:child_process';
import { cpus, release } from 'node:os';

/** Where figures come from: `AMD EPYC, 2 cores, Linux 6.8`. */
export const machineName = (): string =>
  `${cpus()[0]?.model.trim() ?? 'unknown CPU'}, ${cpus().length} cores, Linux ${/^\d+\.\d+/.exec(release())?.[0] ?? release()}`;

/** Of a checkout, by default this one, with `-dirty` where files differ from it. */
export function commitName(folder = process.cwd()): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], { cwd: folder, encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

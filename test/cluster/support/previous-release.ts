import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheOfMuster } from '../control-plane/binaries.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** The last commit that was installed anywhere before there were releases. */
export const PREVIOUS = '13d15b1d';

/** A folder with its source, its manifests and the packages that it needs. */
export const previousRelease = (): string => join(cacheOfMuster(), 'releases', PREVIOUS);

/**
 * Puts the release there, from git and npm, where it is not there yet.
 * @returns why it cannot be had; undefined: it is there
 */
export function previousReleaseMissing(): string | undefined {
  const folder = previousRelease();
  if (existsSync(folder)) return undefined;
  try {
    execFileSync('git', ['cat-file', '-e', `${PREVIOUS}^{commit}`], { cwd: ROOT, stdio: 'ignore' });
  } catch {
    return `git has no commit ${PREVIOUS} here: fetch the whole history (git fetch --unshallow)`;
  }
  mkdirSync(join(folder, '..'), { recursive: true });
  // Whoever is first puts it in place whole.
  const made = mkdtempSync(`${folder}.`);
  try {
    const archive = execFileSync('git', ['archive', PREVIOUS], { cwd: ROOT, maxBuffer: 2 ** 28 });
    execFileSync('tar', ['--extract', '--directory', made], { input: archive });
    execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts'], { cwd: made, stdio: 'pipe' });
    renameSync(made, folder);
    return undefined;
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    if (existsSync(folder)) return undefined;
    return `the release ${PREVIOUS} could not be made: ${String(error).slice(0, 500)}`;
  }
}

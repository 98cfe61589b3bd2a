import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = join(import.meta.dirname, 'peer');
/** Ignored by git. */
const CACHE = join(import.meta.dirname, '..', '..', '.cache', 'bench');

/**
 * The controller-runtime peer as a program: built once for its source, kept in the checkout's cache.
 * @returns the program, or why there is none; the bench then goes on without it
 */
export function buildPeer(log: (line: string) => void): { program: string } | { missing: string } {
  const hash = createHash('sha256');
  for (const file of ['main.go', 'go.mod', 'go.sum']) hash.update(readFileSync(join(SOURCE, file)));
  const program = join(CACHE, `peer-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(program)) return { program };

  if (spawnSync('go', ['version']).error !== undefined) return { missing: '`go` is not on the PATH' };
  mkdirSync(CACHE, { recursive: true });
  log('building the controller-runtime peer with Go (once; up to two minutes with an empty cache) …');
  const unfinished = `${program}.${process.pid}`;
  const { status, stderr } = spawnSync(
    'go',
    ['build', '-trimpath', '-buildvcs=false', '-o', unfinished, '.'],
    {
      cwd: SOURCE,
      env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '' },
      encoding: 'utf8',
    },
  );
  if (status !== 0) return { missing: `go build failed: ${stderr.trim().slice(-500)}` };
  renameSync(unfinished, program);
  return { program };
}

/** Archives and copies whose bytes depend on the files alone, not on who made them when. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Byte of a gzip header that names the operating system; 255 is unknown. */
const OPERATING_SYSTEM = 9;

/** Writes `folder`, as `name/…`, to a .tar.gz. @param seconds since 1970, the time of every file */
export function writeArchive(file: string, folder: string, name: string, seconds: number): void {
  const same = ['--format=ustar', '--sort=name', `--mtime=@${seconds}`, '--owner=0', '--group=0'];
  const tar = execFileSync(
    'tar',
    [
      ...['--create', ...same, '--numeric-owner', '--mode=u=rwX,go=rX', '--hard-dereference'],
      ...[`--transform=s,^\\.,${name},`, '--directory', folder, '.'],
    ],
    { env: { PATH: process.env['PATH'], LC_ALL: 'C' }, maxBuffer: 2 ** 30 },
  );
  const zipped = gzipSync(tar, { level: 9 });
  zipped[OPERATING_SYSTEM] = 255;
  writeFileSync(file, zipped);
}

/** Copies what git knows of below `root` and matches `patterns`; what is ignored or new stays out. */
export function copyTracked(root: string, patterns: readonly string[], into: string): void {
  const listed = execFileSync('git', ['ls-files', '-z', '--', ...patterns], { cwd: root, encoding: 'utf8' });
  for (const path of listed.split('\0'))
    if (path !== '' && existsSync(join(root, path))) {
      mkdirSync(dirname(join(into, path)), { recursive: true });
      cpSync(join(root, path), join(into, path));
    }
}

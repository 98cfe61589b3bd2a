import { lstat, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { MusterError, messageOf } from '../errors.ts';

/** The three files of a `kubernetes.io/tls` Secret, as bytes. `authority` is absent when `ca.crt` is missing or empty. */
export interface MountedFiles {
  readonly certificate: Buffer;
  readonly key: Buffer;
  readonly authority?: Buffer;
}

/** A second swap during one read is already rare (the kubelet writes at most once per sync), so five attempts suffice. */
const ATTEMPTS = 5;

/**
 * Reads key and certificate of a mounted Secret so that both belong to the same write.
 *
 * The kubelet puts every version of a Secret into a directory of its own and renames the link `..data` to it. Opening
 * `tls.crt` and then `tls.key` through that link gives two versions if the rename happens in between (almost a third of
 * all reads, when tried in a loop). Here the link is resolved once, and all files are read from its target. If that
 * directory is gone before all files are read, the link is resolved again.
 *
 * A directory without `..data` (development) is read directly.
 *
 * @throws MusterError `TLS_UNREADABLE` naming the file that is missing, unreadable or empty
 */
export const readMountedFiles = async (directory: string): Promise<MountedFiles> => {
  for (let attempt = 1; ; attempt += 1) {
    const version = await resolveVersion(directory);
    try {
      if (version === undefined) throw unreadable(directory, '..data', 'it links to nothing');
      return await readVersion(directory, version);
    } catch (error) {
      if (attempt >= ATTEMPTS || !(await wasReplaced(directory, version))) throw error;
    }
  }
};

const readVersion = async (directory: string, version: string): Promise<MountedFiles> => {
  // Read in sequence, so that the same fault always has the same message; concurrent reads could fail in any order.
  const certificate = await readRequired(directory, version, 'tls.crt');
  const key = await readRequired(directory, version, 'tls.key');
  const authority = await readOptional(directory, version, 'ca.crt');
  return authority === undefined ? { certificate, key } : { certificate, key, authority };
};

/** The directory that contains the files now; undefined for a `..data` whose target has just been removed. */
const resolveVersion = async (directory: string): Promise<string | undefined> => {
  const link = join(directory, '..data');
  try {
    return await realpath(link);
  } catch {
    // Reading the plain directory while the link exists could again mix two versions.
    const isMount = await lstat(link).then(
      () => true,
      () => false,
    );
    return isMount ? undefined : directory;
  }
};

const wasReplaced = async (directory: string, version: string | undefined): Promise<boolean> =>
  (await resolveVersion(directory)) !== version;

const readRequired = async (directory: string, version: string, file: string): Promise<Buffer> => {
  const content = await readFile(join(version, file)).catch((error: unknown) => {
    throw unreadable(directory, file, describeReadFailure(error), error);
  });
  if (content.toString('latin1').trim() === '') throw unreadable(directory, file, 'the file is empty');
  return content;
};

/** cert-manager omits `ca.crt`, or leaves it empty, when the issuer does not provide its CA (ACME). */
const readOptional = async (
  directory: string,
  version: string,
  file: string,
): Promise<Buffer | undefined> => {
  try {
    const content = await readFile(join(version, file));
    return content.toString('latin1').trim() === '' ? undefined : content;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadable(directory, file, describeReadFailure(error), error);
  }
};

const READ_FAILURES: Partial<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
};

const describeReadFailure = (error: unknown): string =>
  READ_FAILURES[(error as NodeJS.ErrnoException).code ?? ''] ?? messageOf(error);

const unreadable = (directory: string, file: string, reason: string, cause?: unknown): MusterError =>
  new MusterError(
    'TLS_UNREADABLE',
    `cannot read ${file} in ${directory}: ${reason}`,
    `mount a Secret of type kubernetes.io/tls at ${directory}, or make one for development with "muster certs"`,
    { cause },
  );

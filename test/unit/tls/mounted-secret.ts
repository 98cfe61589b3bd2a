import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Issued } from '../../../src/tls/issue.ts';

/** File name to content, as `data` of a Secret. */
export type SecretData = Readonly<Record<string, string>>;

/** `ca.crt` is left out when no authority is given. */
export const secretData = (pair: Issued, authority?: Issued): SecretData => ({
  'tls.crt': pair.certificate,
  'tls.key': pair.key,
  ...(authority === undefined ? {} : { 'ca.crt': authority.certificate }),
});

/** A directory that holds a Secret the way the kubelet's AtomicWriter lays it out. */
export interface MountedSecret {
  readonly directory: string;
  /** One update of the Secret: a new version directory, `..data` renamed to it, the old version removed. */
  swap(data: SecretData): Promise<void>;
  /** The directory itself goes away. */
  remove(): Promise<void>;
}

let secrets = 0;

export const mountSecret = async (data: SecretData): Promise<MountedSecret> => {
  const parent = await mkdtemp(join(tmpdir(), 'muster-tls-'));
  const directory = join(parent, `certs-${(secrets += 1)}`);
  let version = 0;
  let current: string | undefined;

  const swap = async (next: SecretData): Promise<void> => {
    await mkdir(directory, { recursive: true });
    const name = `..2026_06_01_00_00_00.${(version += 1)}`;
    await mkdir(join(directory, name));
    for (const [file, content] of Object.entries(next)) {
      await writeFile(join(directory, name, file), content);
      await symlink(join('..data', file), join(directory, file)).catch(ignoreExisting);
    }
    await symlink(name, join(directory, '..data_tmp'));
    await rename(join(directory, '..data_tmp'), join(directory, '..data'));
    if (current !== undefined) await rm(join(directory, current), { recursive: true, force: true });
    current = name;
  };
  const remove = async (): Promise<void> => {
    current = undefined;
    await rm(directory, { recursive: true, force: true });
  };
  await swap(data);
  return { directory, swap, remove };
};

const ignoreExisting = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EEXIST') throw error;
};

/** A directory with plain files, as people make them for development. */
export const plainDirectory = async (data: SecretData): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'muster-tls-'));
  for (const [file, content] of Object.entries(data)) await writeFile(join(directory, file), content);
  return directory;
};

import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A directory as the kubelet mounts a Secret: `..data` points at the version, the files point through it. */
export class MountedSecret {
  readonly path: string;
  #version = 0;

  constructor(path: string) {
    this.path = path;
  }

  async put(files: Record<string, string>): Promise<void> {
    this.#version += 1;
    const version = `..version-${this.#version}`;
    const staging = await mkdtemp(join(this.path, '..staging-'));
    for (const [name, content] of Object.entries(files)) await writeFile(join(staging, name), content);
    await rename(staging, join(this.path, version));
    await symlink(version, join(this.path, '..data_tmp'));
    await rename(join(this.path, '..data_tmp'), join(this.path, '..data'));
    if (this.#version > 1) await rm(join(this.path, `..version-${this.#version - 1}`), { recursive: true });
    else for (const name of Object.keys(files)) await symlink(join('..data', name), join(this.path, name));
  }
}

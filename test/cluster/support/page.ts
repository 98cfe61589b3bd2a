import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { packageRoot } from '../../../src/cli/version.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { FRUGAL_GO } from '../control-plane/managed-process.ts';

const ROOT = packageRoot() ?? '';
const BLOCK = /(?:<!-- tested: ([^\n]*) -->\n)?```sh\n([^]*?)\n```/g;

/** The commands of a page, as a reader copies them. */
export class Page {
  readonly text: string;
  /** By the name in the comment above a block. */
  readonly #tested = new Map<string, string>();
  /** The first lines of blocks without such a comment. */
  readonly untested: string[] = [];

  constructor(file: string) {
    this.text = readFileSync(join(ROOT, file), 'utf8');
    for (const [, name, commands = ''] of this.text.matchAll(BLOCK)) {
      if (name === undefined) this.untested.push(commands.split('\n')[0] ?? '');
      else if (this.#tested.has(name)) throw new Error(`${file} has two blocks "${name}"`);
      else this.#tested.set(name, commands);
    }
  }

  get names(): string[] {
    return [...this.#tested.keys()];
  }

  commands(name: string): string {
    const found = this.#tested.get(name);
    if (found === undefined) throw new Error(`the page has no commands "${name}"`);
    return found;
  }

  /** What the page shows of the output of a block: the console block that follows it. */
  shown(name: string): string {
    const [, after = ''] = this.text.split(`<!-- tested: ${name} -->\n`);
    return /```console\n([^]*?)\n```/.exec(after)?.[1] ?? '';
  }
}

export interface Ran {
  readonly code: number;
  readonly out: string;
}

/** @param kubeconfig of whoever types; the administrator's where it is left out */
export type Shell = (commands: string, kubeconfig?: string) => Promise<Ran>;

/**
 * A shell as a reader of the documentation has it: in a folder that looks like a checkout, with kubectl, and with
 * `muster`, which runs the program from its source.
 * @param more programs and folders of the checkout that a page uses besides
 */
export async function readersShell(
  plane: ControlPlane,
  more: { readonly path?: readonly string[]; readonly folders?: readonly string[] } = {},
): Promise<Shell> {
  const folder = join(plane.dir, 'checkout');
  const programs = join(plane.dir, 'programs');
  for (const made of [folder, programs]) await mkdir(made, { recursive: true });
  for (const name of ['manifests', 'docs', ...(more.folders ?? [])])
    await symlink(join(ROOT, name), join(folder, name));
  await writeFile(
    join(programs, 'muster'),
    `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'src', 'main.ts')}" "$@"\n`,
    { mode: 0o755 },
  );
  const { kubectl = '' } = plane.binaries;
  return (commands, kubeconfig = plane.kubeconfig) =>
    new Promise((resolve, reject) => {
      const child = spawn('bash', ['-euo', 'pipefail', '-c', commands], {
        cwd: folder,
        env: {
          ...FRUGAL_GO,
          // The program is compiled once, not with every command.
          NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
          PATH: [programs, dirname(kubectl), ...(more.path ?? []), process.env['PATH']].join(delimiter),
          HOME: plane.dir,
          KUBECONFIG: kubeconfig,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let out = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => (out += text));
      child.once('error', reject);
      child.once('close', (code) => resolve({ code: code ?? -1, out }));
    });
}

/** Without what differs from run to run: ages, and the endings of names that a controller makes up. */
export const steady = (text: string): string =>
  text
    .replace(/\b\d+m?s\b/g, '5s')
    .replace(/(first-(?:leader|worker))-[a-z0-9]{5}\b/g, '$1-xxxxx')
    .trim();

import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startWatchdog } from './watchdog.ts';

/** Prefix of the folders that hold a build under way; whatever is found under it was left by a killed build. */
const UNFINISHED = '.building-';

/** What makes a package of ours another one than the same compiled otherwise. */
const BUILD = ['-trimpath', '-buildvcs=false'];

/** Nobody watches a program that says nothing for minutes. */
const TELL_EVERY_MS = 20_000;

export interface CompileOptions {
  /** The Go package of each program, by the name that its file gets. */
  readonly programs: Readonly<Record<string, string>>;
  /** Folder whose go.mod and go.sum pin what is built. */
  readonly module: string;
  /** As progress names it: `Kubernetes v1.37.2`. */
  readonly name: string;
  readonly linkerFlags: readonly string[];
  /** Where the finished binaries go. */
  readonly folder: string;
  readonly log: (line: string) => void;
}

/**
 * Compiles `programs` with the machine's Go, one after the other, each moved into `folder` in one step when it is
 * complete. The caller must hold the build lock.
 *
 * @throws GoFailed when go is not on the PATH, or with what it printed.
 */
export async function compile({
  programs,
  module,
  name,
  linkerFlags,
  folder,
  log,
}: CompileOptions): Promise<void> {
  for (const entry of await readdir(folder)) {
    if (entry.startsWith(UNFINISHED)) await rm(join(folder, entry), { recursive: true, force: true });
  }
  const unfinished = await mkdtemp(join(folder, UNFINISHED));
  const need = Object.entries(programs);
  try {
    log(`fetching the Go modules of ${name} (once; about 15 s) ...`);
    const fetching = performance.now();
    await go(['mod', 'download'], module);
    log(`fetched the Go modules in ${secondsSince(fetching)} s`);
    for (const [index, [binary, program]] of need.entries()) {
      const started = performance.now();
      const output = join(unfinished, binary);
      const flags = [...BUILD, '-v', '-ldflags', ['-s', '-w', ...linkerFlags].join(' ')];
      const all = await uncompiled(program, module);
      log(`building ${binary} (${index + 1} of ${need.length}), ${all} packages to compile ...`);
      // `-v` names each package once it is compiled.
      let compiled = 0;
      const telling = setInterval(() => {
        const doing = compiled < all ? `${compiled} of ${all} packages compiled` : 'linking';
        log(`  ${binary}: ${doing}, ${secondsSince(started)} s`);
      }, TELL_EVERY_MS);
      try {
        const count = (text: string): void => void (compiled += text.split('\n').length - 1);
        await go(['build', ...flags, '-o', output, program], module, count);
      } finally {
        clearInterval(telling);
      }
      await rename(output, join(folder, binary));
      log(`built ${binary} in ${secondsSince(started)} s`);
    }
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Packages of a program that Go has not compiled yet: what programs share is compiled with the first of them. */
async function uncompiled(program: string, module: string): Promise<number> {
  let listed = '';
  const format = '{{if .Stale}}{{.StaleReason}}{{end}}';
  await go(['list', ...BUILD, '-deps', '-f', format, program], module, (text) => (listed += text));
  return listed.split('\n').filter((reason) => reason !== '' && !reason.includes('available in build cache'))
    .length;
}

/** Go could not be run, or ended with an error; the message holds the end of what it printed. */
export class GoFailed extends Error {
  override readonly name = 'GoFailed';
}

async function go(
  args: readonly string[],
  module: string,
  hear: (text: string) => unknown = () => undefined,
): Promise<void> {
  const watchdog = startWatchdog();
  try {
    await new Promise<void>((resolve, reject) => {
      const child = spawn('go', args, {
        cwd: module,
        env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
      let printed = '';
      const keep = (chunk: Buffer): void => {
        hear(chunk.toString());
        printed = (printed + chunk.toString()).slice(-4_000);
      };
      child.stdout.on('data', keep);
      child.stderr.on('data', keep);
      child.once('spawn', () => {
        if (child.pid !== undefined) watchdog.add(child.pid);
      });
      child.once('error', (cause: NodeJS.ErrnoException) => {
        const reason =
          cause.code === 'ENOENT' ? '`go` is not on the PATH' : `go could not be run: ${cause.message}`;
        reject(new GoFailed(reason, { cause }));
      });
      child.once('close', (code, signal) => {
        if (child.pid !== undefined) watchdog.remove(child.pid);
        if (code === 0) resolve();
        else
          reject(
            new GoFailed(`\`go ${args[0]} ${args.at(-1)}\` ended with ${signal ?? code}:\n${printed.trim()}`),
          );
      });
    });
  } finally {
    await watchdog.dismiss();
  }
}

function secondsSince(start: number): string {
  return ((performance.now() - start) / 1000).toFixed(1);
}

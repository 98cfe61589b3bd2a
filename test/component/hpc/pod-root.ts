import { spawn } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  lstatSync,
  statSync,
  writeFileSync,
  existsSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ownObject, ownString } from '../../../src/json/json.ts';
import { makeCurveCertificate } from '../../../src/preparers/flux/curve/make-certificate.ts';
import { renderFluxObjects } from '../../../src/preparers/flux/objects.ts';
import type { FluxSettings } from '../../../src/preparers/flux/settings.ts';
import { gangOf, settings } from '../../support/hpc.ts';
import { FAKE_FLUX } from './fake-flux.ts';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunGiven {
  readonly host?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number | undefined;
  /** Sent once `after` was printed. */
  readonly signal?: { readonly name: NodeJS.Signals; readonly after: string };
  readonly shell?: readonly string[];
  /** Told all that was printed, whenever there is more. */
  readonly heard?: (out: string) => void;
}

/** Whoever watches for the lead, sleeping "15s", has shorter pauses, and is not written down. */
export const WATCHING = '#!/bin/bash\ncase $1 in *s) exec /bin/sleep 0.3 ;; esac\n';

const roots: string[] = [];
export const removeRoots = (): void => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
};

/** What a container of a prepared Pod sees as its root, in a temporary folder: the mounts, and the image of Flux. */
export class PodRoot {
  readonly path: string;
  readonly #outside: string;

  constructor(
    minimums: Readonly<Record<string, number>>,
    given: Partial<FluxSettings> = {},
    expected?: string,
    asks?: ReadonlyMap<string, string>,
  ) {
    // A run of tests has a temporary folder of its own, into which no other user may look.
    const shared = statSync(tmpdir());
    if ((shared.mode & 0o001) === 0) chmodSync(tmpdir(), shared.mode | 0o011);
    const top = mkdtempSync(join(tmpdir(), 'flux-root-'));
    roots.push(top);
    chmodSync(top, 0o755);
    this.path = join(top, 'root');
    this.#outside = join(top, 'outside');
    const certificate = makeCurveCertificate('g');
    const gang = gangOf(minimums, expected === undefined ? {} : { expected });
    const data = ownObject(renderFluxObjects(gang, settings(given), { certificate, asks })[0], 'data') ?? {};
    for (const key of Object.keys(data)) this.write(`etc/flux-config/${key}`, ownString(data, key) ?? '');
    this.write('curve/curve.cert', certificate, 0o444);
    const view = 'opt/views/._view/abcdef';
    this.write(`${view}/bin/flux`, FAKE_FLUX, 0o755);
    this.write(`${view}/bin/python3.11`, '');
    this.write(`${view}/lib/python3.11/site-packages/flux.py`, '');
    this.write(`${view}/etc/flux/rc1.d/fluxion`, '#!/bin/bash\necho started >>"$FAKE_LOG.rc1"\n', 0o555);
    this.write('opt/software/linux/library.so', 'library', 0o555);
    chmodSync(join(this.path, 'opt/software/linux'), 0o555);
    for (const own of ['mnt/flux', 'bin', 'log']) mkdirSync(join(this.path, own), { recursive: true });
    for (const open of ['mnt/flux', 'opt/software', 'log']) chmodSync(join(this.path, open), 0o777);
    this.write('bin/hostname', '#!/bin/bash\necho "$FAKE_HOST"\n', 0o755);
    this.write('bin/sleep', `${WATCHING}echo "sleep $*" >>"$FAKE_LOG"\nexec /bin/sleep 0.02\n`, 0o755);
    // A machine of two cores.
    this.write('bin/nproc', '#!/bin/bash\necho 2\n', 0o755);
    this.write(
      'bin/keep',
      '#!/bin/bash\nfor word; do printf "%s\\0" "$word"; done >"$FAKE_LOG.argv"\n',
      0o755,
    );
    mkdirSync(this.#outside);
    chmodSync(this.#outside, 0o777);
  }

  write(path: string, text: string, mode = 0o644): void {
    const whole = join(this.path, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, text);
    chmodSync(whole, mode);
  }

  /** What the app's container has instead of the software of the image: an empty volume of its own. */
  readonly appImage = (): void => {
    rmSync(join(this.path, 'opt'), { recursive: true });
    mkdirSync(join(this.path, 'opt/software'), { recursive: true });
    chmodSync(join(this.path, 'opt/software'), 0o777);
  };

  init(given: RunGiven = {}): Promise<Ended> {
    return this.#run('init.sh', [], given);
  }

  entrypoint(argv: readonly string[], given: RunGiven = {}): Promise<Ended> {
    return this.#run('entrypoint.sh', ['--', ...argv], given);
  }

  /** Both, as they follow each other in a Pod. */
  async start(argv: readonly string[], given: RunGiven = {}): Promise<Ended> {
    const first = await this.init({ uid: given.uid });
    if (first.code !== 0) return first;
    this.appImage();
    return this.entrypoint(argv, given);
  }

  #run(
    script: string,
    words: readonly string[],
    { host = 'lead-0', env = {}, uid, signal, shell, heard }: RunGiven,
  ): Promise<Ended> {
    const [program = '', ...before] = shell ?? ['/bin/bash'];
    const child = spawn(program, [...before, join(this.path, 'etc/flux-config', script), ...words], {
      cwd: this.#outside,
      stdio: ['ignore', 'pipe', 'pipe'],
      // A script that never ends fails its test, not the run.
      timeout: 60_000,
      killSignal: 'SIGKILL',
      env: {
        PATH: `${this.path}/bin:/usr/bin:/bin`,
        HOME: this.#outside,
        TMPDIR: this.#outside,
        FAKE_HOST: host,
        FAKE_LOG: join(this.path, 'log/flux'),
        MUSTER_FLUX_ROOT: this.path,
        ...env,
      },
      ...(uid === undefined ? {} : { uid, gid: uid }),
    });
    const ended = { out: '', err: '' };
    let sent = false;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      ended.out += text;
      heard?.(ended.out);
      if (signal !== undefined && !sent && ended.out.includes(signal.after)) {
        sent = true;
        child.kill(signal.name);
      }
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => void (ended.err += text));
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => resolve({ code, ...ended }));
    });
  }

  /** Calls of flux and of sleep, one a line, without the root. */
  calls(): string[] {
    const log = join(this.path, 'log/flux');
    if (!existsSync(log)) return [];
    return readFileSync(log, 'utf8').trimEnd().replaceAll(this.path, '').split('\n');
  }

  forgetCalls(): void {
    rmSync(join(this.path, 'log/flux'), { force: true });
  }

  /** What the program was given, byte for byte. */
  argv(): string[] {
    return readFileSync(join(this.path, 'log/flux.argv'), 'utf8').split('\0').slice(0, -1);
  }

  read(path: string): string {
    return readFileSync(join(this.path, path), 'utf8').replaceAll(this.path, '');
  }

  has(path: string): boolean {
    return existsSync(join(this.path, path));
  }

  mode(path: string): number {
    return lstatSync(join(this.path, path)).mode & 0o777;
  }

  /** Every file, with its mode and what is in it. */
  tree(below: string): string[] {
    return readdirSync(join(this.path, below), { recursive: true, encoding: 'utf8' })
      .sort()
      .map((name) => {
        const whole = join(this.path, below, name);
        const found = lstatSync(whole);
        const text = found.isFile()
          ? readFileSync(whole, 'utf8')
          : found.isSymbolicLink()
            ? readlinkSync(whole)
            : '';
        return `${name} ${(found.mode & 0o777).toString(8)} ${text}`;
      });
  }

  /** What was written where HOME, TMPDIR and the working directory are. */
  outside(): string[] {
    return readdirSync(this.#outside, { recursive: true, encoding: 'utf8' });
  }
}

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { FAKE_FLUX } from './fake-flux.ts';

/** How a program is run on one broker. */
export const RUN = ['run', '-N', '1', '--tasks-per-node=1', '--exclusive'];

const folders: string[] = [];
export const removeBrokers = (): void => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
};

/** A broker of the double, or another of its commands. */
class Running {
  out = '';
  readonly code: Promise<number>;
  readonly #kill: (signal: NodeJS.Signals) => void;
  #over = false;
  #look = (): void => undefined;

  constructor(file: string, argv: readonly string[], env: Readonly<Record<string, string>>) {
    const child = spawn(file, argv, {
      stdio: ['ignore', 'pipe', 'pipe'],
      // One that never ends fails its test, not the run.
      timeout: 60_000,
      killSignal: 'SIGKILL',
      env,
    });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.out += text;
        this.#look();
      });
    this.#kill = (signal) => void child.kill(signal);
    this.code = new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => {
        this.#over = true;
        this.#look();
        resolve(code ?? -1);
      });
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.#kill(signal);
  }

  /** Once it has printed that. */
  says(text: string | RegExp): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#look = () => {
        if (this.out.search(text) >= 0) resolve();
        else if (this.#over) reject(new Error(`it ended without a word of ${String(text)}: ${this.out}`));
      };
      this.#look();
    });
  }
}

/** Brokers of the double without the scripts of Muster, which know each other. */
export class Brokers {
  readonly #folder: string;

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), 'flux-observed-'));
    folders.push(this.#folder);
    this.write('flux', FAKE_FLUX, 0o755);
    this.write('curve.cert', '', 0o600);
    this.write('R', '', 0o644);
    const table = `[bootstrap]\ncurve_cert = "${this.path('curve.cert')}"\npath = "${this.path('R')}"\n`;
    this.write('config/broker.toml', table, 0o644);
    for (const own of ['gang/joined', 'log']) mkdirSync(this.path(own), { recursive: true });
  }

  path(name: string): string {
    return join(this.#folder, name);
  }

  write(name: string, text: string, mode: number): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text, { mode });
  }

  /** Ends a program that waits for it. */
  go(): void {
    this.write('gang/go', '', 0o644);
  }

  /** A broker of that host; undefined: of no gang. */
  broker(
    host: string | undefined,
    [command = '', ...words]: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Running {
    const config = command === 'start' ? ['-o', '--config'] : ['--config-path'];
    const gang = host === undefined ? {} : { FAKE_GANG: this.path('gang'), FAKE_HOST: host };
    return this.#run([command, ...config, this.path('config'), ...words], { ...gang, ...env });
  }

  /** Another command, beside the brokers: its exit code and what it says. */
  async call(...argv: readonly string[]): Promise<[number, string]> {
    const called = this.#run(argv, { FAKE_GANG: this.path('gang'), FLUX_URI: 'local:///x' });
    return [await called.code, called.out];
  }

  #run(argv: readonly string[], env: Readonly<Record<string, string>>): Running {
    return new Running(this.path('flux'), argv, {
      PATH: `${this.#folder}:/usr/bin:/bin`,
      MUSTER_FLUX_ROOT: this.#folder,
      FAKE_LOG: this.path('log/flux'),
      ...env,
    });
  }
}

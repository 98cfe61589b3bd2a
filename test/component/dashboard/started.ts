import { run } from '../../../src/cli/run.ts';
import { until } from '../../unit/tls/until.ts';
import { processAt, type FakeProcess } from '../cli/fake-tty.ts';
import type { WatchedApi } from '../cli/watched-api.ts';

/** Asks as a browser that has opened the address with the token. */
export type Asks = (path: string, signal?: AbortSignal) => Promise<Response>;

/** Opens an address, by which its token is used up. */
export async function askingAt(address: string): Promise<Asks> {
  const { headers } = await fetch(address, { redirect: 'manual' });
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
  return (path, signal) => fetch(new URL(path, address), { headers: { cookie }, signal: signal ?? null });
}

/** What a JSON path answers. */
export interface AnsweredJson {
  readonly status: number;
  readonly body: unknown;
}

/** `muster dashboard` for namespace ml of an API server that a test writes into. */
export class StartedDashboard {
  readonly program: FakeProcess = processAt();
  /** Milliseconds by which its clock is ahead: answers that pages share are old then. */
  ahead = 0;
  /** The exit status, once it ends. */
  readonly running: Promise<number>;
  #asks: Promise<Asks> | undefined;

  constructor({ kubeconfig }: WatchedApi, ...flags: readonly string[]) {
    const io = { ...this.program.io, now: () => new Date(Date.now() + this.ahead) };
    this.running = run(['dashboard', '-n', 'ml', '--kubeconfig', kubeconfig, ...flags], io);
  }

  /** With the token, once it is printed. */
  async address(): Promise<string> {
    await until('the address', () => this.program.written.out !== '');
    return this.program.written.out.trim();
  }

  async read(path: string): Promise<AnsweredJson> {
    this.#asks ??= this.address().then(askingAt);
    const answer = await (await this.#asks)(path);
    return { status: answer.status, body: await answer.json() };
  }

  /** Ctrl-C. @returns the exit status */
  end(): Promise<number> {
    this.program.interrupt();
    return this.running;
  }
}

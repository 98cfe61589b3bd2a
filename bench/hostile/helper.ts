import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A process of its own, which does as it is told. */
export class Helper {
  readonly #child: ChildProcess;

  constructor(program: string, before: readonly string[], job: object) {
    const [file = '', ...args] = [...before, process.execPath, program, JSON.stringify(job)];
    this.#child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    running.add(this.#child);
  }

  async ask<Answer>(order: object | string): Promise<Answer> {
    const answered = once(this.#child, 'message');
    const ended = once(this.#child, 'exit').then(() => {
      throw new Error(`${this.#child.spawnargs.join(' ')} ended`);
    });
    ended.catch(() => undefined);
    this.#child.send(order);
    const [answer] = (await Promise.race([answered, ended])) as [Answer];
    return answer;
  }

  stop(): void {
    running.delete(this.#child);
    this.#child.kill('SIGKILL');
  }
}

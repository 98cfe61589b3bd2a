import { spawn, type ChildProcess } from 'node:child_process';

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A process of its own, which does as it is told. */
export class Helper {
  readonly #child: ChildProcess;
  #answered = nextAnswer();

  constructor(program: string, before: readonly string[], job: object) {
    const [file = '', ...args] = [...before, process.execPath, program, JSON.stringify(job)];
    this.#child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    running.add(this.#child);
    this.#child.on('message', (answer) => this.#answered.resolve(answer));
    this.#child.on('error', (error) => this.#answered.reject(error));
    this.#child.once('exit', () =>
      this.#answered.reject(new Error(`${this.#child.spawnargs.join(' ')} ended`)),
    );
  }

  /** One at a time. */
  async ask<Answer>(order: object | string): Promise<Answer> {
    const { exitCode, signalCode, spawnargs } = this.#child;
    if (exitCode !== null || signalCode !== null) throw new Error(`${spawnargs.join(' ')} ended`);
    this.#answered = nextAnswer();
    this.#child.send(order);
    return (await this.#answered.promise) as Answer;
  }

  stop(): void {
    running.delete(this.#child);
    this.#child.kill('SIGKILL');
  }
}

function nextAnswer(): PromiseWithResolvers<unknown> {
  const answer = Promise.withResolvers<unknown>();
  // It may end before anybody asks, or after.
  answer.promise.catch(() => undefined);
  return answer;
}

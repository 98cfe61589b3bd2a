/**
 * Thrown by a verb that has said all it has to say and ends with this exit code: `review` when something is
 * denied, for one. Nothing is printed for it, unlike for a MusterError. (commander throws away what an action
 * returns, so a code cannot be handed back.)
 */
export class ExitStatus extends Error {
  readonly exitCode: 0 | 1 | 2 | 3 | 4;

  constructor(exitCode: 0 | 1 | 2 | 3 | 4) {
    super(`exit status ${exitCode}`);
    this.name = 'ExitStatus';
    this.exitCode = exitCode;
  }
}

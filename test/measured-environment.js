import { appendFileSync, readFileSync } from 'node:fs';
import { TestEnvironment } from 'jest-environment-node';

/**
 * Seconds of processor time that this process has used, and those children of it that have ended; zero where the kernel
 * does not tell it like Linux.
 */
function used() {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    const [user, system, usersOfChildren, systemsOfChildren] = fields.slice(11, 15).map(Number);
    const TICKS = 100;
    return { own: (user + system) / TICKS, children: (usersOfChildren + systemsOfChildren) / TICKS };
  } catch {
    return { own: 0, children: 0 };
  }
}

/** Limits of tests only end what hangs: a machine whose disk stands still has this many times as long. */
const PATIENCE = 2;

/** Jest's environment of Node, which notes what each file has cost: how long it waited says little of that. */
export default class MeasuredEnvironment extends TestEnvironment {
  #before = used();
  #path;

  constructor(config, context) {
    super(config, context);
    this.#path = context.testPath;
  }

  handleTestEvent({ name }, state) {
    if (name !== 'run_start') return;
    const stretch = ({ hooks, tests, children }) => {
      for (const one of [...hooks, ...tests]) if (one.timeout !== undefined) one.timeout *= PATIENCE;
      for (const block of children) if (block.type === 'describeBlock') stretch(block);
    };
    stretch(state.rootDescribeBlock);
    state.testTimeout *= PATIENCE;
  }

  async teardown() {
    await super.teardown();
    const into = process.env['TESTING_MUSTER_COSTS'];
    if (into === undefined) return;
    const now = used();
    const cost = {
      path: this.#path,
      own: now.own - this.#before.own,
      children: now.children - this.#before.children,
    };
    appendFileSync(into, `${JSON.stringify(cost)}\n`);
  }
}

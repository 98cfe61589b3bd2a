/** The program of the process that a module runs in. */
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { messageOf } from '../errors.ts';
import { ModuleHost } from './module-host.ts';
import { Lines, type FromModule, type ToModule } from './wire.ts';

/** Where Muster listens, by the number of the file that it opened for this process. */
const wire = new Socket({ fd: 3, readable: true, writable: true });
const say = (message: FromModule, then?: () => void): void => {
  wire.write(`${JSON.stringify(message)}\n`, then);
};

// What nobody caught ends the process, and says so first.
process.on('uncaughtException', (thrown) => {
  const reason = `it threw "${messageOf(thrown)}" where nobody could catch it`;
  const last: FromModule = { what: 'last', reason };
  try {
    // Not through the socket, which would still hold it when the process is gone.
    writeSync(3, `${JSON.stringify(last)}\n`);
  } catch {
    say(last, () => process.exit(1));
    return;
  }
  process.exit(1);
});
// A loop without an end keeps this thread from noticing that Muster is gone; this one looks at nothing else. It is the only
// thread there will ever be. Whose child it is, Muster says: it may be gone before anything here has run.
const parentCheck = `const muster = ${Number(process.argv[2])};
setInterval(() => process.ppid === muster || process.kill(process.pid, 'SIGKILL'), 500);`;
new Worker(parentCheck, { eval: true, env: {}, resourceLimits: { maxOldGenerationSizeMb: 8 } }).unref();
process.permission.drop('worker');
// It is of no use without Muster.
wire.on('close', () => process.exit());

const calls = new ModuleHost(say);
const lines = new Lines(
  Infinity,
  (line) => calls.take(JSON.parse(line) as ToModule),
  () => undefined,
);
wire.setEncoding('utf8').on('data', (text: string) => lines.push(text));

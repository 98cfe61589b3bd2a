/** The program of the process that a module runs in. */
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { messageOf } from '../errors.ts';
import { ModuleHost } from './module-host.ts';
import { Lines, type FromModule, type ToModule } from './wire.ts';

/** The socket to Muster, by the number of the file descriptor that Muster opened for this process. */
const wire = new Socket({ fd: 3, readable: true, writable: true });
const say = (message: FromModule, then?: () => void): void => {
  wire.write(`${JSON.stringify(message)}\n`, then);
};

// Reports an uncaught error to Muster before the process exits.
process.on('uncaughtException', (thrown) => {
  const reason = `it threw "${messageOf(thrown)}" where nobody could catch it`;
  const last: FromModule = { what: 'last', reason };
  try {
    // Written synchronously: the socket would still buffer the message when the process exits.
    writeSync(3, `${JSON.stringify(last)}\n`);
  } catch {
    say(last, () => process.exit(1));
    return;
  }
  process.exit(1);
});
// This worker ends the process when Muster has exited, also while a module's endless loop blocks the main thread. The
// permission to start threads is dropped right after it. Muster passes its own process id, since it may exit before this
// code reads its parent's.
const parentCheck = `const muster = ${Number(process.argv[2])};
setInterval(() => process.ppid === muster || process.kill(process.pid, 'SIGKILL'), 500);`;
new Worker(parentCheck, { eval: true, env: {}, resourceLimits: { maxOldGenerationSizeMb: 8 } }).unref();
process.permission.drop('worker');
// The process exits with Muster, when the socket closes.
wire.on('close', () => process.exit());

const calls = new ModuleHost(say);
const lines = new Lines(
  Infinity,
  (line) => calls.take(JSON.parse(line) as ToModule),
  () => undefined,
);
wire.setEncoding('utf8').on('data', (text: string) => lines.push(text));

import { Command } from 'commander';
import { messageOf } from '../src/errors.ts';
import { clusterDemo } from './cluster.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { admitLoop } from './life.ts';
import { Narrator } from './narrator.ts';
import { offlineDemo } from './offline.ts';
import { startServing } from './serving.ts';
import { ExitStatus } from '../src/cli/output/exit-status.ts';
import type { CliIo } from '../src/cli/output/io.ts';

const EXAMPLE = `
Examples:
  $ npm run demo                 a real etcd, kube-apiserver and kube-scheduler; built with Go the first time, about five minutes
  $ npm run demo -- --keep       leaves it running until Ctrl-C, for your own kubectl
  $ npm run demo -- --offline    the real HTTPS server, and reviews sent to it directly`;

/** `muster demo`: what Muster does, shown on a real API server. Exit code 1 when something was not as claimed. */
export const demoCommand = (io: CliIo): Command =>
  new Command('demo')
    .description('watch a real API server send reviews to Muster')
    .option('--keep', 'leave the cluster and Muster running until Ctrl-C')
    .option('--offline', 'without a control plane')
    .addHelpText('after', EXAMPLE)
    .action((flags: { keep?: boolean; offline?: boolean }) => demo(flags, io));

async function demo(flags: { keep?: boolean; offline?: boolean }, io: CliIo): Promise<void> {
  const tell = new Narrator(io);
  const plane = flags.offline === true ? undefined : await planeOrWhyNot(io);
  const serving = await startServing({
    now: io.now(),
    ...(plane === undefined ? {} : { kubeconfig: await admitLoop(plane) }),
  });
  try {
    if (plane === undefined) await offlineDemo(serving, tell);
    else await clusterDemo(plane, serving, tell);
    if (plane !== undefined && flags.keep === true) {
      io.stdout(`\nThe API server runs on until Ctrl-C:\n  export KUBECONFIG=${plane.kubeconfig}\n`);
      await interrupted();
    }
  } finally {
    await serving.close();
    await plane?.stop();
  }
  const { surprises } = tell;
  io.stdout(
    surprises.length === 0
      ? '\nAll of it was as claimed.\n'
      : `\n${surprises.length} not as claimed: ${surprises.join('; ')}\n`,
  );
  if (surprises.length > 0) throw new ExitStatus(1);
}

/** The control plane, or undefined after saying why there is none. */
async function planeOrWhyNot(io: CliIo): Promise<ControlPlane | undefined> {
  io.stdout('Starting a real etcd, kube-apiserver and kube-scheduler …\n');
  try {
    return await startControlPlane((line) => io.stdout(`  ${line}\n`));
  } catch (thrown) {
    io.stdout(`No control plane here: ${messageOf(thrown)}\nGoing on without one, as with --offline.\n`);
    return undefined;
  }
}

const interrupted = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/cli/version.ts';
import type { CliIo } from '../src/cli/output/io.ts';
import { messageOf } from '../src/errors.ts';
import type { ControlPlane } from '../test/cluster/control-plane/control-plane.ts';
import { programsOf, startControlPlane } from '../test/cluster/control-plane/start.ts';
import { FLEET_SETTINGS, fleetScenes } from './fleet.ts';
import { gangLife } from './gang-life.ts';
import { hpcDemo } from './hpc.ts';
import { admitLoop, install } from './install.ts';
import { mistakesRefused, protectedThings } from './kept.ts';
import { musterDown } from './muster-down.ts';
import { firstGangs } from './living-gangs.ts';
import { Narrator } from './narrator.ts';
import { offlineDemo } from './offline.ts';
import { onDashboard } from './on-dashboard.ts';
import { otherScheduler } from './other-scheduler.ts';
import { plainWorkloads } from './plain-workloads.ts';
import { startServing } from './serving.ts';
import { Stage } from './stage.ts';
import { whileBuilding } from './while-building.ts';

export interface DemoOptions {
  readonly keep: boolean;
  readonly offline: boolean;
  readonly hpc: boolean;
  readonly fleet: boolean;
  readonly dashboard: boolean;
  readonly source: boolean;
}

/** @returns whether all of it was as claimed */
export async function demo(options: DemoOptions, io: CliIo): Promise<boolean> {
  const main = program(options);
  const tell = new Narrator(io);
  if (options.hpc) {
    await hpcDemo(main, tell);
    return asClaimed(tell, io);
  }
  let shown: Promise<void> | undefined;
  const offline = (): Promise<void> => (shown ??= withoutPlane(main, tell, io));
  const plane = options.offline ? undefined : await planeOrWhyNot(options, io, offline);
  if (plane === undefined) await offline();
  else await onPlane(plane, options, main, tell, io);
  const good = asClaimed(tell, io);
  if (plane !== undefined && !options.fleet && !options.dashboard)
    io.stdout('npm run demo -- --dashboard shows gangs that live, on a page.\n');
  return good;
}

async function withoutPlane(main: string, tell: Narrator, io: CliIo): Promise<void> {
  const serving = await startServing({ now: io.now(), main });
  try {
    await offlineDemo(serving, tell);
  } finally {
    await serving.close();
  }
}

async function onPlane(
  plane: ControlPlane,
  options: DemoOptions,
  main: string,
  tell: Narrator,
  io: CliIo,
): Promise<void> {
  try {
    const serving = await startServing({
      ...{ now: io.now(), main, kubeconfig: await admitLoop(plane) },
      ...(options.fleet && { settings: FLEET_SETTINGS }),
    });
    try {
      const stage = new Stage(plane, serving, tell, main);
      for (const scene of scenes(options)) {
        await scene(stage);
      }
      if (options.dashboard) await onDashboard(stage, main, io);
      else if (options.keep) {
        io.stdout(`\nIt runs on until Ctrl-C:\n  export KUBECONFIG=${plane.kubeconfig}\n`);
        await interrupted();
      }
    } finally {
      await serving.close();
    }
  } finally {
    await plane.stop();
  }
}

const scenes = ({ fleet, keep, dashboard }: DemoOptions): readonly ((stage: Stage) => Promise<void>)[] =>
  fleet
    ? fleetScenes
    : dashboard
      ? [install, firstGangs]
      : [
          ...[install, gangLife, mistakesRefused, protectedThings, plainWorkloads, otherScheduler],
          // With --keep Muster goes on, for whoever wants to try something.
          ...(keep ? [] : [musterDown]),
        ];

function asClaimed({ surprises }: Narrator, io: CliIo): boolean {
  io.stdout(
    surprises.length === 0
      ? '\nAll of it was as claimed.\n'
      : `\n${surprises.length} not as claimed: ${surprises.join('; ')}\n`,
  );
  return surprises.length === 0;
}

/** The file that is Muster: what ships, or its source. */
function program({ source }: DemoOptions): string {
  const root = packageRoot() ?? '';
  const file = join(root, ...(source ? ['src', 'main.ts'] : ['dist', 'src', 'main.js']));
  if (!existsSync(file)) throw new Error(`${file} is not there: run "npm run build", or give --source`);
  return file;
}

/** The control plane, or undefined after saying why there is none. `offline` is shown while its programs are built. */
async function planeOrWhyNot(
  { fleet }: DemoOptions,
  io: CliIo,
  offline: () => Promise<void>,
): Promise<ControlPlane | undefined> {
  // In Karmada's API server nothing runs, so nobody has to schedule it.
  const controllers = fleet ? '' : ', kube-scheduler and kube-controller-manager';
  io.stdout(`Starting a real etcd${fleet ? ' and' : ','} kube-apiserver${controllers} …\n`);
  const parts = { scheduler: !fleet, controllerManager: !fleet };
  const log = (line: string): void => io.stdout(`  ${line}\n`);
  let next = 'Going on without one, as with --offline.';
  try {
    await whileBuilding(programsOf(parts), log, async () => {
      io.stdout('They are built first, with Go, once. Meanwhile what there is to see without them:\n');
      await offline();
      io.stdout('\nThe build goes on:\n');
      next = 'All there is to see without one is above.';
    });
    return await startControlPlane({ ...parts, build: false, log });
  } catch (thrown) {
    io.stdout(`No control plane here: ${messageOf(thrown)}\n${next}\n`);
    return undefined;
  }
}

const interrupted = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });

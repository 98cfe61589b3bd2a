import { Command, InvalidArgumentError } from 'commander';
import type { OperatorConfiguration } from '../../config/configuration.ts';
import type { GangView } from '../../controller/watch/gang-view.ts';
import { startDashboard } from '../../dashboard/dashboard-server.ts';
import { LiveGangs } from '../../dashboard/live-gangs.ts';
import { systemClock } from '../../kube/client/clock.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { follow } from '../../status/follow.ts';
import { gatedGpus, podGpus } from '../../status/top.ts';
import { verbConfiguration } from '../input/configured.ts';
import { connect } from '../input/shared-options.ts';
import type { CliIo } from '../output/io.ts';
import { configuredJudge } from '../status/configured-judge.ts';
import { dashboardAnswers } from './dashboard-answers.ts';
import { checkInCluster, dashboardInCluster, type InClusterFlags } from './in-cluster.ts';
import { sharedAnswer } from './shared-answer.ts';

interface DashboardFlags extends InClusterFlags {
  readonly namespace?: string;
  readonly port?: number;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly config?: string | undefined;
}

const EXAMPLE = `
Examples:
  $ muster dashboard              every gang that you may read; prints the address to open
  $ muster dashboard -n team      those of one namespace, for whoever may not list all
  $ muster dashboard --in-cluster --cert-dir certs --host gangs.example.com
                                in a Pod, for all users of the cluster

It listens on 127.0.0.1 alone, reads with the rights of your kubeconfig, and changes nothing. The
address works once: its token becomes a cookie of the browser that opens it first. The page follows
the cluster until Ctrl-C. Its JSON is for programs, too, such as a plugin of Headlamp: /api/v1/gangs,
with ?watch=true its changes, /api/v1/gangs/NAMESPACE/NAME, there /plan with what muster plan says
now (?variant= as its --variant, ?minimum=worker=4 to try another minReplicas), /api/v1/queues,
/api/v1/fleet and /api/v1/backends. Within v1 fields are added, never changed; a program ignores
those that it does not know.

With --in-cluster it listens on every address, and each user sees what the API server lets him see.
A program sends its token in the header Authorization; a browser signs in with one, such as that of
kubectl create token, and gets a cookie for 8 hours at most. The list has the namespaces in which the
user may list pods and podgangs, looked at again within 30 s; all else is read with the user's token.
Its own account takes the rights to list and watch pods and podgangs, and namespaces where the
configuration selects them. Only names given with --host are answered.`;

/** `muster dashboard`: serves a page with the gangs of a cluster to a browser of this machine. */
export const dashboardCommand = (io: CliIo): Command =>
  new Command('dashboard')
    .description('show the gangs of a cluster on a page of this machine, live and read only')
    .option('-n, --namespace <name>', 'where to look (default: everywhere)')
    .option('--port <number>', 'port; 0 is any free one (default: 0, with --in-cluster 8443)', portOf)
    .option('--kubeconfig <file>', 'how to reach the cluster (default: as kubectl)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option(
      '--config <file>',
      'OperatorConfiguration: which scheduler serves gangs that name none, and where a fleet’s queues are',
    )
    .option('--in-cluster', 'serve every user of the cluster, each with the rights of his own token')
    .option(
      '--host <name...>',
      'with --in-cluster: what browsers have in their address (default: localhost:8443)',
    )
    .option('--cert-dir <folder>', 'with --in-cluster: tls.crt and tls.key, read again when they change')
    .option('--behind-tls-proxy', 'with --in-cluster: no TLS, since a proxy in front of it ends it')
    .addHelpText('after', EXAMPLE)
    .action((flags: DashboardFlags) => dashboard(flags, io));

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is a number up to 65535.');
}

async function dashboard(flags: DashboardFlags, io: CliIo): Promise<void> {
  checkInCluster(flags);
  const { namespace, port, config, kubeconfig, context } = flags;
  const cluster = { kubeconfig, context };
  const judge = await configuredJudge(config, io);
  const { client } = await connect(cluster, io);
  const enough = new AbortController();
  const silence = io.onEnough?.((why) => enough.abort(why));
  let view: GangView | undefined;
  const live = new LiveGangs((gang) => (view === undefined ? 0 : gatedGpus(gang, view)));
  io.stderr('reading the gangs of the cluster …\n');
  const followed = follow(
    { gang: undefined, namespace },
    {
      ...judge,
      ...{ client, show: live, clock: systemClock, signal: enough.signal },
      viewed: (seen) => (view = seen),
      gpusOf: podGpus,
    },
  );
  const shown = { live, judge, io, view: () => view };
  try {
    // Whoever may not read is told so in the terminal, and gets no address.
    await Promise.race([live.whenKnown(), followed]);
    if (enough.signal.aborted) return;
    if (flags.inCluster === true) return await dashboardInCluster(flags, { ...shown, until: followed });
    const answers = dashboardAnswers({
      ...shown,
      asUser: (ask) => ask(client),
      ofFleet: (ask) => ofFleet({ client, config, ...cluster }, io, ask),
    });
    // Each lists all bindings of the fleet, and whoever opens pages here has the same rights in all of them.
    const queues = sharedAnswer(answers.queues, io);
    const fleet = sharedAnswer(answers.fleet, io);
    const server = await startDashboard({ live, ...answers, queues, fleet }, port ?? 0);
    try {
      io.stdout(`${server.address}\n`);
      io.stderr('open it in a browser of this machine: it works once; Ctrl-C ends the dashboard\n');
      await followed;
    } finally {
      await server.close();
    }
  } finally {
    enough.abort();
    await followed.catch(() => undefined);
    silence?.();
    await client.close();
  }
}

/** Asks the fleet's API server, where the configuration names one, else the cluster's. */
async function ofFleet<T>(
  {
    client,
    config,
    ...cluster
  }: Pick<DashboardFlags, 'config' | 'kubeconfig' | 'context'> & { client: KubeClient },
  io: CliIo,
  ask: (asked: KubeClient, settings: OperatorConfiguration['fleet']) => Promise<T>,
): Promise<T> {
  const { fleet } = verbConfiguration({ file: config, env: io.env }).configuration;
  const elsewhere = cluster.kubeconfig === undefined && fleet.kubeconfig !== undefined;
  const asked = elsewhere ? (await connect({ ...cluster, kubeconfig: fleet.kubeconfig }, io)).client : client;
  try {
    return await ask(asked, fleet);
  } finally {
    if (elsewhere) await asked.close();
  }
}

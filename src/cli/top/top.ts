import { Command, Option } from 'commander';
import { readTop, topFrom, type TopReading } from '../../status/read-top.ts';
import { topOrdered, topTotals, TOP_ORDERS, type TopOrder } from '../../status/top.ts';
import { connect, outputOption, type ClusterFlags } from '../input/shared-options.ts';
import type { CliIo } from '../output/io.ts';
import { paletteFor } from '../output/palette.ts';
import { widthFor } from '../output/text-layout.ts';
import { wholeObjectsOf } from '../plan/plan-objects.ts';
import { configuredJudge } from '../status/configured-judge.ts';
import { topJson, topText } from './render.ts';

interface TopFlags extends ClusterFlags {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly by: TopOrder;
  readonly output: 'text' | 'json';
  readonly filename?: readonly string[];
  readonly config?: string;
}

const EXAMPLES = `
Examples:
  $ muster top -A                 who waits longest
  $ muster top -A --by resources  who holds back most
  $ muster top -A -o json | jq .totals.gpusIdleBecauseOfGates
  $ kubectl get podgangs,pods,nodes -A -o json > cluster.json
  $ muster top -f cluster.json

"asked for by gated Pods" sums what Pods with Muster's gate request: extended resources that end in
/gpu, cpu and memory. Pods that end, have failed, or are above the number that their gang expects
do not count. A gated Pod holds no node, so what it asks for need not be idle. "free on nodes now"
is what nodes that take Pods have left beside the requests of their Pods, and "idle because of
gates" is of each resource the lesser of both: the most that gates can keep idle, since what is free
may be in pieces, on nodes that the Pods may not use, or wanted by others. Both take the right to
list nodes, and Pods in all namespaces; without it they are left out, and that is said. Where no Pod
is gated nodes are not read. A file has to hold all Pods of its nodes; one of muster snapshot, which
leaves gates out, is refused.

It counts a gang once, by the first that it lacks: a PodGang, Pods, to be Initialized, to be let go
(gates), a node (the scheduler), to be Ready. FOR has the words of muster status. A gang waits from
its creation until it is Initialized, and later since the first of its waiting Pods was created or
stopped being Ready. Exit code 0, also where no gang waits.`;

/** `muster top`: prints the gangs that wait, and what their gated Pods ask for. */
export const topCommand = (io: CliIo): Command =>
  new Command('top')
    .description('show which gangs wait longest, for what, and what their gates hold back')
    .option('-n, --namespace <name>', 'where to look (default: that of the kubeconfig’s context)')
    .option('-A, --all-namespaces', 'look everywhere')
    .addOption(new Option('--by <order>', 'what comes first').choices(TOP_ORDERS).default('time'))
    .addOption(outputOption())
    .option(
      '-f, --filename <file...>',
      'what kubectl get printed, in place of a cluster; - is standard input',
    )
    .option('--kubeconfig <file>', 'how to reach the cluster (default: as kubectl)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--config <file>', 'OperatorConfiguration: which scheduler serves gangs that name none')
    .addHelpText('after', EXAMPLES)
    .action((flags: TopFlags) => top(flags, io));

async function top(flags: TopFlags, io: CliIo): Promise<void> {
  const { gangs: all, free, unknown } = await reading(flags, io);
  const gangs = topOrdered(all, flags.by);
  const found = { gangs, totals: topTotals(gangs, free), unknown };
  if (flags.output === 'json') return void io.stdout(`${JSON.stringify(topJson(found), null, 2)}\n`);
  const look = { palette: paletteFor('auto', io), width: widthFor(io), now: io.now().getTime() };
  io.stdout(topText(found, look));
}

async function reading(flags: TopFlags, io: CliIo): Promise<TopReading> {
  const judge = await configuredJudge(flags.config, io);
  if (flags.filename !== undefined)
    return topFrom(await wholeObjectsOf(flags.filename, io), flags.namespace, judge);
  const { client, namespace } = await connect(flags, io);
  try {
    return await readTop(
      client,
      flags.allNamespaces === true ? undefined : (flags.namespace ?? namespace),
      judge,
    );
  } finally {
    await client.close();
  }
}

import type { Show } from '../../status/moment.ts';
import { Command, Option } from 'commander';
import { MusterError } from '../../errors.ts';
import { systemClock } from '../../kube/client/clock.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { connect, outputOption } from '../input/shared-options.ts';
import { verbConfiguration } from '../input/configured.ts';
import { ExitStatus, type CliIo } from '../output/io.ts';
import { paletteFor } from '../output/palette.ts';
import { appendJson, appendText } from './changes.ts';
import { fleetText } from './fleet.ts';
import { fleetStatus } from '../../status/fleet-status.ts';
import { refused, unknownGang, readView } from '../../status/read-status.ts';
import { follow } from '../../status/follow.ts';
import { gangKeys, gangStatus } from '../../status/gang-status.ts';
import { configuredJudge, type ConfiguredJudge } from './configured-judge.ts';
import { hpcOf } from '../../status/brokers.ts';
import { liveScreen, type Beneath } from './live-screen.ts';
import { LiveTimeline } from './live-timeline.ts';
import { roomLine } from './room.ts';
import { painted } from './table.ts';
import { bodyLines, UNBOUNDED } from './view.ts';
import { namespaceText, type Question } from '../../status/moment.ts';

interface StatusFlags {
  namespace?: string;
  allNamespaces?: boolean;
  watch?: boolean;
  fleet?: boolean;
  output: 'text' | 'json';
  kubeconfig?: string;
  context?: string;
  config?: string;
}

const EXAMPLE = `
Examples:
  $ muster status -A              every gang of the cluster
  $ muster status train -n team   one gang: its groups and Pods, and why each of them waits
  $ muster status -n team -w      live, until Ctrl-C
  $ muster status --fleet         who waits in which queue of a fleet, at which position, and why
  $ muster status -w -o json | jq 'select(.gang.summary.phase == "Running").gang.name'

It reads Pods and PodGangs and judges them as the loop does; it needs no running Muster. Of one gang
that names an HPCPolicy it reads that, too, and says which broker of Flux leads and which ones it
waits for. Exit code 1 where the gang that was asked for does not exist.`;

/** `muster status`: prints gangs and Pods, and why they do not move. */
export const statusCommand = (io: CliIo): Command =>
  new Command('status')
    .description('show the gangs of a cluster, and why one is not moving')
    .argument('[gang]', 'name of a PodGang')
    .option('-n, --namespace <name>', 'where to look (default: that of the kubeconfig’s context)')
    .option('-A, --all-namespaces', 'look everywhere')
    .option('-w, --watch', 'go on showing what changes, until Ctrl-C')
    .addOption(
      new Option(
        '--fleet',
        'the queues of a fleet instead, on Karmada’s API server (default: fleet.kubeconfig of --config)',
      ).conflicts(['namespace', 'allNamespaces', 'watch']),
    )
    .addOption(outputOption())
    .option('--kubeconfig <file>', 'how to reach the cluster (default: as kubectl)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option(
      '--config <file>',
      'OperatorConfiguration: which scheduler serves gangs that name none, and whose Pods are never evicted',
    )
    .addHelpText('after', EXAMPLE)
    .action((gang: string | undefined, flags: StatusFlags) => status(gang, flags, io));

async function status(gang: string | undefined, flags: StatusFlags, io: CliIo): Promise<void> {
  if (flags.fleet === true) {
    if (gang !== undefined)
      throw new MusterError(
        'USAGE',
        '--fleet shows all queues of a fleet, not one gang',
        `leave out ${gang}`,
      );
    await fleet(flags, io);
    return;
  }
  const judge = await configuredJudge(flags.config, io);
  const { client, namespace } = await connect(flags, io);
  const question: Question = {
    gang,
    namespace: flags.allNamespaces === true ? undefined : (flags.namespace ?? namespace),
  };
  try {
    if (flags.watch === true) await watch(question, { ...judge, client, json: flags.output === 'json' }, io);
    else await once(question, { ...judge, client, json: flags.output === 'json' }, io);
  } finally {
    await client.close();
  }
}

async function fleet({ config, output, kubeconfig, context }: StatusFlags, io: CliIo): Promise<void> {
  const { configuration } = verbConfiguration({ file: config, env: io.env });
  // The fleet's kubeconfig of the configuration leads to Karmada's API server.
  const { client } = await connect({ kubeconfig: kubeconfig ?? configuration.fleet.kubeconfig, context }, io);
  try {
    const now = io.now();
    const found = await fleetStatus(client, now, configuration.fleet.queues.reserveAfter);
    io.stdout(
      output === 'json'
        ? `${JSON.stringify(found, null, 2)}\n`
        : fleetText(found, paletteFor('auto', io), now.getTime()),
    );
  } finally {
    await client.close();
  }
}

type Given = ConfiguredJudge & { readonly client: KubeClient; readonly json: boolean };

async function once(question: Question, { client, json, ...given }: Given, io: CliIo): Promise<void> {
  const { selectors, gangKinds } = given;
  const view = await readView(client, question.namespace, selectors, gangKinds).catch((error: unknown) => {
    throw refused(error, question);
  });
  const keys = gangKeys(view);
  const gangs = await Promise.all(
    keys
      .filter(({ name }) => question.gang === undefined || question.gang === name)
      .map(async ({ namespace, name }) => {
        const told = gangStatus(namespace, name, { ...given, view });
        if (question.gang === undefined) return told;
        const plan = await roomLine(client, view, { namespace, name }, given.exemptNamespaces);
        const hpc = await hpcOf(client, view, told);
        return { ...told, ...(plan !== undefined && { plan }), ...(hpc !== undefined && { hpc }) };
      }),
  );
  if (question.gang !== undefined && gangs.length === 0) {
    const known = keys.map(({ name }) => name);
    throw unknownGang({ ...question, gang: question.gang }, known);
  }
  if (json) {
    io.stdout(`${JSON.stringify({ gangs }, null, 2)}\n`);
  } else if (gangs.length === 0) {
    io.stderr(`no gangs ${namespaceText(question)}\n`);
  } else {
    const palette = paletteFor('auto', io);
    const moment = { question, gangs, trouble: undefined, now: io.now().getTime() };
    const lines = bodyLines(moment, io.terminal?.size().columns ?? UNBOUNDED);
    io.stdout(lines.map((line) => `${painted(line, palette)}\n`).join(''));
  }
  if (question.gang !== undefined && !gangs.some(({ summary }) => summary !== undefined))
    throw new ExitStatus(1);
}

async function watch(question: Question, { json, ...given }: Given, io: CliIo): Promise<void> {
  const enough = new AbortController();
  const silence = io.onEnough?.((why) => enough.abort(why));
  try {
    const { terminal } = io;
    const timeline = new LiveTimeline({ ...given, clock: systemClock });
    await follow(question, {
      ...given,
      show: showFor(json, io, question.gang === undefined ? undefined : timeline.beneath),
      clock: systemClock,
      signal: enough.signal,
      hurry: (soon) => {
        timeline.onRead(soon);
        return terminal?.onResize(soon) ?? (() => undefined);
      },
    });
  } finally {
    silence?.();
  }
}

function showFor(json: boolean, io: CliIo, beneath: Beneath | undefined): Show {
  if (json) return appendJson(io);
  const palette = paletteFor('auto', io);
  return io.terminal === undefined || io.env['TERM'] === 'dumb'
    ? appendText(io, palette)
    : liveScreen(io, io.terminal, palette, beneath);
}

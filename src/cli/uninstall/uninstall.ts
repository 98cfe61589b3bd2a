import { Command, InvalidArgumentError, Option } from 'commander';
import { MUSTER_NAMESPACE } from '../../api/names.ts';
import { MusterError } from '../../errors.ts';
import { quotedForShell } from '../doctor/diagnosis.ts';
import { connect } from '../input/shared-options.ts';
import { ExitStatus, type CliIo } from '../output/io.ts';
import { carryOutStep } from './carry-out.ts';
import type { Where } from './read.ts';
import { writeCounts, script } from './render.ts';
import { keptDefinitions, STEP_NAMES, STEPS, type UninstallStep } from './steps.ts';
import { findUnbound } from './waiting.ts';
import type { StepWork } from './write.ts';

interface UninstallFlags {
  kubeconfig?: string;
  context?: string;
  namespace: string;
  dryRun?: true;
  yes?: true;
  definitions?: true;
  until: UninstallStep['name'];
  settle: number;
}

const GONE_MS = 300_000;

const EXAMPLE = `
Examples:
  $ muster uninstall --dry-run
  $ muster uninstall
  $ muster uninstall --yes --definitions

It takes away what kustomize, install.yaml or the chart installed, in an order in which no Pod is refused and none waits
for ever, with the rights of the kubeconfig. Definitions stay, and with them PodGangs and the schedulers’ objects, unless
--definitions. Interrupted, it goes on where it was when it is run again. Pods that run are not touched.`;

/** `muster uninstall`: removes an installation in an order that costs no Pod. */
export const uninstallCommand = (io: CliIo): Command =>
  new Command('uninstall')
    .description('take an installation away, in an order that leaves no Pod waiting and refuses none')
    .option('--dry-run', 'print the order, its reasons and the commands for a shell; none is run')
    .option('--yes', 'do not ask')
    .option('--definitions', 'also delete the definitions, and with them every PodGang')
    .addOption(new Option('--until <step>', 'stop after this step').choices(STEP_NAMES).default('objects'))
    .option('--settle <seconds>', 'how long API servers may take to notice a deletion', secondsOf, 5)
    .option('--kubeconfig <file>', 'how to reach the cluster (default: as kubectl)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('-n, --namespace <name>', 'where Muster runs', MUSTER_NAMESPACE)
    .addHelpText('after', EXAMPLE)
    .action((flags: UninstallFlags) => uninstall(flags, io));

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds >= 0 && seconds <= 600) return seconds;
  throw new InvalidArgumentError('It is a number of seconds from 0 to 600.');
}

const stepsUntil = ({ until, definitions }: UninstallFlags): readonly UninstallStep[] =>
  STEPS.slice(0, STEP_NAMES.indexOf(definitions === true ? 'definitions' : until) + 1);

async function uninstall(flags: UninstallFlags, io: CliIo): Promise<void> {
  const steps = stepsUntil(flags);
  const { client } = await connect(flags, io);
  try {
    const where: Where = { client, namespace: flags.namespace };
    if (flags.yes !== true || flags.dryRun === true) {
      const found = await Promise.all(steps.map(async (step) => ({ step, ...(await step.find(where)) })));
      if (flags.dryRun === true) {
        io.stdout(script(found, kubectlFlags(flags), flags.settle));
        io.stdout(staysText(await allThatStays(found, steps, where), '# '));
        return;
      }
      if (!(await agreed(found, client.server, io))) {
        io.stdout('nothing was done\n');
        throw new ExitStatus(1);
      }
    }
    const done: StepWork[] = [];
    for (const step of steps) {
      const made = await carryOutStep(step, where, { settleMs: flags.settle * 1000, goneMs: GONE_MS });
      io.stdout(`${step.name}: ${writeCounts(made)}\n`);
      done.push(made);
    }
    io.stdout(staysText(await allThatStays(done, steps, where), ''));
  } finally {
    await client.close();
  }
}

/** @throws MusterError USAGE where there is nobody to ask */
async function agreed(
  found: readonly (StepWork & { readonly step: UninstallStep })[],
  server: string,
  io: CliIo,
): Promise<boolean> {
  io.stdout(`${server}\n`);
  for (const one of found) io.stdout(`  ${one.step.name}: ${writeCounts(one)}\n    ${one.step.why}\n`);
  if (io.ask === undefined)
    throw new MusterError(
      'USAGE',
      'standard input is no terminal, so nobody can be asked',
      'Look at what --dry-run prints, then give --yes.',
    );
  return /^y(es)?$/i.test((await io.ask('Take it away? [y/N] ')).trim());
}

const kubectlFlags = ({ kubeconfig, context }: UninstallFlags): string =>
  [
    ...(kubeconfig === undefined ? [] : [`--kubeconfig ${quotedForShell(kubeconfig)} `]),
    ...(context === undefined ? [] : [`--context ${quotedForShell(context)} `]),
  ].join('');

async function allThatStays(
  found: readonly StepWork[],
  steps: readonly UninstallStep[],
  where: Where,
): Promise<readonly string[]> {
  const last = steps.at(-1)?.name;
  const kept = last === 'objects' ? await keptDefinitions(where) : [];
  const unbound = STEP_NAMES.indexOf(last ?? 'refusals') >= STEP_NAMES.indexOf('gates');
  return [...found.flatMap(({ stays }) => stays), ...(unbound ? await findUnbound(where) : []), ...kept];
}

const staysText = (stays: readonly string[], lead: string): string =>
  stays.map((one) => `${lead}stays: ${one}\n`).join('');

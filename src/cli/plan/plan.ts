import { Command, Option } from 'commander';
import type { JsonObject } from '../../json/json.ts';
import { printable } from '../../text/printable.ts';
import { MusterError } from '../../errors.ts';
import { outcomeOf } from '../../preemption/outcome.ts';
import { planWithinBudgets } from '../../preemption/plan-within-budgets.ts';
import { VARIANTS, type Variant } from '../../preemption/variants.ts';
import { verbConfiguration } from '../input/configured.ts';
import { neverEvictedFrom } from '../input/policy.ts';
import { colorOption, filenameOption, namespaceOption, outputOption } from '../input/shared-options.ts';
import { ExitStatus, type CliIo } from '../output/io.ts';
import { paletteFor, type ColourMode } from '../output/palette.ts';
import { toJson } from '../output/structured.ts';
import { widthFor } from '../output/text-layout.ts';
import { clusterObjects } from '../snapshot/snapshot.ts';
import { objectsOf } from './plan-objects.ts';
import { planObject, planText } from './render-plan.ts';
import { wantedOf } from './wanted.ts';

interface PlanFlags {
  readonly filename: readonly string[];
  readonly snapshot?: readonly string[];
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly config?: string;
  readonly variant: Variant;
  readonly priorityClass?: string;
  readonly namespace: string;
  readonly reprieved?: true;
  readonly output: 'text' | 'json';
  readonly color: ColourMode;
}

const EXAMPLES = `
Example:
  $ muster plan -f gang.yaml                          in the cluster of the kubeconfig
  $ muster snapshot > cluster.json
  $ muster plan -f gang.yaml --snapshot cluster.json  without one
  $ kubectl get nodes,pods,pdb,pc,podgangs -A -o json | muster plan -f gang.yaml --snapshot -

Says whether the gang fits as it is; if not, which units of lower priority would have to make room,
and why none of them can be spared; if that does not help either, what is short. Nothing is changed.
Takes a PodGang or a native PodGroup with its Pods or with the workloads that make them, or these
alone; a workload with the label muster.dev/gang counts as its gang, and so does what "muster review
-o yaml" writes of one. Exits with 0 where it fits, with 4 where it fits with preemption, with 1 where it does not.`;

/** `muster plan`: prints which Pods would be evicted for a gang. */
export const planCommand = (io: CliIo): Command =>
  new Command('plan')
    .description('show whether a gang fits, and who would have to make room for it')
    .addOption(filenameOption('the gang'))
    .option('--snapshot <file...>', 'the cluster: what muster snapshot has written, or kubectl as JSON')
    .option('--kubeconfig <file>', 'how to reach the cluster (default: as kubectl)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option(
      '--config <file>',
      'OperatorConfiguration whose preemption.exemptNamespaces are left alone (default: $MUSTER_CONFIG)',
    )
    .addOption(
      new Option(
        '--variant <name>',
        'kep: the algorithm of KEP-5710; kube-1.36, kube-1.37: what that scheduler does',
      )
        .choices(VARIANTS)
        .default('kep'),
    )
    .option('--priority-class <name>', 'plan as if the gang had this class')
    .addOption(namespaceOption())
    .option('--reprieved', 'show those that may stay, too')
    .addOption(outputOption())
    .addOption(colorOption())
    .addHelpText('after', EXAMPLES)
    .action((flags: PlanFlags) => plan(flags, io));

async function plan(flags: PlanFlags, io: CliIo): Promise<void> {
  const { variant, namespace, priorityClass } = flags;
  if (flags.filename.includes('-') && flags.snapshot?.includes('-') === true)
    throw new MusterError(
      'USAGE',
      '-f and --snapshot both ask for standard input, which can be read but once',
      'give one of them as a file',
    );
  const exemptNamespaces = neverEvictedFrom(
    verbConfiguration({ file: flags.config, env: io.env }).configuration,
  );
  const wanted = await objectsOf(flags.filename, io);
  const cluster = await clusterOf(flags, io);
  const given = wantedOf({ wanted, cluster, variant, namespace, priorityClass, exemptNamespaces });
  const { preemptor, snapshot, warnings, mayGo } = given;
  for (const warning of warnings) io.stderr(`warning: ${printable(warning, 1024)}\n`);
  const found = planWithinBudgets({ preemptor, snapshot, variant, mayGo });
  const outcome = outcomeOf(preemptor, found, snapshot);
  if (flags.output === 'json') io.stdout(`${toJson(planObject(outcome, warnings), 2)}\n`);
  else {
    const palette = paletteFor(flags.color, io);
    const width = widthFor(io, Number.POSITIVE_INFINITY);
    const now = io.now().getTime();
    io.stdout(planText(outcome, { reprieved: flags.reprieved === true, now, palette, width }));
  }
  if (!found.fits) throw new ExitStatus(found.feasible ? 4 : 1);
}

async function clusterOf({ snapshot, ...flags }: PlanFlags, io: CliIo): Promise<readonly JsonObject[]> {
  return snapshot === undefined ? clusterObjects(flags, io) : objectsOf(snapshot, io);
}

import { Command } from 'commander';
import { ownString, type JsonObject } from '../../json/json.ts';
import { BINDING_KINDS } from '../../api/names.ts';
import { printable } from '../../text/printable.ts';
import { MusterError } from '../../errors.ts';
import { assign as assignTo, SCHEDULED, type Assignment } from '../../fleet/assign/assign.ts';
import { readBinding, type Binding } from '../../fleet/assign/binding.ts';
import { readMemberCluster } from '../../fleet/assign/member.ts';
import { withPluginAnswers } from '../../fleet/assign/plugin-answers.ts';
import { FieldReader, objectTitle, type ObjectFault } from '../../k8s/field-reader.ts';
import { HostedPlugins } from '../../modules/hosted-plugins.ts';
import type { ModuleObserver } from '../../modules/supervisor.ts';
import { verbConfiguration } from '../input/configured.ts';
import { unreadable, type InputFault } from '../input/input-fault.ts';
import { readAll } from '../input/input-files.ts';
import { colorOption, filenameOption, outputOption } from '../input/shared-options.ts';
import { ExitStatus, type CliIo } from '../output/io.ts';
import { paletteFor, type ColourMode, type Palette } from '../output/palette.ts';
import { oneOrList } from '../output/structured.ts';
import { columns } from '../output/text-layout.ts';
import { count } from '../output/findings.ts';

interface AssignFlags {
  readonly filename: readonly string[];
  readonly strategy?: string;
  readonly config?: string;
  readonly output: 'text' | 'json';
  readonly color: ColourMode;
}

const EXAMPLES = `
Example:
  $ muster assign -f binding.yaml -f clusters.yaml
  $ kubectl get resourcebindings,clusters -A -o json | muster assign -f -
  $ muster assign -f binding.yaml -f clusters.yaml --config config.yaml --strategy cheapest

Says which clusters get how many replicas of each ResourceBinding, and what speaks against each
other cluster. Each binding is judged by itself, as if nothing else were placed meanwhile. Nothing
is changed. Exits with 1 where a binding has no place.`;

/** `muster assign`: prints to which clusters of a fleet a workload would be assigned. */
export const assignCommand = (io: CliIo): Command =>
  new Command('assign')
    .description('show which clusters of a fleet a workload goes to, and why not to the others')
    .addOption(filenameOption('ResourceBindings and Clusters of Karmada'))
    .option('--strategy <name>', 'how replicas are assigned, in place of what the binding says')
    .option('--config <file>', 'OperatorConfiguration whose fleet.assigner.plugins bring strategies along')
    .addOption(outputOption())
    .addOption(colorOption())
    .addHelpText('after', EXAMPLES)
    .action((flags: AssignFlags) => assign(flags, io));

async function assign(flags: AssignFlags, io: CliIo): Promise<void> {
  const { filename, strategy, config, output, color } = flags;
  const { plugins } = verbConfiguration({ file: config });
  const bindings: JsonObject[] = [];
  const clusters: JsonObject[] = [];
  const unread: InputFault[] = [];
  for await (const { object } of readAll(filename, io, (fault) => unread.push(fault))) {
    const kind = ownString(object, 'kind') ?? '';
    if (BINDING_KINDS.includes(kind)) bindings.push(object);
    else if (kind === 'Cluster') clusters.push(object);
  }
  if (unread.length > 0) throw unreadable(unread);
  if (bindings.length === 0)
    throw new MusterError(
      'BINDING_INVALID',
      'there is no ResourceBinding in the input',
      'give one as well: kubectl get resourcebinding NAME -n NAMESPACE -o yaml > binding.yaml',
    );
  const faults: ObjectFault[] = [];
  const each = <T>(object: JsonObject, read: (object: JsonObject, reading: FieldReader) => T): T => {
    const reading = new FieldReader(objectTitle(object));
    const found = read(object, reading);
    faults.push(...reading.faults);
    return found;
  };
  const members = clusters.map((one) => each(one, readMemberCluster));
  const wanted = bindings.map((one) => each(one, readBinding)).sort((a, b) => (a.key < b.key ? -1 : 1));
  if (faults.length > 0)
    throw new MusterError(
      'BINDING_INVALID',
      faults.map(({ object, field, message }) => `${object}: ${field}: ${message}`).join('\n'),
      'correct these objects; nothing is assigned from what cannot be counted',
    );
  const found: Assigned[] = [];
  // Each module runs in a process of its own, as in `muster serve`, so that the outcome is the same there.
  const strategies = await HostedPlugins.begin(plugins, toStandardError(io));
  try {
    for (const one of wanted) {
      const binding = strategy === undefined ? one : { ...one, strategy };
      const assignment = await withPluginAnswers(strategies, (known) => assignTo(binding, members, known));
      found.push({ binding, assignment });
    }
  } finally {
    await strategies.stop();
  }
  if (output === 'text') {
    const palette = paletteFor(color, io);
    io.stdout(found.map((one) => assignmentText(one, palette)).join('\n'));
  } else io.stdout(oneOrList(found.map(assignmentObject)));
  if (found.some(({ assignment }) => assignment.reason !== 'Success')) throw new ExitStatus(1);
}

/** Lines that a module writes go to standard error; the answer itself says why a module does not run. */
const toStandardError = (io: CliIo): ModuleObserver => ({
  wrote: (plugin, text) => io.stderr(`plugin ${plugin}: ${printable(text, 2_048)}\n`),
  ended: () => undefined,
});

/** A binding and the clusters that it is assigned to. */
export interface Assigned {
  readonly binding: Binding;
  readonly assignment: Assignment;
}

/** The assignment for `-o json`, sorted so that the same assignment is the same text. */
const assignmentObject = ({ binding, assignment }: Assigned): object => ({
  binding: binding.key,
  strategy: assignment.strategy,
  ...(assignment.affinityName === '' ? {} : { affinityName: assignment.affinityName }),
  clusters: assignment.clusters.map(({ name, replicas, components }) => ({
    name,
    replicas,
    ...(components === undefined ? {} : { components }),
  })),
  reason: assignment.reason,
  message: assignment.message,
  leftOut: assignment.leftOut,
});

/** The assignment for people. */
function assignmentText({ binding, assignment }: Assigned, palette: Palette): string {
  const { clusters, leftOut, strategy, reason, message, affinityName } = assignment;
  const group = affinityName === '' ? '' : `, group ${printable(affinityName)}`;
  const verdict =
    reason === 'Success'
      ? palette.good(`goes to ${count(clusters.length, 'cluster')}`)
      : palette.bad(`goes nowhere: ${printable(message)} (${reason})`);
  const lines = [`${printable(binding.key)} (${printable(strategy)}${group}) ${verdict}`];
  if (clusters.length > 0) {
    const rows = clusters.map(({ name, replicas, components }) => [
      printable(name),
      components === undefined ? String(replicas) : String(sum(components)),
      (components ?? []).map((one) => `${printable(one.name)} ${one.replicas}`).join(', ') || '-',
    ]);
    lines.push('', ...columns([['CLUSTER', 'REPLICAS', 'COMPONENTS'], ...rows], palette));
  }
  const remark = reason === 'Success' ? message.slice(SCHEDULED.length).trim() : '';
  if (remark !== '') lines.push('', printable(remark));
  if (leftOut.length > 0) {
    const rows = leftOut.map(({ name, why }) => [printable(name), printable(why)]);
    lines.push('', ...columns([['LEFT OUT', 'WHY'], ...rows], palette));
  }
  return `${lines.join('\n')}\n`;
}

const sum = (components: readonly { readonly replicas: number }[]): number =>
  components.reduce((all, { replicas }) => all + replicas, 0);

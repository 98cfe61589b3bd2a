import { Command, Option } from 'commander';
import { POD_GANG_KIND } from '../../api/names.ts';
import { MusterError } from '../../errors.ts';
import { interpretationOf, type Interpretation } from '../../fleet/interpretation.ts';
import { customizationOf } from '../../fleet/lua/customization.ts';
import { kindsWith } from '../../workloads/configured-kinds.ts';
import { readComponents } from '../../workloads/components.ts';
import type { WorkloadKind } from '../../workloads/workload-kind.ts';
import { WorkloadReading } from '../../workloads/workload-reading.ts';
import { kindOf, knownKindOf } from '../../workloads/kinds.ts';
import { formatFault } from '../../config/config-fault.ts';
import { verbConfiguration } from '../input/configured.ts';
import type { SourceObject } from '../input/source-object.ts';
import { unknownPodGangFields } from '../input/pod-gang-fields.ts';
import { unreadable, type InputFault } from '../input/input-fault.ts';
import { readAll } from '../input/input-files.ts';
import { colorOption, filenameOption, outputOption } from '../input/shared-options.ts';
import { ExitStatus, type CliIo } from '../output/io.ts';
import { findingLine, findingOf, count, type Finding } from '../output/findings.ts';
import { paletteFor, type ColourMode, type Palette } from '../output/palette.ts';
import { oneOrList, toYaml } from '../output/structured.ts';
import { suggestion } from '../../text/nearest-key.ts';
import { quoted, printable } from '../../text/printable.ts';
import { own, ownString } from '../../json/json.ts';
import { objectTitle } from '../../k8s/field-reader.ts';
import { columns } from '../output/text-layout.ts';

interface InterpretFlags {
  readonly filename?: readonly string[];
  readonly lua?: string;
  readonly config?: string;
  readonly output: 'text' | 'json';
  readonly color: ColourMode;
}

const EXAMPLES = `
Example:
  $ muster interpret -f job.yaml
  $ kubectl get vcjob train -o json | muster interpret -f - -o json
  $ muster interpret --lua Job.batch.volcano.sh | kubectl apply -f -

Says of each workload what Karmada is told by Muster's interpreter: its Pod templates with the number
of their Pods and what each needs, whether it is healthy, and what it needs beside it; and how many
Pods of each template must start together. Objects that are no workloads are passed over. Exits with
1 where a workload cannot be counted, or none of the objects is one.`;

/** `muster interpret`: prints the interpreter webhook's answers about a workload, without a cluster. */
export const interpretCommand = (io: CliIo): Command =>
  new Command('interpret')
    .description('show what of a workload counts for a gang: its components, health and dependencies')
    .addOption(filenameOption('workloads').makeOptionMandatory(false))
    .addOption(
      new Option(
        '--lua <kind>',
        'print a kind as a ResourceInterpreterCustomization of Karmada, with its Lua',
      ).conflicts('filename'),
    )
    .option(
      '--config <file>',
      'OperatorConfiguration with fleet.kinds or workloads (default: $MUSTER_CONFIG)',
    )
    .addOption(outputOption())
    .addOption(colorOption())
    .addHelpText('after', EXAMPLES)
    .action((flags: InterpretFlags) => interpret(flags, io));

async function interpret(flags: InterpretFlags, io: CliIo): Promise<void> {
  const { filename, lua, config, output, color } = flags;
  const { configuration, warnings, file } = verbConfiguration({ file: config, env: io.env });
  for (const warning of warnings) io.stderr(`${formatFault(warning, file ?? 'configuration')}\n`);
  const kinds = kindsWith([...configuration.fleet.kinds, ...configuration.workloads]);
  if (lua !== undefined) {
    const customization = customizationOf(namedKind(lua, kinds));
    io.stdout(output === 'json' ? oneOrList([customization]) : toYaml(customization));
    return;
  }
  if (filename === undefined)
    throw new MusterError('USAGE', 'what is to be interpreted?', 'give -f with files, or --lua with a kind');
  const palette = paletteFor(color, io);
  const faults: InputFault[] = [];
  const found: Interpreted[] = [];
  let other: SourceObject | undefined;
  let wrong = false;
  for await (const source of readAll(filename, io, (fault) => faults.push(fault))) {
    if (kindOf(source.object, kinds) === undefined) {
      other ??= source;
      continue;
    }
    const told = faultsOf(source, kinds);
    if (told.length > 0) {
      wrong = true;
      for (const one of told) io.stderr(`${findingLine(one, palette)}\n`);
      continue;
    }
    try {
      found.push({ source, ...interpretationOf(source.object, kinds) });
    } catch (thrown) {
      if (!(thrown instanceof MusterError)) throw thrown;
      wrong = true;
      const message = `${thrown.message}; ${thrown.fix}`;
      const finding = {
        file: source.file,
        ...source.locate(''),
        severity: 'error',
        path: '',
        message,
        rule: thrown.code,
      } as const;
      io.stderr(`${findingLine(finding, palette)}\n`);
    }
  }
  if (output === 'text') io.stdout(found.map((one) => interpretationText(one, palette)).join('\n'));
  else if (found.length > 0 || !wrong) io.stdout(oneOrList(found.map(interpretationObject)));
  if (faults.length > 0) throw unreadable(faults);
  if (wrong) throw new ExitStatus(1);
  if (found.length === 0 && other !== undefined) knownKindOf(other.object, kinds);
}

/** Faults of a workload with their positions: malformed numbers, and unknown fields of a PodGang. */
function faultsOf(source: SourceObject, kinds: readonly WorkloadKind[]): Finding[] {
  const { object } = source;
  const kind = kindOf(object, kinds);
  const unknown = kind?.kind === POD_GANG_KIND ? unknownPodGangFields(object) : [];
  const reading = new WorkloadReading(object);
  if (kind !== undefined) readComponents(object, kind, reading);
  return [
    ...unknown.map(({ path, message }) =>
      findingOf(source, { field: path, message: `${message} [FieldUnknown]`, rule: 'FieldUnknown' }),
    ),
    ...reading.wrongs.map(({ field, message }) =>
      findingOf(source, {
        field,
        message: `${message}; correct it, and apply it again [WORKLOAD_INVALID]`,
        rule: 'WORKLOAD_INVALID',
      }),
    ),
  ];
}

/**
 * The kind of a name such as `Job.batch.volcano.sh`, in kubectl's form, or `PyTorchJob` where only one group has it.
 * @throws MusterError USAGE
 */
function namedKind(name: string, kinds: readonly WorkloadKind[]): WorkloadKind {
  const [found, ...others] = kinds.filter((one) => name === one.kind || name === fullName(one));
  const different = others.filter((one) => found === undefined || fullName(one) !== fullName(found));
  if (found !== undefined && different.length === 0) return found;
  if (found !== undefined) {
    const full = [found, ...different].map(fullName);
    throw new MusterError('USAGE', `--lua ${name} could be ${full.join(' or ')}`, 'write one of them');
  }
  const names = kinds.map(fullName);
  throw new MusterError(
    'USAGE',
    `--lua: there is no kind ${quoted(name)}${suggestion(name, names)} (there are: ${names.join(', ')})`,
    'name one of these, or tell of yours under fleet.kinds and give --config',
  );
}

const fullName = ({ kind, group }: WorkloadKind): string => (group === '' ? kind : `${kind}.${group}`);

/** A workload of the input with its interpretation. */
export interface Interpreted extends Interpretation {
  readonly source: SourceObject;
}

/** The interpretation for `-o json`: the answers to Karmada, and the minimum, for which Karmada has no field. */
function interpretationObject({ source, components, replicas, healthy, dependencies }: Interpreted): object {
  const metadata = own(source.object, 'metadata');
  return {
    object: {
      apiVersion: ownString(source.object, 'apiVersion') ?? '',
      kind: ownString(source.object, 'kind') ?? '',
      namespace: ownString(metadata, 'namespace') ?? '',
      name: ownString(metadata, 'name') ?? '',
    },
    components: components.map((one) => ({
      name: one.name,
      replicas: one.replicas,
      minAvailable: one.minAvailable,
      requirements: one.requirements ?? null,
    })),
    replicas,
    healthy,
    dependencies,
  };
}

/** The interpretation for people. */
function interpretationText(interpreted: Interpreted, palette: Palette): string {
  const { source, components, replicas, healthy, dependencies } = interpreted;
  const lines = [
    `${printable(objectTitle(source.object))}: ${count(replicas, 'Pod')}, ${healthy ? palette.good('healthy') : palette.bad('not healthy')}`,
  ];
  if (components.length > 0) {
    const rows = components.map(({ name, replicas: pods, minAvailable, requirements }) => [
      printable(name),
      String(pods),
      String(minAvailable),
      Object.entries(requirements?.resourceRequest ?? {})
        .map(([resource, amount]) => `${printable(resource)} ${amount}`)
        .join(', ') || '-',
    ]);
    lines.push(
      ...columns([['COMPONENT', 'PODS', 'MINIMUM', 'EACH NEEDS'], ...rows], palette).map(
        (line) => `  ${line}`,
      ),
    );
  }
  if (dependencies.length > 0)
    lines.push(
      `  beside it: ${dependencies.map(({ kind, name }) => printable(`${kind} ${name}`)).join(', ')}`,
    );
  return `${lines.join('\n')}\n`;
}

import { Argument, Command } from 'commander';
import type { JsonObject } from '../../json/json.ts';
import { MusterError } from '../../errors.ts';
import { makeCurveCertificate } from '../../preparers/flux/curve/make-certificate.ts';
import type { PreparerFactory } from '../../preparers/preparer-factory.ts';
import { objectsBesidePods } from '../../preparers/registry.ts';
import { configured } from '../input/configured.ts';
import type { SourceObject } from '../input/documents.ts';
import { unreadable, type InputFault } from '../input/input-fault.ts';
import { readAll } from '../input/input-files.ts';
import { colorOption, filenameOption, namespaceOption, outputOption } from '../input/shared-options.ts';
import { ExitStatus } from '../output/exit-status.ts';
import { findingLine } from '../output/findings.ts';
import type { CliIo } from '../output/io.ts';
import { paletteFor, type ColourMode } from '../output/palette.ts';
import { toJson, toYaml } from '../output/structured.ts';
import { HpcGangs, type HpcGang } from '../gangs/hpc-gangs.ts';
import { podFindings } from './hpc-pods.ts';
import { writeFiles } from './write-files.ts';

interface HpcFlags {
  readonly filename: readonly string[];
  readonly namespace: string;
  readonly config?: string;
  readonly out?: string;
  readonly output: 'yaml' | 'json';
  readonly color: ColourMode;
}

const EXAMPLES = `
Example:
  $ muster hpc render -f gang.yaml -f policy.yaml -o yaml
  $ muster hpc render -f manifests/ --out /tmp/flux && bash -n /tmp/flux/entrypoint.sh

Prints what Muster makes for every PodGang of the input that names an HPCPolicy of the input: ConfigMap,
Secret and Service for Flux, the Service for PyTorch, no Service where the Pods have a subdomain of their
own. The certificate in the Secret is another one each time: a cluster's is made there, once. Exits with
1 where a gang or a Pod of the input cannot run so; how the Pods are prepared, "muster review" shows.`;

/** `muster hpc render`: what is made for a gang with an HPCPolicy, without a cluster. */
export const hpcCommand = (io: CliIo): Command =>
  new Command('hpc')
    .description('show what is made for a gang with an HPCPolicy: scripts, settings, key, Service')
    .addArgument(new Argument('<what>', 'what to do').choices(['render']))
    .addOption(filenameOption('PodGangs and HPCPolicies'))
    .addOption(namespaceOption())
    .option('--config <file>', 'OperatorConfiguration whose hpc.preparations HPCPolicies may name')
    .option('--out <dir>', 'write each key of the ConfigMap to a file in here instead; made if missing')
    .addOption(outputOption(['yaml', 'json']).default('yaml'))
    .addOption(colorOption())
    .addHelpText('after', EXAMPLES)
    .action((_what: string, flags: HpcFlags) => render(flags, io));

async function render(flags: HpcFlags, io: CliIo): Promise<void> {
  const { filename, namespace, config, out, output, color } = flags;
  const others = await configured({ file: config }).prepared();
  const gangs = new HpcGangs(namespace, others);
  const unread: InputFault[] = [];
  const sources: SourceObject[] = [];
  for await (const source of readAll(filename, io, (fault) => unread.push(fault))) {
    gangs.add(source);
    sources.push(source);
  }
  if (unread.length > 0) throw unreadable(unread);
  const all = gangs.all();
  if (all.length === 0) throw noGang();
  const palette = paletteFor(color, io);
  const findings = all.flatMap(({ missing, alone, together }) => [
    ...(missing === undefined ? [] : [missing]),
    ...alone,
    ...together,
  ]);
  // A Pod of a gang that is wrong itself would say the same once more.
  if (findings.length === 0) findings.push(...(await podFindings(sources, namespace, others)));
  for (const finding of findings) io.stderr(`${findingLine(finding, palette)}\n`);
  if (findings.length > 0) throw new ExitStatus(1);
  const made = all.map((one) => rendered(one, others));
  if (out !== undefined) return writeFiles(out, made, io);
  const objects = made.flat();
  // A List is what kubectl takes for several objects of JSON.
  if (output === 'json') io.stdout(`${toJson({ apiVersion: 'v1', kind: 'List', items: objects }, 2)}\n`);
  else io.stdout(objects.map((one) => `---\n${toYaml(one)}`).join(''));
}

/** A gang without a policy, or with a wrong one, was told of before. */
const rendered = ({ gang, policy, subdomain }: HpcGang, others: readonly PreparerFactory[]): JsonObject[] =>
  policy === undefined
    ? []
    : objectsBesidePods(gang, policy, { certificate: makeCurveCertificate, subdomain }, others);

const noGang = (): MusterError =>
  new MusterError(
    'HPC_NOTHING',
    'no PodGang of the input names an HPCPolicy',
    'annotate the PodGang with muster.dev/hpc-policy: NAME, and give it with -f',
  );

import { Argument, Command } from 'commander';
import { own, ownObject, type JsonObject } from '../../json/json.ts';
import { MusterError, messageOf } from '../../errors.ts';
import { makeCurveCertificate } from '../../preparers/flux/curve/make-certificate.ts';
import type { PreparerFactory } from '../../preparers/preparer-factory.ts';
import { objectsBesidePods } from '../../preparers/registry.ts';
import { verbConfiguration } from '../input/configured.ts';
import type { SourceObject } from '../input/source-object.ts';
import { unreadable, type InputFault } from '../input/input-fault.ts';
import { readAll } from '../input/input-files.ts';
import { colorOption, filenameOption, namespaceOption, outputOption } from '../input/shared-options.ts';
import { ExitStatus, makeFolder, type CliIo } from '../output/io.ts';
import { findingLine, findingOf, type Finding } from '../output/findings.ts';
import { paletteFor, type ColourMode } from '../output/palette.ts';
import { toJson, toYaml } from '../output/structured.ts';
import { HpcGangs, type InputHpcGang } from '../gangs/hpc-gangs.ts';
import { policyFrom, withGiven } from '../input/policy.ts';
import type { ReviewResult } from '../review/render-review.ts';
import { reviewObject } from '../review/review-object.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { quoted } from '../../text/printable.ts';

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
  $ muster hpc render -f docs/examples/hpc-job.yaml
  $ muster hpc render -f manifests/ --out /tmp/flux && bash -n /tmp/flux/entrypoint.sh

Prints what Muster makes for every PodGang of the input that names an HPCPolicy of the input, and for
that of every workload whose Pod template does: ConfigMap, Secret and Service for Flux, the Service for
PyTorch, no Service where the Pods have a subdomain of their own. The certificate in the Secret is another one each time: a cluster's is made there, once. Exits with
1 where a gang or a Pod of the input cannot run so; how the Pods are prepared, "muster review" shows.`;

/** `muster hpc render`: prints what Muster makes for a gang with an HPCPolicy, without a cluster. */
export const hpcCommand = (io: CliIo): Command =>
  new Command('hpc')
    .description('show what is made for a gang with an HPCPolicy: scripts, settings, key, Service')
    .addArgument(new Argument('<what>', 'what to do').choices(['render']))
    .addOption(filenameOption('PodGangs, workloads and HPCPolicies'))
    .addOption(namespaceOption())
    .option('--config <file>', 'OperatorConfiguration whose hpc.preparations HPCPolicies may name')
    .option('--out <dir>', 'write each key of the ConfigMap to a file in here instead; made if missing')
    .addOption(outputOption(['yaml', 'json']).default('yaml'))
    .addOption(colorOption())
    .addHelpText('after', EXAMPLES)
    .action((_what: string, flags: HpcFlags) => render(flags, io));

async function render(flags: HpcFlags, io: CliIo): Promise<void> {
  const { filename, namespace, config, out, output, color } = flags;
  const others = await verbConfiguration({ file: config }).prepared();
  const gangs = new HpcGangs(namespace, others);
  const unread: InputFault[] = [];
  const sources: SourceObject[] = [];
  for await (const source of readAll(filename, io, (fault) => unread.push(fault))) {
    gangs.add(source);
    sources.push(source);
  }
  if (unread.length > 0) throw unreadable(unread);
  const reviewed = await reviewsOf(sources, namespace, others);
  addMade(gangs, reviewed);
  const all = gangs.all();
  const palette = paletteFor(color, io);
  const findings = all.flatMap(({ missing, alone, together }) => [
    ...(missing === undefined ? [] : [missing]),
    ...alone,
    ...together,
  ]);
  // A fault of a gang would be reported again for each of its Pods.
  if (findings.length === 0) findings.push(...podFindings(reviewed));
  // A workload whose Pods are refused has no gang.
  if (all.length === 0 && findings.length === 0) throw noGang();
  for (const finding of findings) io.stderr(`${findingLine(finding, palette)}\n`);
  if (findings.length > 0) throw new ExitStatus(1);
  const made = all.map((one) => rendered(one, others));
  if (out !== undefined) return writeFiles(out, made, io);
  const objects = made.flat();
  // kubectl reads several objects of JSON as a List.
  if (output === 'json') io.stdout(`${toJson({ apiVersion: 'v1', kind: 'List', items: objects }, 2)}\n`);
  else io.stdout(objects.map((one) => `---\n${toYaml(one)}`).join(''));
}

/** Objects for a gang; none without a valid policy, which is reported elsewhere. */
const rendered = (
  { gang, policy, subdomain, asks }: InputHpcGang,
  others: readonly PreparerFactory[],
): JsonObject[] =>
  policy === undefined
    ? []
    : objectsBesidePods(gang, policy, { certificate: makeCurveCertificate, subdomain, asks }, others);

const noGang = (): MusterError =>
  new MusterError(
    'HPC_NOTHING',
    'no PodGang and no workload of the input names an HPCPolicy',
    'annotate the PodGang, or a Pod template that has the label muster.dev/gang, with muster.dev/hpc-policy: NAME, and give it with -f',
  );

/** What admission says of each object of the input, which it sees with the HPCPolicies and PodGangs of the input. */
async function reviewsOf(
  sources: readonly SourceObject[],
  namespace: string,
  preparations: readonly PreparerFactory[],
): Promise<ReviewResult[]> {
  const { configuration, factories } = verbConfiguration({ file: undefined });
  const defaults = policyFrom(configuration, {
    factories: await factories(),
    preparations,
  });
  const policy = withGiven(defaults, sources, namespace);
  return sources.flatMap((source) => reviewObject(source, { policy, namespace, username: 'muster-hpc' }));
}

/** Adds the PodGangs that Muster makes for the workloads of the input, with their Pods; a PodGang of the input goes before. */
function addMade(gangs: HpcGangs, reviewed: readonly ReviewResult[]): void {
  const written = new Set(gangs.gangs.keys());
  const made = reviewed.filter((one) => one.made !== undefined && !written.has(one.gang ?? ''));
  const names = new Set(made.map(({ gang }) => gang));
  for (const { source, stored, gang } of reviewed) {
    if (stored !== undefined && names.has(gang)) gangs.add({ ...source, object: stored });
  }
}

/**
 * The faults by which admission would refuse the input's Pods because of their HPCPolicy. Other faults are left to
 * `muster review`, which knows the configuration.
 */
const podFindings = (reviewed: readonly ReviewResult[]): Finding[] =>
  reviewed.flatMap(({ source, causes, root }) =>
    causes
      .filter(({ rule }) => /^(Hpc|Torch)/.test(rule))
      .map((cause) => findingOf(source, { ...cause, field: within(root, cause.field) })),
  );

const within = (root: string, field: string): string => (root === '' ? field : `${root}.${field}`);

/** The API server's rule for keys of a ConfigMap, each of which is a file name in the mounted folder. */
const isKey = (key: string): boolean => /^[-._a-zA-Z0-9]{1,253}$/.test(key) && !/^\.$|^\.\./.test(key);

/** Writes every key as a file, with the mode of its mount: scripts are executable, others readable. */
export async function writeFiles(
  out: string,
  made: readonly (readonly JsonObject[])[],
  io: Pick<CliIo, 'stdout'>,
): Promise<void> {
  const [objects, ...more] = made;
  if (more.length > 0) {
    throw new MusterError(
      'USAGE',
      `--out takes the files of one gang, and the input has ${made.length}`,
      'give the PodGangs and workloads one at a time',
    );
  }
  const data = ownObject(
    objects?.find((one) => own(one, 'kind') === 'ConfigMap'),
    'data',
  );
  if (data === undefined) {
    throw new MusterError(
      'HPC_NOTHING',
      'no ConfigMap is made for this gang, so there are no files: PyTorch is told by the environment of the Pods',
      'leave out --out to see what is made, and see the Pods with muster review',
    );
  }
  const wrong = Object.keys(data).find((key) => !isKey(key));
  if (wrong !== undefined) {
    throw new MusterError(
      'USAGE',
      `a preparation makes a ConfigMap with the key ${quoted(wrong)}, which is no file name and no key that an API server takes`,
      'have the preparation name its keys with letters, digits, "-", "_" and "." alone, and not begin one with ".."',
    );
  }
  try {
    await makeFolder(out);
    for (const key of Object.keys(data)) {
      const text = own(data, key);
      const mode = key.endsWith('.sh') ? 0o755 : 0o644;
      if (typeof text === 'string') await writeFile(join(out, key), text, { mode });
    }
  } catch (thrown) {
    throw new MusterError(
      'USAGE',
      `--out ${out}: ${messageOf(thrown)}`,
      'name a folder that you may write to',
    );
  }
  for (const key of Object.keys(data)) io.stdout(`${join(out, key)}\n`);
}

import { Command, Option } from 'commander';
import { supportedSchedulers } from '../../backends/registry.ts';
import { formatFault } from '../../config/config-fault.ts';
import { loadConfiguration, readConfigurationFile } from '../../config/load.ts';
import type { OperatorConfiguration } from '../../config/configuration.ts';
import { backendsOf } from '../input/backend-modules.ts';
import { readAll } from '../input/documents.ts';
import { ExitStatus } from '../output/exit-status.ts';
import { readInputs } from '../input/input-files.ts';
import type { CliIo } from '../output/io.ts';
import { paletteFor, type ColourMode, type Palette } from '../output/palette.ts';
import { policyFrom } from '../input/policy.ts';
import { causeLine, placeOf, renderReview, subjectOf } from './render-review.ts';
import { reviewsAsJson, reviewsAsPatches, reviewsAsYaml } from './review-formats.ts';
import { reviewObject } from './review-object.ts';
import type { ReviewResult } from './review-result.ts';

type Format = 'text' | 'json' | 'yaml' | 'patch';

interface ReviewOptions {
  readonly filename: readonly string[];
  readonly config?: string;
  readonly output: Format;
  readonly namespace: string;
  readonly user: string;
  readonly backend?: string;
  readonly color: ColourMode;
}

const EXAMPLES = `
Example:
  $ muster review -f gang.yaml -f pods/
  $ helm template ./chart | muster review -f - -o json
  $ muster review -f job.yaml --backend kai-scheduler

Takes Pods, PodGangs, AdmissionReviews, workloads with Pod templates (Deployment, Job, JobSet,
LeaderWorkerSet and others) and lists of them. Everything is decided here: no cluster is asked.
Exits with 1 where anything is denied.`;

/** `muster review`: the decisions of the server, for people and pipelines. */
export const reviewCommand = (io: CliIo): Command =>
  new Command('review')
    .description('show what admission would do to Pods, PodGangs and workloads, without a cluster')
    .requiredOption('-f, --filename <file...>', 'files and folders with YAML or JSON; - is standard input')
    .option('--config <file>', 'OperatorConfiguration to decide by (default: the defaults)')
    .addOption(
      new Option('-o, --output <format>', 'how to print it')
        .choices(['text', 'json', 'yaml', 'patch'])
        .default('text'),
    )
    .option('-n, --namespace <name>', 'namespace of objects that name none', 'default')
    .option('--user <name>', 'who creates the objects', 'muster-review')
    .option('--backend <name>', 'preview with this default backend')
    .addOption(
      new Option('--color <when>', 'colours in text output')
        .choices(['always', 'never', 'auto'])
        .default('auto'),
    )
    .addHelpText('after', EXAMPLES)
    .action((options: ReviewOptions) => review(options, io));

async function review(options: ReviewOptions, io: CliIo): Promise<void> {
  const configuration = configurationFor(options, io);
  const policy = policyFrom(configuration, {
    factories: await backendsOf(configuration.schedulers.profiles, options.config),
    ...(options.backend === undefined ? {} : { defaultBackend: options.backend }),
  });
  const inputs = await readInputs(options.filename, io);
  const context = { policy, namespace: options.namespace, username: options.user };
  const results = readAll(inputs).flatMap((source) => reviewObject(source, context));
  print(results, options, io);
  if (results.some(({ allowed }) => !allowed)) throw new ExitStatus(1);
}

/** The file decides, not the environment of whoever looks: a preview is the same everywhere. */
function configurationFor({ config }: ReviewOptions, io: CliIo): OperatorConfiguration {
  const { configuration, warnings } = loadConfiguration({
    ...(config === undefined ? {} : { text: readConfigurationFile(config), fileName: config }),
    env: {},
    flags: {},
    supportedSchedulers: supportedSchedulers().names,
  });
  for (const warning of warnings) io.stderr(`warning: ${formatFault(warning, config ?? 'configuration')}\n`);
  return configuration;
}

function print(results: readonly ReviewResult[], { output, color }: ReviewOptions, io: CliIo): void {
  const palette = paletteFor(color, io);
  switch (output) {
    case 'text':
      return io.stdout(renderReview(results, palette));
    case 'json':
      return io.stdout(reviewsAsJson(results));
    case 'yaml':
    case 'patch':
      io.stdout(output === 'yaml' ? reviewsAsYaml(results) : reviewsAsPatches(results));
      return tell(results, paletteFor('never', io), io);
  }
}

/** What has no place in objects and patches goes to standard error: refusals and warnings. */
function tell(results: readonly ReviewResult[], palette: Palette, io: CliIo): void {
  for (const result of results) {
    const { allowed, causes, message, warnings } = result;
    const told = causes.length > 0 ? causes : [{ field: '', reason: '', message }];
    if (!allowed) for (const cause of told) io.stderr(`${causeLine(result, cause, palette)}\n`);
    for (const warning of warnings) {
      io.stderr(`${placeOf(result, '')}: warning: ${subjectOf(result)}: ${warning}\n`);
    }
  }
}

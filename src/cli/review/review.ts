import { Command } from 'commander';
import type { Policy } from '../../admission/policy.ts';
import { suggestion } from '../../text/nearest-key.ts';
import { quoted } from '../../text/printable.ts';
import { formatFault } from '../../config/config-fault.ts';
import { MusterError } from '../../errors.ts';
import { GangSurvey } from '../gangs/survey.ts';
import { verbConfiguration } from '../input/configured.ts';
import { HPC_POLICY_KIND, POD_GANG_KIND } from '../../api/names.ts';
import { unreadable, type InputFault } from '../input/input-fault.ts';
import { inputTexts } from '../input/input-files.ts';
import { policyFrom, withGiven } from '../input/policy.ts';
import {
  colorOption,
  filenameOption,
  namespaceOption,
  outputOption,
  strictOption,
} from '../input/shared-options.ts';
import { ExitStatus, type CliIo } from '../output/io.ts';
import { faultFindings } from '../output/findings.ts';
import { paletteFor, type ColourMode } from '../output/palette.ts';
import { FORMATS, printerFor, type Format } from './review-formats.ts';
import { reviewObject } from './review-object.ts';

interface ReviewOptions {
  readonly filename: readonly string[];
  readonly config?: string;
  readonly output: Format;
  readonly namespace: string;
  readonly user: string;
  readonly backend?: string;
  readonly strict?: true;
  readonly color: ColourMode;
}

const EXAMPLES = `
Example:
  $ muster review -f gang.yaml -f pods/
  $ helm template ./chart | muster review -f - -o json
  $ muster review -f job.yaml --backend kai-scheduler
  $ muster review -f manifests/ --strict -o github

Takes Pods, PodGangs, HPCPolicies, AdmissionReviews, workloads with Pod templates (Deployment, Job, JobSet,
LeaderWorkerSet and others) and lists of them. Everything is decided here: no cluster is asked.
Then groups, counts and labels of all of them are held against each other. Exits with 1 where
anything is denied, with --strict also where a warning is given of the whole or a gang cannot start.`;

/** `muster review`: prints the decisions that the server would make, for people and pipelines. */
export const reviewCommand = (io: CliIo): Command =>
  new Command('review')
    .description('show what admission would do to Pods, PodGangs and workloads, without a cluster')
    .addOption(filenameOption())
    .option('--config <file>', 'OperatorConfiguration to decide by (default: $MUSTER_CONFIG)')
    .addOption(outputOption(FORMATS))
    .addOption(namespaceOption())
    .option('--user <name>', 'who creates the objects', 'muster-review')
    .option('--backend <name>', 'preview with this default backend')
    .addOption(strictOption())
    .addOption(colorOption())
    .addHelpText('after', EXAMPLES)
    .action((options: ReviewOptions) => review(options, io));

async function review(options: ReviewOptions, io: CliIo): Promise<void> {
  const { namespace, user: username } = options;
  const configuredPolicy = await policyFor(options, io);
  const printer = printerFor(options.output, io, paletteFor(options.color, io));
  const survey = new GangSurvey(namespace, configuredPolicy.exemptNamespaces, configuredPolicy.gangKinds);
  const faults: InputFault[] = [];
  let denied = false;
  // A Pod's decision depends on its gang and HPCPolicy, which may come later: these are read first, and alone, so that of a
  // large input no more than one document is kept.
  const texts = await inputTexts(options.filename, io);
  const policy = withGiven(configuredPolicy, texts.naming([POD_GANG_KIND, HPC_POLICY_KIND]), namespace);
  for (const source of texts.objects((fault) => faults.push(fault))) {
    for (const result of reviewObject(source, { policy, namespace, username })) {
      if (!result.allowed) denied = true;
      printer.result(result);
    }
    survey.add(source);
  }
  const findings = survey.findings();
  const forTools = options.output === 'github' || options.output === 'sarif';
  printer.end(forTools ? [...faultFindings(faults), ...findings] : findings);
  if (faults.length > 0) throw unreadable(faults);
  const broken = options.strict === true && survey.isBroken(findings);
  if (denied || broken) throw new ExitStatus(1);
}

/** The policy by file, environment and defaults, as the server's, so that the preview is true. */
async function policyFor({ config, backend }: ReviewOptions, io: CliIo): Promise<Policy> {
  const { configuration, warnings, file, factories, prepared } = verbConfiguration({
    file: config,
    env: io.env,
  });
  for (const warning of warnings) io.stderr(`${formatFault(warning, file ?? 'configuration')}\n`);
  const known = await factories();
  const names = known.map(({ name }) => name);
  if (backend !== undefined && !names.includes(backend)) {
    throw new MusterError(
      'USAGE',
      `--backend: there is no backend ${quoted(backend)}${suggestion(backend, names)} (there are: ${names.join(', ')})`,
      'name one of these',
    );
  }
  return policyFrom(configuration, {
    factories: known,
    preparations: await prepared(),
    ...(backend === undefined ? {} : { defaultBackend: backend }),
  });
}

import { Command, Option } from 'commander';
import { printable } from '../../api/printable.ts';
import { supportedSchedulers } from '../../backends/registry.ts';
import { loadConfiguration, readConfigurationFile } from '../../config/load.ts';
import type { Policy } from '../../admission/decision.ts';
import { backendsOf } from '../input/backend-modules.ts';
import { readAll } from '../input/documents.ts';
import { ExitStatus } from '../output/exit-status.ts';
import { readInputs } from '../input/input-files.ts';
import type { CliIo } from '../output/io.ts';
import { paletteFor, type ColourMode, type Palette } from '../output/palette.ts';
import { policyFrom } from '../input/policy.ts';
import { validateObject, type Finding } from './validate-object.ts';
import { toJson } from '../input/yaml-dialect.ts';

interface ValidateOptions {
  readonly filename: readonly string[];
  readonly config?: string;
  readonly output: 'text' | 'json';
  readonly namespace: string;
  readonly color: ColourMode;
}

/** How many objects were looked at, and what was found. */
interface Report {
  readonly checked: number;
  readonly skipped: number;
  readonly findings: readonly Finding[];
}

const EXAMPLES = `
Example:
  $ muster validate -f config.yaml -f gangs/
  $ kustomize build . | muster validate -f - -o json

Other kinds are skipped. Without --config every backend counts as enabled, and topology levels are
not compared with the cluster's. Exits with 1 where there is an error; warnings are only told.`;

/** `muster validate`: PodGangs and configurations, all faults at once. */
export const validateCommand = (io: CliIo): Command =>
  new Command('validate')
    .description('check PodGangs and configurations, with file, line and field of every fault')
    .requiredOption('-f, --filename <file...>', 'files and folders with YAML or JSON; - is standard input')
    .option('--config <file>', 'OperatorConfiguration that PodGangs are checked against')
    .addOption(
      new Option('-o, --output <format>', 'how to print it').choices(['text', 'json']).default('text'),
    )
    .option('-n, --namespace <name>', 'namespace of PodGangs that name none', 'default')
    .addOption(
      new Option('--color <when>', 'colours in text output')
        .choices(['always', 'never', 'auto'])
        .default('auto'),
    )
    .addHelpText('after', EXAMPLES)
    .action((options: ValidateOptions) => validate(options, io));

async function validate(options: ValidateOptions, io: CliIo): Promise<void> {
  const { names } = supportedSchedulers();
  const policy = await policyFor(options.config, names);
  const context = { policy, namespace: options.namespace, supportedSchedulers: names };
  const inputs = await readInputs(options.filename, io);
  const outcomes = readAll(inputs).map((source) => validateObject(source, context));
  const checked = outcomes.filter((findings) => findings !== undefined);
  const report = {
    checked: checked.length,
    skipped: outcomes.length - checked.length,
    findings: checked.flat(),
  };
  const text =
    options.output === 'json' ? `${toJson(report, 2)}\n` : render(report, paletteFor(options.color, io));
  io.stdout(text);
  if (report.findings.some(({ severity }) => severity === 'error')) throw new ExitStatus(1);
}

/** Without a configuration nobody has said which backends are enabled, so a PodGang may name any. */
async function policyFor(config: string | undefined, names: readonly string[]): Promise<Policy> {
  const { configuration } = loadConfiguration({
    ...(config === undefined ? {} : { text: readConfigurationFile(config), fileName: config }),
    env: {},
    flags: {},
    supportedSchedulers: names,
  });
  if (config !== undefined) {
    const factories = await backendsOf(configuration.schedulers.profiles, config);
    return policyFrom(configuration, { factories });
  }
  const { schedulers } = configuration;
  const profiles = names.map((name) => ({ name, config: {} }));
  return policyFrom({ ...configuration, schedulers: { ...schedulers, profiles } });
}

/** One line for each finding, as compilers write them, so that editors and CI find the place; then a summary. */
function render({ checked, skipped, findings }: Report, palette: Palette): string {
  const lines = findings.map(({ file, line, column, severity, path, message }) => {
    const mark = severity === 'error' ? palette.bad : palette.warn;
    const place = `${printable(file, 4096)}:${line}:${column}`;
    return `${place}: ${mark(`${severity}:`)} ${path === '' ? '' : `${printable(path)}: `}${message}`;
  });
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const summary = `${count(checked, 'object')} checked, ${skipped} skipped: ${count(errors, 'error')}, ${count(findings.length - errors, 'warning')}`;
  return `${[...lines, summary].join('\n')}\n`;
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

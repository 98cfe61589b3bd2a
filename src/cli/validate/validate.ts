import { Command } from 'commander';
import type { Policy } from '../../admission/policy.ts';
import { supportedSchedulers } from '../../backends/registry.ts';
import { GangSurvey } from '../gangs/survey.ts';
import { HpcGangs } from '../gangs/hpc-gangs.ts';
import { verbConfiguration } from '../input/configured.ts';
import { unreadable, type InputFault } from '../input/input-fault.ts';
import { readAll } from '../input/input-files.ts';
import { policyFrom } from '../input/policy.ts';
import {
  colorOption,
  filenameOption,
  namespaceOption,
  outputOption,
  strictOption,
} from '../input/shared-options.ts';
import { ExitStatus, type CliIo } from '../output/io.ts';
import { asGithub, asSarif, count, countsOf, faultFindings, findingLine } from '../output/findings.ts';
import type { Finding } from '../output/findings.ts';
import { paletteFor, type ColourMode, type Palette } from '../output/palette.ts';
import { toJson } from '../output/structured.ts';
import { reflowed, widthFor } from '../output/text-layout.ts';
import { musterVersion } from '../version.ts';
import { podTemplatesOf } from '../../workloads/pod-templates.ts';
import { validateObject } from './validate-object.ts';

interface ValidateOptions {
  readonly filename: readonly string[];
  readonly config?: string;
  readonly output: 'text' | 'json' | 'github' | 'sarif';
  readonly namespace: string;
  readonly strict?: true;
  readonly color: ColourMode;
}

/** Number of validated objects, and the findings. */
interface Report {
  readonly checked: number;
  readonly skipped: number;
  readonly findings: readonly Finding[];
}

const EXAMPLES = `
Example:
  $ muster validate -f config.yaml -f gangs/
  $ kustomize build . | muster validate -f - -o json

A configuration is checked inside of a ConfigMap as well. Of Pods and workloads only the labels and
numbers are held against the PodGangs; what else concerns them, "muster review" says. Without --config
every backend counts as enabled, and topology levels are not compared with the cluster's. Exits with 1
where there is an error, with --strict also where gangs, Pods and labels do not go together, or a
gang cannot start.`;

/** `muster validate`: reports all faults of PodGangs and configurations. */
export const validateCommand = (io: CliIo): Command =>
  new Command('validate')
    .description('check PodGangs, HPCPolicies and configurations, with the place of every fault')
    .addOption(filenameOption())
    .option('--config <file>', 'OperatorConfiguration that PodGangs are checked against')
    .addOption(outputOption(['text', 'json', 'github', 'sarif']))
    .addOption(namespaceOption('PodGangs'))
    .addOption(strictOption())
    .addOption(colorOption())
    .addHelpText('after', EXAMPLES)
    .action((options: ValidateOptions) => validate(options, io));

async function validate(options: ValidateOptions, io: CliIo): Promise<void> {
  const { names } = supportedSchedulers();
  const { namespace, filename, output } = options;
  const policy = await policyFor(options.config, names);
  const context = { policy, namespace, supportedSchedulers: names };
  const survey = new GangSurvey(namespace, policy.exemptNamespaces, policy.gangKinds);
  const faults: InputFault[] = [];
  const findings: Finding[] = [];
  const gangs = new HpcGangs(namespace, policy.preparations);
  const counts = { checked: 0, skipped: 0 };
  for await (const source of readAll(filename, io, (fault) => faults.push(fault))) {
    const found = validateObject(source, context);
    counts[found === undefined ? 'skipped' : 'checked'] += 1;
    findings.push(...(found ?? []));
    survey.add(source, found === undefined || podTemplatesOf(source.object, policy.gangKinds).length > 0);
    gangs.add(source);
  }
  findings.push(
    ...gangs
      .all()
      .flatMap(({ missing, together, warnings }) => [
        ...(missing === undefined ? [] : [{ ...missing, severity: 'warning' } as const]),
        ...together,
        ...warnings,
      ]),
  );
  const whole = survey.findings();
  const report = { ...counts, findings: [...findings, ...whole] };
  const forTools = [...faultFindings(faults), ...report.findings];
  if (output === 'github') io.stdout(asGithub(forTools));
  else if (output === 'sarif') io.stdout(asSarif(forTools, musterVersion()));
  else if (output === 'json') io.stdout(`${toJson(report, 2)}\n`);
  else if (counts.checked + counts.skipped > 0) {
    const width = widthFor(io, Infinity);
    io.stdout(reflowed(render(report, paletteFor(options.color, io)), width));
  }
  if (faults.length > 0) throw unreadable(faults);
  const broken = options.strict === true && survey.isBroken(whole);
  if (broken || findings.some(({ severity }) => severity === 'error')) throw new ExitStatus(1);
}

/** Without a configuration no backend is known to be enabled, so a PodGang may name any. */
async function policyFor(config: string | undefined, names: readonly string[]): Promise<Policy> {
  const { configuration, factories, prepared } = verbConfiguration({ file: config });
  if (config !== undefined)
    return policyFrom(configuration, { factories: await factories(), preparations: await prepared() });
  const { schedulers } = configuration;
  const profiles = names.map((name) => ({ name, config: {} }));
  return policyFrom({ ...configuration, schedulers: { ...schedulers, profiles } });
}

/** A line for each finding, then a summary. */
function render({ checked, skipped, findings }: Report, palette: Palette): string {
  const lines = findings.map((finding) => findingLine(finding, palette));
  const summary = `${count(checked, 'object')} checked, ${skipped} skipped: ${countsOf(findings)}`;
  return `${[...lines, summary].join('\n')}\n`;
}

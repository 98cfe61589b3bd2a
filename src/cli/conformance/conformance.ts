import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import type { JsonObject } from '../../api/json.ts';
import { printable } from '../../api/printable.ts';
import type { BackendFactory } from '../../backends/backend.ts';
import { conformanceChecks, type ConformanceCheck } from '../../conformance/conformance.ts';
import { supportedSchedulers } from '../../backends/registry.ts';
import { loadConfiguration, readConfigurationFile } from '../../config/load.ts';
import { messageOf, MusterError } from '../../errors.ts';
import { backendsOf, loadBackend } from '../input/backend-modules.ts';
import { ExitStatus } from '../output/exit-status.ts';
import type { CliIo } from '../output/io.ts';
import { paletteFor } from '../output/palette.ts';

interface ConformanceFlags {
  readonly module?: string;
  readonly name?: string;
  readonly config?: string;
  readonly output: 'text' | 'json';
}

/** One check, done. */
export interface CheckReport {
  readonly name: string;
  readonly rule: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped, or what is worth knowing. */
  readonly reason?: string;
}

const EXAMPLES = `
Examples:
  $ muster conformance --module ./my-backend.js
  $ muster conformance --name line-scheduler --config config.yaml
  $ muster conformance --name volcano -o json

Needs no cluster and writes nothing. Where the backend needs settings, the profile of its name in --config has them.
Exits with 1 where a rule is broken.`;

/** `muster conformance`: whether a backend keeps to its contract. */
export const conformanceCommand = (io: CliIo): Command =>
  new Command('conformance')
    .description('try a backend out against every rule of its contract')
    .option('--module <module>', 'the backend: a file (./my-backend.js), or the name of a package')
    .option('--name <name>', 'its name: of a backend that comes with Muster, or of a profile in --config')
    .option('--config <file>', 'OperatorConfiguration with the profile of its settings')
    .addOption(
      new Option('-o, --output <format>', 'how to print it').choices(['text', 'json']).default('text'),
    )
    .addHelpText('after', EXAMPLES)
    .action((flags: ConformanceFlags) => conformance(flags, io));

async function conformance(flags: ConformanceFlags, io: CliIo): Promise<void> {
  const { factory, settings } = await backendFor(flags);
  const reports: CheckReport[] = [];
  const palette = paletteFor('auto', io);
  const marks = { passed: palette.good('✓'), failed: palette.bad('✗'), skipped: '-' };
  for (const check of conformanceChecks(factory, settings)) {
    const report = await reportOf(check);
    reports.push(report);
    if (flags.output === 'text') io.stdout(`${marks[report.state]} ${lineOf(report)}\n`);
  }
  const count = (state: CheckReport['state']): number =>
    reports.filter((report) => report.state === state).length;
  const [passed, failed, skipped] = [count('passed'), count('failed'), count('skipped')];
  if (flags.output === 'json') {
    io.stdout(
      `${JSON.stringify({ backend: factory.name, passed, failed, skipped, checks: reports }, null, 2)}\n`,
    );
  } else {
    io.stdout(`\n${factory.name}: ${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  }
  if (failed > 0) throw new ExitStatus(1);
}

async function reportOf({ name, rule, run }: ConformanceCheck): Promise<CheckReport> {
  try {
    const outcome = await run();
    if (outcome.state === 'skipped')
      return { name, rule, state: 'skipped', reason: `says nothing while ${outcome.needs} is broken` };
    return { name, rule, state: 'passed', ...(outcome.note !== undefined && { reason: outcome.note }) };
  } catch (thrown) {
    return { name, rule, state: 'failed', reason: messageOf(thrown) };
  }
}

function lineOf({ name, rule, state, reason }: CheckReport): string {
  const said = reason === undefined ? undefined : printable(reason, 1024);
  if (state === 'failed') return `${name}: ${said ?? ''}\n    the rule: ${rule}`;
  if (state === 'skipped') return `${name}: ${said ?? ''}`;
  return `${name}: ${rule}${said === undefined ? '' : ` (${said})`}`;
}

/** The backend that is meant, and the settings that its profile has. */
async function backendFor({ module, name, config }: ConformanceFlags) {
  if (module === undefined && name === undefined)
    throw new MusterError('USAGE', 'which backend?', 'give --module with a file or package, or --name');
  const brought =
    module === undefined ? undefined : await loadBackend({ module, folder: resolve('.'), field: '--module' });
  if (brought !== undefined && name !== undefined && brought.name !== name) {
    throw new MusterError(
      'USAGE',
      `--module ${module ?? ''} exports the backend ${JSON.stringify(brought.name)}, and --name says ${JSON.stringify(name)}`,
      'leave out --name, or name the module of that backend',
    );
  }
  const { names } = supportedSchedulers();
  const { configuration } = loadConfiguration({
    ...(config === undefined ? {} : { text: readConfigurationFile(config), fileName: config }),
    env: {},
    flags: {},
    supportedSchedulers: [...names, ...(brought === undefined ? [] : [brought.name])],
  });
  const { schedulers, topologyAwareScheduling } = configuration;
  const factory = brought ?? (await namedBackend(name ?? '', configuration.schedulers.profiles, config));
  const profile = schedulers.profiles.find((one) => one.name === factory.name);
  const { enabled, levels } = topologyAwareScheduling;
  // Without a configuration the backend's own folder may say under which settings it is to be tried.
  const [own] = config === undefined ? Object.values(factory.conformance ?? {}) : [];
  if (own !== undefined) return { factory, settings: own };
  return {
    factory,
    settings: {
      // What came from a file is JSON, whatever its type says.
      config: (profile?.config ?? {}) as JsonObject,
      topology: { enabled, keys: levels.map((level) => level.key) },
    },
  };
}

async function namedBackend(
  name: string,
  profiles: Parameters<typeof backendsOf>[0],
  config: string | undefined,
): Promise<BackendFactory> {
  const factories = await backendsOf(profiles, config);
  const found = factories.find((factory) => factory.name === name);
  if (found !== undefined) return found;
  throw new MusterError(
    'USAGE',
    `there is no backend ${JSON.stringify(name)} (there are: ${factories.map((factory) => factory.name).join(', ')})`,
    'name one of these, or give the file of yours with --module',
  );
}

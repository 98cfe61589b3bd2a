import { Command } from 'commander';
import { printable } from '../../text/printable.ts';
import { outputOption } from '../input/shared-options.ts';
import { ExitStatus, type CliIo } from '../output/io.ts';
import { paletteFor } from '../output/palette.ts';
import type { CheckReport, Meant } from './trial.ts';
import { runTrial } from './watched-trial.ts';

interface ConformanceFlags extends Meant {
  readonly output: 'text' | 'json';
}

const EXAMPLES = `
Examples:
  $ muster conformance --module ./my-backend.js
  $ muster conformance --name line-scheduler --config config.yaml
  $ muster conformance --name volcano -o json
  $ muster conformance --module ./my-strategies.js
  $ muster conformance --module ./my-preparation.js

Needs no cluster and writes nothing. Where it needs settings, the profile or entry of its name in --config has them.
Exits with 1 where a rule is broken.`;

/** `muster conformance`: checks a backend, a preparation or a fleet's strategies against their contract. */
export const conformanceCommand = (io: CliIo): Command =>
  new Command('conformance')
    .description('try a backend, a preparation or strategies out against every rule of its contract')
    .option(
      '--module <module>',
      'the backend, strategies or preparation: a file (./my-backend.js), or the name of a package',
    )
    .option(
      '--name <name>',
      'its name: of a backend that comes with Muster, or of a profile or entry in --config',
    )
    .option(
      '--config <file>',
      'OperatorConfiguration with its settings: a profile, or an entry of fleet.assigner.plugins or hpc.preparations',
    )
    .addOption(outputOption())
    .addHelpText('after', EXAMPLES)
    .action((flags: ConformanceFlags) => conformance(flags, io));

async function conformance(flags: ConformanceFlags, io: CliIo): Promise<void> {
  const reports: CheckReport[] = [];
  const palette = paletteFor('auto', io);
  const marks = { passed: palette.good('✓'), failed: palette.bad('✗'), skipped: '-' };
  const { kind, name } = await runTrial(flags, (report) => {
    reports.push(report);
    if (flags.output === 'text') io.stdout(`${marks[report.state]} ${lineOf(report)}\n`);
  });
  const count = (state: CheckReport['state']): number =>
    reports.filter((report) => report.state === state).length;
  const [passed, failed, skipped] = [count('passed'), count('failed'), count('skipped')];
  if (flags.output === 'json') {
    io.stdout(`${JSON.stringify({ [kind]: name, passed, failed, skipped, checks: reports }, null, 2)}\n`);
  } else {
    io.stdout(`\n${name}: ${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  }
  if (failed > 0) throw new ExitStatus(1);
}

function lineOf({ name, rule, state, reason }: CheckReport): string {
  const said = reason === undefined ? undefined : printable(reason, 1024);
  if (state === 'failed') return `${name}: ${said ?? ''}\n    the rule: ${rule}`;
  if (state === 'skipped') return `${name}: ${said ?? ''}`;
  return `${name}: ${rule}${said === undefined ? '' : ` (${said})`}`;
}

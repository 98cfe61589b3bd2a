import { Command, CommanderError } from 'commander';
import { printable } from '../api/printable.ts';
import { MusterError, messageOf } from '../errors.ts';
import { ExitStatus } from './output/exit-status.ts';
import type { CliIo } from './output/io.ts';
import { verbs as allVerbs, type Verb } from './verbs.ts';

const EXIT_CODES = `
Exit codes:
  0  fine
  1  denied or invalid, or a failure
  2  wrong usage or unreadable input
  3  the cluster cannot be reached

Example:
  $ muster review -f pod.yaml
  $ muster review --help`;

/**
 * Runs one verb and gives the exit code. Never throws: everything that went wrong is told on standard error, as
 * `error: …` and, where Muster knows the way out, `fix: …`.
 * @param argv without the names of node and of the script
 */
export async function run(
  argv: readonly string[],
  io: CliIo,
  verbs: readonly Verb[] = allVerbs,
): Promise<number> {
  try {
    const { program, rest } = await programFor(argv, io, verbs);
    await program.parseAsync(rest, { from: 'user' });
    return 0;
  } catch (thrown) {
    return report(thrown, io);
  }
}

/** The program with the one verb that `argv` asks for loaded, or with the names of all. */
async function programFor(
  argv: readonly string[],
  io: CliIo,
  verbs: readonly Verb[],
): Promise<{ program: Command; rest: string[] }> {
  const program = outline(io);
  // `muster help serve` is `muster serve --help`.
  const words = argv[0] === 'help' && argv.length > 1 ? [...argv.slice(1, 2), '--help'] : [...argv];
  const verb = verbs.find(({ name }) => name === words[0]);
  if (verb !== undefined) {
    program.addCommand((await verb.load(io)).copyInheritedSettings(program));
    return { program, rest: words };
  }
  for (const { name, summary } of verbs) program.command(name).description(summary);
  return { program, rest: words.length === 0 ? ['--help'] : words };
}

const outline = (io: CliIo): Command =>
  new Command('muster')
    .description(
      'Gang-scheduling admission for Kubernetes: prepares, gates and validates the Pods of a gang.',
    )
    .usage('<verb> [options]')
    .helpCommand(false)
    .addHelpText('after', EXIT_CODES)
    .configureHelp({ subcommandTerm: (command) => command.name(), commandUsage: usageOf })
    .configureOutput({
      writeOut: (text) => io.stdout(text),
      writeErr: (text) => io.stderr(text),
      outputError: () => undefined, // told once, by report()
      getOutHelpWidth: () => HELP_WIDTH,
      getErrHelpWidth: () => HELP_WIDTH,
    })
    .exitOverride();

/** Help is the same on every terminal, and the same as in docs/cli.md. */
const HELP_WIDTH = 100;

const usageOf = (command: Command): string =>
  `${command.parent === null ? '' : `${command.parent.name()} `}${command.name()} ${command.usage()}`;

function report(thrown: unknown, io: CliIo): number {
  if (thrown instanceof ExitStatus) return thrown.exitCode;
  if (thrown instanceof CommanderError) {
    if (thrown.exitCode === 0) return 0;
    say(io, 'error', thrown.message.replace(/^error: /, '').replaceAll('\n', ' '));
    say(io, 'fix', 'see "muster --help" and "muster <verb> --help"');
    return 2;
  }
  if (thrown instanceof MusterError) {
    say(io, 'error', thrown.message);
    say(io, 'fix', thrown.fix);
  } else {
    say(io, 'error', messageOf(thrown));
  }
  if (io.env['MUSTER_DEBUG'] === '1' && thrown instanceof Error) io.stderr(`${thrown.stack ?? ''}\n`);
  return thrown instanceof MusterError ? thrown.exitCode : 1;
}

/** Long enough for every line that Muster writes itself, short enough that nothing hostile floods a log. */
const MAX_LINE = 4096;

/** One line for each line of `text`: a configuration with five faults gives five errors. */
function say(io: CliIo, what: 'error' | 'fix', text: string): void {
  for (const line of text.split('\n')) if (line !== '') io.stderr(`${what}: ${printable(line, MAX_LINE)}\n`);
}

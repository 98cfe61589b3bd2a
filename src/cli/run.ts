import { Command, CommanderError } from 'commander';
import { printable } from '../text/printable.ts';
import { MusterError, messageOf } from '../errors.ts';
import { ExitStatus, type CliIo, type Verb } from './output/io.ts';
import { filled, reflowed, widthFor } from './output/text-layout.ts';
import { verbs as allVerbs } from './verbs.ts';

const EXIT_CODES = `
Exit codes:
  0  fine
  1  denied or invalid, or a failure
  2  wrong usage or unreadable input
  3  the cluster cannot be reached
  4  of plan: the gang fits with preemption

Example:
  $ muster review -f pod.yaml
  $ muster review --help`;

/**
 * Runs one verb and returns the exit code. Never throws: every error is printed to standard error as `error[CODE]: …`, with
 * its way out as `fix: …`.
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
    return report(thrown, argv, io, verbs);
  }
}

/** The program with the verb of `argv` loaded, or with the names of all verbs. */
async function programFor(
  argv: readonly string[],
  io: CliIo,
  verbs: readonly Verb[],
): Promise<{ program: Command; rest: string[] }> {
  const program = outline(io);
  const words = wordsOf(argv, verbs);
  const verb = verbs.find(({ name }) => name === words[0]);
  if (verb !== undefined) {
    program.addCommand((await verb.load(io)).copyInheritedSettings(program));
    return { program, rest: words };
  }
  for (const { name, summary } of verbs) program.command(name).description(summary);
  return { program, rest: words.length === 0 ? ['--help'] : words };
}

/**
 * Rewrites `muster help serve` to `muster serve --help`, and `muster --version` to `muster version`. `help` with an unknown
 * verb reports the same error as the verb.
 */
function wordsOf([first, ...rest]: readonly string[], verbs: readonly Verb[]): string[] {
  if (first === undefined) return [];
  if (first === 'help') {
    const [verb = '--help'] = rest;
    return verb.startsWith('-') || isVerb(verb, verbs) ? [verb, '--help'] : [verb];
  }
  return [first === '--version' || first === '-V' ? 'version' : first, ...rest];
}

const isVerb = (word: string, verbs: readonly Verb[]): boolean => verbs.some(({ name }) => name === word);

function outline(io: CliIo): Command {
  const width = widthFor(io);
  const { programName = 'muster' } = io;
  const written = (text: string): string =>
    filled(
      programName === 'muster' ? text : text.replaceAll(/([$|"] ?)muster /g, `$1${programName} `),
      width,
    );
  return new Command(programName)
    .description(
      'Gang-scheduling admission for Kubernetes: prepares, gates and validates the Pods of a gang.',
    )
    .usage('<verb> [options]')
    .option('-V, --version', 'print the version, as the verb does')
    .helpCommand(false)
    .addHelpText('after', EXIT_CODES)
    .configureHelp({ subcommandTerm: (command) => command.name(), commandUsage: usageOf })
    .configureOutput({
      writeOut: (text) => io.stdout(written(text)),
      writeErr: (text) => io.stderr(written(text)),
      outputError: () => undefined, // report() prints it
      getOutHelpWidth: () => width,
      getErrHelpWidth: () => width,
    })
    .exitOverride();
}

const usageOf = (command: Command): string =>
  `${command.parent === null ? '' : `${command.parent.name()} `}${command.name()} ${command.usage()}`;

function report(thrown: unknown, argv: readonly string[], io: CliIo, verbs: readonly Verb[]): number {
  if (thrown instanceof ExitStatus) return thrown.exitCode;
  if (thrown instanceof CommanderError) {
    if (thrown.exitCode === 0) return 0;
    say(io, 'error[USAGE]: ', thrown.message.replace(/^error: /, '').replaceAll('\n', ' '));
    say(io, 'fix: ', fixFor(argv, io, verbs));
    return 2;
  }
  if (thrown instanceof MusterError) {
    const { code, message, fix, listed } = thrown;
    if (listed !== undefined) for (const line of listed.lines) say(io, '', line);
    say(io, `error[${code}]: `, listed?.summary ?? message);
    say(io, 'fix: ', fix);
  } else {
    say(io, 'error: ', messageOf(thrown));
  }
  if (io.env['MUSTER_DEBUG'] === '1' && thrown instanceof Error) io.stderr(`${thrown.stack ?? ''}\n`);
  return thrown instanceof MusterError ? thrown.exitCode : 1;
}

/** The way out of a usage error: rendering in place of `-k`, the missing `-f` in `muster review pod.yaml`, else the help. */
function fixFor(argv: readonly string[], { programName = 'muster' }: CliIo, verbs: readonly Verb[]): string {
  const [verb = '', ...rest] = argv;
  const kustomized = rest.findIndex((word) => /^(-k|--kustomize)/.test(word));
  if (kustomized >= 0 && isVerb(verb, verbs)) {
    const folder =
      rest[kustomized]?.includes('=') === true ? rest[kustomized].split('=')[1] : rest[kustomized + 1];
    return `render it first: kubectl kustomize ${folder ?? '.'} | ${programName} ${verb} -f -`;
  }
  const named = rest.some((word) => /^(-f|--filename)/.test(word));
  const file = rest.find((word, index) => /^[^-]|^-$/.test(word) && !rest[index - 1]?.startsWith('-'));
  if ((verb === 'review' || verb === 'validate') && !named && file !== undefined)
    return `name the file after -f: ${programName} ${verb} -f ${file}`;
  return isVerb(verb, verbs) ? `see "${programName} ${verb} --help"` : `see "${programName} --help"`;
}

/**
 * Longest line in characters: longer than Muster's own messages, and short enough that hostile input does not flood a log.
 */
const MAX_LINE = 4096;

/** Prints each line of `text` with its own prefix: five faults are five errors. */
function say(io: CliIo, what: string, text: string): void {
  for (const line of text.split('\n')) {
    if (line !== '')
      io.stderr(`${reflowed(`${what}${printable(line, MAX_LINE)}`, widthFor(io, Infinity))}\n`);
  }
}

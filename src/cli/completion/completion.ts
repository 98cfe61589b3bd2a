import { Argument, Command } from 'commander';
import type { CliIo, Verb } from '../output/io.ts';

const EXAMPLES = `
Examples:
  $ muster completion bash > /etc/bash_completion.d/muster
  $ muster completion zsh > "\${fpath[1]}/_muster"
  $ muster completion fish > ~/.config/fish/completions/muster.fish`;

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

interface Flag {
  readonly names: readonly string[];
  readonly summary: string;
  /** Values of the flag; undefined: it takes none; empty: it takes any value, usually the name of a file. */
  readonly values: readonly string[] | undefined;
}

interface Completed {
  readonly verb: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** Completions of the first argument of the verb; empty where they are not known. */
  readonly first: readonly string[];
}

/** `muster completion`: prints a script by which a shell completes verbs, flags and their values. */
export const completionCommand = (io: CliIo, verbs: readonly Verb[]): Command =>
  new Command('completion')
    .description('print what a shell needs to complete verbs, flags and their values')
    .addArgument(new Argument('<shell>', 'the shell that reads it').choices(SHELLS))
    .addHelpText('after', EXAMPLES)
    .action(async (shell: Shell) => {
      const all = await Promise.all(verbs.map((verb) => completed(verb, io)));
      io.stdout({ bash, zsh, fish }[shell](all));
    });

async function completed(verb: Verb, io: CliIo): Promise<Completed> {
  const { name, summary } = verb;
  const command = await verb.load(io);
  const flags = command.options.map(({ short, long, description, argChoices, required, optional }) => ({
    names: [short, long].filter((one) => one !== undefined),
    summary: description.replaceAll("'", '’'),
    values: required || optional ? (argChoices ?? []) : undefined,
  }));
  return {
    verb: name,
    summary,
    first: (await verb.words?.()) ?? command.registeredArguments[0]?.argChoices ?? [],
    flags: [...flags, { names: ['--help'], summary: 'help', values: undefined }],
  };
}

const namesOf = (flags: readonly Flag[]): string => flags.flatMap(({ names }) => names).join(' ');

/** `case` branches, `verb flag) words=…`, for flags with known values; for other flags the shell offers files. */
const branches = (all: readonly Completed[]): string =>
  all
    .flatMap(({ verb, flags }) =>
      flags.flatMap(({ names, values }) =>
        values === undefined
          ? []
          : [
              `    ${names.map((name) => `"${verb} ${name}"`).join('|')}) words="${values.join(' ')}"; known=1 ;;`,
            ],
      ),
    )
    .join('\n');

const bash = (all: readonly Completed[]): string => `# muster completion bash
_muster() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" verb="\${COMP_WORDS[1]}"
  local words="" known=""
  case "$verb $previous" in
${branches(all)}
  esac
  if [[ -z $known ]]; then
    if [[ $COMP_CWORD -eq 1 ]]; then words="help ${all.map(({ verb }) => verb).join(' ')}"
    elif [[ $verb == help && $COMP_CWORD -eq 2 ]]; then words="${all.map(({ verb }) => verb).join(' ')}"
${all
  .filter(({ first }) => first.length > 0)
  .map(
    ({ verb, first }) =>
      `    elif [[ $verb == ${verb} && $COMP_CWORD -eq 2 ]]; then words="${first.join(' ')}"`,
  )
  .join('\n')}
    elif [[ $current == -* ]]; then
      case "$verb" in
${all.map(({ verb, flags }) => `        ${verb}) words="${namesOf(flags)}" ;;`).join('\n')}
      esac
    fi
  fi
  if [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$current"))
  else COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _muster muster
`;

/** Zsh runs the script for bash once `bashcompinit` is loaded. */
const zsh = (all: readonly Completed[]): string => `#compdef muster
autoload -U +X bashcompinit && bashcompinit
${bash(all)}`;

const fish = (all: readonly Completed[]): string => {
  const lines = all.flatMap(({ verb, summary, flags, first }) => [
    `complete -c muster -f -n __fish_use_subcommand -a ${verb} -d '${summary}'`,
    ...(first.length > 0
      ? [`complete -c muster -f -n '__fish_seen_subcommand_from ${verb}' -a '${first.join(' ')}'`]
      : []),
    ...flags.map(({ names, summary: about, values }) => {
      const forms = names.map((name) =>
        name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
      );
      const value =
        values === undefined ? '' : values.length === 0 ? ' -r -F' : ` -x -a '${values.join(' ')}'`;
      return `complete -c muster -n '__fish_seen_subcommand_from ${verb}' ${forms.join(' ')}${value} -d '${about}'`;
    }),
  ]);
  return `# muster completion fish\n${lines.join('\n')}\n`;
};

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCatalogue } from '../../src/errors.ts';
import { rules } from '../../src/api/rules.ts';
import { muster, type Ran } from '../unit/cli/fake-io.ts';
import { FOLDER, inputOf, type Input } from './document-grammar.ts';
import { inTime, must, mustBeClean, mustBeUnpolluted, type Target, type Trial } from './target.ts';

/** YAML for `review`, `validate`, `plan` (with its snapshot) and `hpc render`: exit codes, words for a terminal, never a stack trace. */
export const documents: Target = {
  name: 'documents',
  share: 50,
  reaches: {
    of: 1_500,
    words: [
      'exit 0',
      'exit 1',
      'exit 2',
      'INPUT_UNREADABLE',
      'USAGE',
      'review json',
      'review yaml',
      'review sarif',
      'validate json',
      'validate github',
      'rule FieldType',
      'rule MinReplicasInvalid',
      'rule GangNameInvalid',
      'rule KindUnknown',
      'rule FieldUnknown',
      'same as JSON',
      'plan json',
      'hpc yaml',
      'SNAPSHOT_INVALID',
    ],
  },
  open: () => openDocuments(),
};

export async function openDocuments(run: typeof muster = muster): Promise<Trial> {
  const folder = await mkdtemp(join(tmpdir(), 'muster-fuzz-'));
  let count = 0;
  return {
    width: 1,
    make: (random) => Buffer.from(JSON.stringify(inputOf(random))),
    attempt: async (bytes) => {
      const { args, files } = JSON.parse(bytes.toString()) as Input;
      count += 1;
      const at = join(folder, String(count));
      await mkdir(join(at, 'sub'), { recursive: true });
      try {
        const { '-': stdin = '', ...named } = files;
        for (const [name, text] of Object.entries(named))
          await writeFile(join(at, name), Buffer.from(text, 'base64'));
        const given = args.map((arg) => arg.replace(FOLDER, at));
        const text = Buffer.from(stdin, 'base64').toString();
        const ran = await inTime(() => run(given, { stdin: text, isTerminal: count % 2 === 0, columns: 80 }));
        const texts = Object.values(files).map((file) => Buffer.from(file, 'base64').toString());
        const words = judge(given, texts, ran);
        mustBeUnpolluted();
        return [...words, ...(await sameAsJson(given, files, ran, run))];
      } finally {
        await rm(at, { recursive: true });
      }
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** What a terminal is told in colours. */
const COLOUR = /\u001b\[[0-9;]*m/g;

function judge(args: readonly string[], texts: readonly string[], { code, out, err }: Ran): string[] {
  // `plan` has a fourth: it fits with preemption.
  must([0, 1, 2, ...(args[0] === 'plan' ? [4] : [])].includes(code), `the exit code ${code}`);
  const plain = out.replaceAll(COLOUR, '');
  const errors = err.replaceAll(COLOUR, '');
  mustBeClean(errors, 'standard error');
  must(
    !/^\s+at .+[:)]\d+|TypeError|RangeError|is not a function|Cannot read prop|\[object Object\]/m.test(
      errors,
    ),
    () => `a raw error: ${errors}`,
  );
  must(!/^error: /m.test(errors), () => `an error without a code: ${errors}`);
  must(errors.length < 1_000_000, 'standard error without end');
  const codes = [...errors.matchAll(/^error\[([A-Z_]+)\]: /gm)].map(([, found]) => found ?? '');
  must(
    codes.every((found) => Object.hasOwn(errorCatalogue, found)),
    `an error of no catalogue: ${codes.join()}`,
  );
  // A snapshot may have several faults, each with its own line.
  must(code !== 2 || new Set(codes).size === 1, () => `exit 2 without its error: ${errors}`);
  must(code !== 0 || codes.length === 0, () => `exit 0 with an error: ${errors}`);
  const found = [...plain.matchAll(/\[([A-Z][A-Za-z]+)\]|"rule(?:Id)?": "([A-Za-z_]+)"/g)].flatMap(
    ([, one, other]) => one ?? other ?? [],
  );
  const format = args[args.indexOf('-o') + 1] ?? '';
  if (codes[0] !== 'USAGE' && code !== 2) judgeOutput(args.includes('-o') ? format : 'text', texts, plain);
  return [
    `exit ${code}`,
    ...codes,
    `${args[0]} ${args.includes('-o') ? format : 'text'}`,
    ...new Set(
      found
        .filter((rule) => Object.hasOwn(rules, rule) || /Unknown|Missing|Invalid/.test(rule))
        .map((rule) => `rule ${rule}`),
    ),
  ];
}

function judgeOutput(format: string, texts: readonly string[], out: string): void {
  if (format === 'json' || format === 'sarif') {
    mustBeClean(out, 'the output');
    if (out !== '') JSON.parse(out);
  } else if (format !== 'yaml') mustBeClean(out, 'the output');
  // `yaml` writes "undefined" into some long quoted texts that it folds, so an input may have the word.
  must(
    texts.some((text) => text.includes('undefined')) ||
      !/undefined|\[object Object\]/.test(out.replaceAll(/"[^"\n]*"/g, '')),
    () => `the output: ${out.slice(0, 2_000)}`,
  );
}

/** A single text of one object says the same as the same object in JSON. */
async function sameAsJson(
  args: readonly string[],
  files: Input['files'],
  ran: Ran,
  run: typeof muster,
): Promise<string[]> {
  const same = files['-same'];
  if (same === undefined || ran.code === 2) return [];
  const other = await run(args, {
    stdin: Buffer.from(same, 'base64').toString(),
    isTerminal: false,
    columns: 80,
  });
  const decided = ({ out }: Ran): string => out.replaceAll(/"(line|column)": \d+,?\s*/g, '');
  must(
    other.code === ran.code && decided(other) === decided(ran),
    () => `as JSON: ${other.code} ${other.out}\n as YAML: ${ran.code} ${ran.out}`,
  );
  return ['same as JSON'];
}

import { Argument, Command } from 'commander';
import { MusterError } from '../../errors.ts';
import { nearestKey } from '../../text/nearest-key.ts';
import { quoted } from '../../text/printable.ts';
import { outputOption } from '../input/shared-options.ts';
import { columns, reflowed, widthFor } from '../output/text-layout.ts';
import type { CliIo } from '../output/io.ts';
import { paletteFor } from '../output/palette.ts';
import type { Entry, Topic } from './topic.ts';
import { topics } from './topics.ts';

const EXAMPLES = `
Examples:
  $ muster explain                                      what there is to explain
  $ muster explain GangNotNamed                         a rule, by the name in brackets of a message
  $ muster explain muster.dev/expected-pods             a label or annotation; expected-pods will do
  $ muster explain podgang.spec.podgroups.minReplicas   a field; podgang for all of them
  $ muster explain server.webhooks.limits               settings, by path or by variable
  $ muster explain -o json labels

The same text as in docs/reference, from the same source. Nothing is asked of a cluster. Exits with
2 where nothing has the name.`;

/** An entry, with the topic that it belongs to. */
interface Found {
  readonly topic: Topic;
  readonly entry: Entry;
}

/** `muster explain`: describes rules, labels, fields, settings, metrics and errors with the texts of docs/reference. */
export const explainCommand = (io: CliIo): Command =>
  new Command('explain')
    .description('explain a rule, label, annotation, field, setting, metric or error by its name')
    .addArgument(new Argument('[name]', 'what to explain; all topics without it'))
    .addOption(outputOption())
    .addHelpText('after', EXAMPLES)
    .action((name: string | undefined, { output }: { output: 'text' | 'json' }) => {
      const all = topics();
      const text = output === 'text';
      if (name === undefined) {
        io.stdout(text ? contents(all, io) : json(all.map(summaryOf)));
        return;
      }
      const whole = all.find((topic) => topic.name === name.toLowerCase());
      const found = whole?.entries.map((entry) => ({ topic: whole, entry })) ?? find(all, name);
      if (!text) io.stdout(json(found.map(fieldsOf)));
      else io.stdout(whole === undefined && isOne(found) ? details(found, io) : listed(found, io));
    });

/** Names for a shell's completion. */
export const explainable = (): readonly string[] => {
  const all = topics();
  const names = all.flatMap(({ entries }) => entries.map(({ name }) => plainPath(name)));
  return [...new Set([...all.map(({ name }) => name), ...names])].filter((name) => /^[\w./-]+$/.test(name));
};

/** A path without `[]`, which nobody types. */
const plainPath = (name: string): string => name.replaceAll('[]', '');
const same = (name: string): string => plainPath(name).toLowerCase();

/** Entries with this name and those below its path; where there are none, entries with this alias. */
function find(all: readonly Topic[], name: string): readonly Found[] {
  const everything = all.flatMap((topic) => topic.entries.map((entry) => ({ topic, entry })));
  const wanted = same(name);
  const among = (namesOf: (entry: Entry) => readonly string[]): Found[] =>
    everything.filter(({ entry }) =>
      namesOf(entry).some((one) => same(one) === wanted || same(one).startsWith(`${wanted}.`)),
    );
  const called = among((entry) => [entry.name]);
  const found = called.length > 0 ? called : among((entry) => entry.aliases ?? []);
  if (found.length > 0) return found;
  throw unknown(name, everything);
}

function unknown(name: string, everything: readonly Found[]): MusterError {
  const names = everything.flatMap(({ entry }) => [entry.name, ...(entry.aliases ?? [])].map(plainPath));
  const last = everything.find(({ entry }) => same(entry.name).endsWith(`.${same(name)}`))?.entry.name;
  const near = nearestKey(plainPath(name), names) ?? (last && plainPath(last));
  const meant = near === undefined ? '' : ` (did you mean "${near}"?)`;
  return new MusterError(
    'USAGE',
    `nothing is called ${quoted(name)}${meant}`,
    'see "muster explain" for what there is to explain',
  );
}

/** Entries that share one name are printed in full, entries with several names as a list. */
const isOne = (found: readonly Found[]): boolean => new Set(found.map(({ entry }) => entry.name)).size === 1;

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const summaryOf = ({ name, title, page, entries }: Topic): object => ({
  topic: name,
  title,
  page: `docs/reference/${page}`,
  names: [...new Set(entries.map((entry) => entry.name))],
});

/** A cell that is a single name is printed without backquotes. */
const plain = (cell: string): string => cell.replace(/^`([^`]*)`$/, '$1');

const fieldsOf = ({ topic, entry }: Found): object => ({
  topic: topic.name,
  name: entry.name,
  ...Object.fromEntries(topic.columns.map(({ key }, index) => [key, plain(entry.cells[index] ?? '')])),
  page: `docs/reference/${topic.page}`,
});

function contents(all: readonly Topic[], io: CliIo): string {
  const rows = all.map(({ name, title, entries }) => [
    name,
    String(entries.length),
    entries[0]?.name ?? '-',
    title,
  ]);
  const lines = columns(
    [['TOPIC', 'ENTRIES', 'SUCH AS', 'WHAT'], ...rows],
    paletteFor('auto', io),
    widthFor(io),
  );
  return `${lines.join('\n')}\n\n"muster explain TOPIC" lists its names, "muster explain NAME" explains one.\n`;
}

function details(found: readonly Found[], io: CliIo): string {
  const blocks = found.map(({ topic, entry }) => {
    const rows = topic.columns.flatMap(({ head }, index) => {
      const cell = plain(entry.cells[index] ?? '');
      return cell === '' ? [] : [[`  ${head}`, cell]];
    });
    return [
      `${entry.name}: ${topic.one}`,
      ...columns(rows, paletteFor('never', io), widthFor(io)),
      `  see docs/reference/${topic.page}`,
      '',
    ].join('\n');
  });
  return blocks.join('\n');
}

/** One line for each entry with its name and meaning; long names have a line of their own. */
function listed(found: readonly Found[], io: CliIo): string {
  const rows = found.map(({ topic, entry }) => {
    const meaning = topic.columns.findIndex(({ key }) => key === 'meaning' || key === 'says');
    return [entry.name, plain(entry.cells[meaning] ?? '')] as const;
  });
  const width = widthFor(io);
  const lines = rows.some(([name]) => name.length > width / 2)
    ? rows.map(([name, meaning]) => `${name}\n${reflowed(`    ${meaning}`, width)}`)
    : columns([['NAME', 'MEANING'], ...rows], paletteFor('auto', io), width);
  return `${lines.join('\n')}\n`;
}

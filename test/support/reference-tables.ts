/** The tables of docs/reference, as Markdown: what `muster explain` says, between `<!-- name -->` and `<!-- /name -->`. */
import type { Command } from 'commander';
import { keysOfConditions } from '../../src/api/condition-keys.ts';
import { keysOfFleets } from '../../src/api/fleet-keys.ts';
import { keysOfGangs } from '../../src/api/gang-keys.ts';
import { keysOfPreemption } from '../../src/api/preemption-keys.ts';
import { keysOfWorkloads } from '../../src/api/workload-keys.ts';
import { codeOf, type Entry, type Topic } from '../../src/cli/explain/topic.ts';
import { topics } from '../../src/cli/explain/topics.ts';
import { verbs } from '../../src/cli/verbs.ts';
import { fakeIo, muster } from '../unit/cli/fake-io.ts';

/** Code stays as it is; what else Markdown would take for a mark gets a backslash. */
const cellOf = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(/[*_<]/g, '\\$&')))
    .join('')
    .replaceAll('|', '\\|')
    .trim();

const rowOf = (cells: readonly string[]): string => `| ${cells.map(cellOf).join(' | ')} |`;

const tableOf = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [rowOf(heads), `|${heads.map(() => '---|').join('')}`, ...rows.map(rowOf)].join('\n');

/** @param heads of columns that are left out where no row has anything in them */
function topicTable({ one, columns }: Topic, entries: readonly Entry[]): string {
  const used = columns.flatMap(({ head }, index) =>
    entries.some(({ cells }) => cells[index] !== '') ? [{ head, index }] : [],
  );
  const [word = ''] = one.split(' ');
  return tableOf(
    [`${word[0]?.toUpperCase() ?? ''}${word.slice(1)}`, ...used.map(({ head }) => head)],
    entries.map(({ name, cells }) => [codeOf(name), ...used.map(({ index }) => cells[index] ?? '')]),
  );
}

/** Tables of a topic that stand in several sections of its page. */
const SECTIONS: Readonly<Record<string, (entries: readonly Entry[]) => Record<string, readonly Entry[]>>> = {
  labels: (entries) => {
    const rest = [...entries];
    return Object.fromEntries(
      Object.entries({ keysOfGangs, keysOfWorkloads, keysOfPreemption, keysOfFleets, keysOfConditions }).map(
        ([name, keys]) => [name.replace('keysOf', 'labels ').toLowerCase(), rest.splice(0, keys.length)],
      ),
    );
  },
  fields: (entries) =>
    Object.groupBy(entries, ({ name }) => name.split('.')[0] ?? '') as Record<string, readonly Entry[]>,
};

/** What a verb's page has of it: usage, arguments, flags, examples. */
async function verbTable(name: string, command: Command): Promise<string> {
  const { out } = await muster([name, '--help']);
  const [, after = ''] = out.split(/^ {2}-h, --help .*\n/m);
  const [, title = '', examples = '', rest = ''] =
    /^\n(Examples?:)\n((?: {2}.*\n)+)([^]*)$/.exec(after) ?? [];
  const valuesOf = (choices: readonly string[] | undefined): string =>
    choices === undefined ? '' : ` One of ${choices.map(codeOf).join(', ')}.`;
  const argumentsRows = command.registeredArguments.map((one) => [
    codeOf(one.required ? `<${one.name()}>` : `[${one.name()}]`),
    '',
    `${one.description}.${valuesOf(one.argChoices)}`,
  ]);
  const flags = command.options.map((one) => [
    codeOf(one.flags),
    one.mandatory ? 'required' : typeof one.defaultValue === 'string' ? codeOf(one.defaultValue) : '',
    `${one.description}.${valuesOf(one.argChoices)}`,
  ]);
  return [
    `\`${`muster ${name} ${command.usage()}`.trim()}\`: ${command.description()}.`,
    ...(argumentsRows.length + flags.length === 0
      ? []
      : [tableOf(['Flag', 'Default', 'Meaning'], [...argumentsRows, ...flags])]),
    ...(title === '' ? [] : [`\`\`\`sh\n${examples.replaceAll(/^ {2}/gm, '').trim()}\n\`\`\``]),
    ...(rest.trim() === '' ? [] : [cellOf(rest.trim()).replaceAll('\\|', '|')]),
  ].join('\n\n');
}

/** Every table by its name, and the page that it stands in. */
export async function referenceTables(): Promise<ReadonlyMap<string, { page: string; text: string }>> {
  const found = new Map<string, { page: string; text: string }>();
  for (const topic of topics()) {
    const { name, page, entries } = topic;
    const parts = SECTIONS[name]?.(entries) ?? { [name]: entries };
    for (const [part, rows] of Object.entries(parts))
      found.set(part, { page, text: topicTable(topic, rows) });
  }
  const rows = verbs.map(({ name, summary }) => [`[${name}](#${name})`, summary]);
  found.set('verbs', { page: 'cli.md', text: tableOf(['Verb', 'What it does'], rows) });
  for (const verb of verbs) {
    const text = await verbTable(verb.name, await verb.load(fakeIo().io));
    found.set(`verb ${verb.name}`, { page: 'cli.md', text });
  }
  return found;
}

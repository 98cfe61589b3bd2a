import { own, ownList, ownObject, ownString, type Json } from '../src/json/json.ts';
import { defaultValues, valuesJsonSchema } from './values-files.ts';

/** Lists whose items have names of their own, which are Muster's. */
const OWN_ITEMS = ['modules'];

interface Row {
  readonly path: string;
  readonly type: string;
  readonly default: Json | undefined;
  readonly description: string;
}

/** docs/reference/values.md: every value of the chart, from its schema. */
export function valuesPage(): string {
  const rows = rowsOf(valuesJsonSchema(), defaultValues(), '');
  return `# Values of the chart

Made from [charts/values-schema.ts](../../charts/values-schema.ts), as \`values.yaml\` and \`values.schema.json\` are.
[The chart](../manifests.md#the-chart) says how they are used.

| Value | Type | Default | What |
|---|---|---|---|
${rows.map(lineOf).join('\n')}
`;
}

function rowsOf(schema: Json, defaults: Json | undefined, under: string): readonly Row[] {
  return Object.entries(ownObject(schema, 'properties') ?? {}).flatMap(([name, field]): readonly Row[] => {
    const path = under === '' ? name : `${under}.${name}`;
    const value = defaults === undefined ? undefined : own(defaults, name);
    const description = ownString(field, 'description') ?? '';
    const inner = ownObject(field, 'properties') !== undefined && description === '';
    if (inner) return rowsOf(field, value, path);
    const row = { path, type: typeOf(field), default: value, description };
    if (OWN_ITEMS.includes(path)) return [row, ...rowsOf(own(field, 'items') ?? {}, undefined, `${path}[]`)];
    return [row];
  });
}

function typeOf(field: Json): string {
  const options = ownList(field, 'enum');
  if (options !== undefined)
    return options.map((one) => `\`${JSON.stringify(one)}\``.replaceAll('"', '')).join(', ');
  const choices = ownList(field, 'anyOf');
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(' or ');
  const type = ownString(field, 'type') ?? 'any';
  return type === 'array' ? 'list' : type === 'object' ? 'map' : type;
}

const lineOf = ({ path, type, default: value, description }: Row): string => {
  const written = value === undefined ? '' : `\`${JSON.stringify(value).replaceAll('|', '\\|')}\``;
  return `| \`${path}\` | ${type} | ${written} | ${linked(description).replaceAll('|', '\\|')} |`;
};

/** `docs/hpc.md` in parentheses becomes a link. */
const linked = (text: string): string =>
  text.replaceAll(/\bdocs\/([\w/-]+)\.md/g, (_all, page: string) => {
    const to = page.startsWith('reference/') ? page.slice('reference/'.length) : `../${page}`;
    return `[${page.slice(page.lastIndexOf('/') + 1)}](${to}.md)`;
  });

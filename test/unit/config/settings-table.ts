import { type Setting, settings } from '../../../src/config/settings.ts';

/** One row of the table in docs/reference/configuration.md; Markdown in each cell. */
export interface ReferenceRow {
  readonly path: string;
  readonly type: string;
  readonly default: string;
  readonly environment: string;
  readonly description: string;
}

/** Markers between which docs/reference/configuration.md holds the table. */
export const REFERENCE_BEGIN = '<!-- settings: made from src/config/schema.ts -->';
export const REFERENCE_END = '<!-- /settings -->';

const TYPE_WORDS: Readonly<Partial<Record<Setting['type'], string>>> = {
  strings: 'list of strings',
  list: 'list of mappings',
  map: 'mapping',
};

const code = (value: unknown): string => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;

function typeCell({ type, values }: Setting): string {
  if (values !== undefined) return values.map(code).join(' or ');
  return TYPE_WORDS[type] ?? type;
}

/** What a section that may be left out asks for is asked for only where the section is written. */
function requiredCell({ keys, path }: Setting): string {
  const section = keys.slice(0, -1).join('.');
  return section === '' || path.includes('[]') ? 'required' : `required where \`${section}\` is given`;
}

function defaultCell(setting: Setting): string {
  if (setting.required) return requiredCell(setting);
  if (setting.default === undefined) return '';
  return setting.default === '' ? 'empty' : code(setting.default);
}

/** Every setting, in the order of the schema. */
export const referenceRows = (): readonly ReferenceRow[] =>
  settings.map((setting) => ({
    path: code(setting.path),
    type: typeCell(setting),
    default: defaultCell(setting),
    environment: setting.environment === undefined ? '' : code(setting.environment),
    description: setting.description.replaceAll('|', '\\|'),
  }));

/** The rows as a Markdown table. */
export function referenceTable(): string {
  const rows = referenceRows().map(
    (row) => `| ${row.path} | ${row.type} | ${row.default} | ${row.environment} | ${row.description} |`,
  );
  return [
    '| Setting | Type | Default | Environment variable | Meaning |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

/** `markdown` with what stands between the markers replaced by the table. */
export function withReferenceTable(markdown: string): string {
  const begin = markdown.indexOf(REFERENCE_BEGIN);
  const end = markdown.indexOf(REFERENCE_END);
  if (begin < 0 || end < begin)
    throw new RangeError(`markers ${REFERENCE_BEGIN} and ${REFERENCE_END} are missing`);
  return `${markdown.slice(0, begin + REFERENCE_BEGIN.length)}\n\n${referenceTable()}\n\n${markdown.slice(end)}`;
}

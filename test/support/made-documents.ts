/** What manifests and pages say of the backends, made from what the backends say of themselves. */
import type { BackendFactory } from '../../src/backends/backend.ts';
import type { ProfileSettings } from '../../src/backends/profile-config.ts';
import {
  MUSTERS_RULES,
  PAST_BUDGETS_RULES,
  PREEMPTION_RULES,
  type ExpectedRule,
} from '../../src/cli/doctor/expected-rights.ts';

/** A stretch of a file that is made, between the marks that stay. */
export interface Made {
  readonly file: string;
  readonly between: readonly [begin: string, end: string];
  readonly text: string;
}

/** @throws where the marks are not there, once each */
export function withMade(page: string, { file, between: [begin, end], text }: Made): string {
  const parts = page.split(begin);
  const rest = parts[1]?.split(end) ?? [];
  if (parts.length !== 2 || rest.length !== 2) throw new Error(`${file} has no ${begin} … ${end}`);
  return `${parts[0]}${begin}${text}${end}${rest[1]}`;
}

const row = (
  what: string,
  { group, resources, verbs, names: objects = [], lease, why }: ExpectedRule,
): string => {
  const kinds = resources.map((resource) => `\`${resource}\``).join(', ');
  const of = group === '' || group.endsWith('grove.io') ? '' : ` of \`${group}\``;
  const only = [...objects, ...(lease === 'name' ? ['muster-leader-election'] : [])];
  const one = only.map((name) => `, of \`${name}\``).join('');
  return `| ${what} | ${kinds}${of}: ${verbs.join(', ')}${one} | ${why} |`;
};

const settingsTable = (settings: ProfileSettings): string =>
  [
    '| Key | Type | Default | Meaning |',
    '|---|---|---|---|',
    ...Object.entries(settings).map(([key, setting]) => {
      const fallback = setting.default === undefined ? 'none' : `\`${JSON.stringify(setting.default)}\``;
      return `| \`${key}\` | ${setting.type} | ${fallback} | ${setting.description} |`;
    }),
  ].join('\n');

export const rightsTableOf = (factories: readonly BackendFactory[]): Made => ({
  file: 'docs/manifests.md',
  between: ['<!-- rights -->\n', '<!-- /rights -->\n'],
  text: [
    '| Whose | What | Why |',
    '|---|---|---|',
    ...MUSTERS_RULES.map((rule) =>
      row(rule.lease === undefined ? 'Muster' : 'Muster, in `muster-system`', rule),
    ),
    ...PREEMPTION_RULES.map((rule) => row('component `preemption`', rule)),
    ...PAST_BUDGETS_RULES.map((rule) => row('component `preemption-past-budgets`', rule)),
    ...factories.flatMap(({ name, rights = [] }) => rights.map((right) => row(`backend \`${name}\``, right))),
    '',
  ].join('\n'),
});

/** The list of backends, each with the page in its folder. */
export const pagesListOf = (
  factories: readonly BackendFactory[],
  folderOf: (name: string) => string,
): Made => ({
  file: 'docs/backends.md',
  between: ['<!-- pages -->\n', '<!-- /pages -->\n'],
  text: factories.map(({ name }) => `- [\`${name}\`](../${folderOf(name)}/README.md)\n`).join(''),
});

export const settingsOf = ({ settings = {} }: BackendFactory, folder: string): Made => ({
  file: `${folder}/README.md`,
  between: ['<!-- settings -->\n', '\n<!-- /settings -->'],
  text: settingsTable(settings),
});

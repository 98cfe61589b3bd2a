import { type Setting, settings } from '../../config/settings.ts';
import { codeOf, type Topic } from './topic.ts';

const TYPE_WORDS: Readonly<Partial<Record<Setting['type'], string>>> = {
  strings: 'list of strings',
  list: 'list of mappings',
  map: 'mapping',
};

function typeCell({ type, values }: Setting): string {
  if (values !== undefined) return values.map(codeOf).join(' or ');
  return TYPE_WORDS[type] ?? type;
}

/** A required setting of an optional section is required only where the section is written. */
function requiredCell({ keys, path }: Setting): string {
  const section = keys.slice(0, -1).join('.');
  return section === '' || path.includes('[]') ? 'required' : `required where \`${section}\` is given`;
}

function defaultCell(setting: Setting): string {
  if (setting.required) return requiredCell(setting);
  if (setting.default === undefined) return '';
  return setting.default === '' ? 'empty' : codeOf(setting.default);
}

/** Every setting of the configuration, in the order of the schema. */
export const settingTopic: Topic = {
  name: 'settings',
  title: 'Settings of the configuration',
  one: 'setting',
  page: 'configuration.md',
  columns: [
    { key: 'type', head: 'Type' },
    { key: 'default', head: 'Default' },
    { key: 'environment', head: 'Environment variable' },
    { key: 'meaning', head: 'Meaning' },
  ],
  entries: settings.map((setting) => ({
    name: setting.path,
    aliases: setting.environment === undefined ? [] : [setting.environment],
    cells: [
      typeCell(setting),
      defaultCell(setting),
      setting.environment === undefined ? '' : codeOf(setting.environment),
      setting.description,
    ],
  })),
};

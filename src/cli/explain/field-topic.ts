import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { fluxSettingRows } from '../../preparers/flux/settings.ts';
import { codeOf, type Entry, type Topic } from './topic.ts';

/** Fields that every object has, whatever its kind. */
const OF_ALL_KINDS = ['apiVersion', 'kind', 'metadata'];

/** The fields of these CustomResourceDefinitions, in the order of their schemas. */
export const fieldTopic = (definitions: readonly JsonObject[]): Topic => ({
  name: 'fields',
  title: 'Fields of PodGang, HPCPolicy, SchedulerBackend and FleetQueue',
  one: 'field',
  page: 'fields.md',
  columns: [
    { key: 'type', head: 'Type' },
    { key: 'default', head: 'Default' },
    { key: 'meaning', head: 'Meaning' },
  ],
  entries: definitions.flatMap(fieldsOf),
});

function fieldsOf(definition: JsonObject): Entry[] {
  const spec = ownObject(definition, 'spec');
  const [version] = ownList(spec, 'versions') ?? [];
  const schema = ownObject(own(version, 'schema'), 'openAPIV3Schema') ?? {};
  const names = ownObject(spec, 'names');
  const singular = ownString(names, 'singular') ?? '';
  const others = [ownString(names, 'plural') ?? '', ...(ownList(names, 'shortNames') ?? []).map(String)];
  const below = Object.entries(ownObject(schema, 'properties') ?? {})
    .filter(([name]) => !OF_ALL_KINDS.includes(name))
    .flatMap(([name, node]) => entriesOf(node, name, isRequired(schema, name)));
  const kind = {
    path: '',
    cells: [
      `${ownString(spec, 'scope') ?? ''} object of \`${ownString(spec, 'group') ?? ''}/${ownString(version, 'name') ?? ''}\``,
      '',
      ownString(schema, 'description') ?? '',
    ],
  };
  return [kind, ...below].map(({ path, cells }) => ({
    name: joined(singular, path),
    aliases: others.map((other) => joined(other, path)),
    cells,
  }));
}

const joined = (first: string, path: string): string => (path === '' ? first : `${first}.${path}`);

interface Field {
  readonly path: string;
  readonly cells: readonly string[];
}

function entriesOf(node: Json, path: string, required: boolean): Field[] {
  const fallback = own(node, 'default');
  const empty = fallback === undefined || JSON.stringify(fallback) === '{}';
  const here = {
    path,
    cells: [
      `${typeOf(node)}${boundsOf(node)}`,
      required ? 'required' : empty ? '' : codeOf(fallback),
      ownString(node, 'description') ?? '',
    ],
  };
  const object = ownObject(node, 'items') ?? node;
  // The fields of a condition are Kubernetes' own.
  const properties = path === 'status.conditions' ? undefined : ownObject(object, 'properties');
  const below = Object.entries(properties ?? {}).flatMap(([name, child]) =>
    entriesOf(child, `${path}.${name}`, isRequired(object, name)),
  );
  return [here, ...below, ...(path === FLUX_SETTINGS ? fluxFields() : [])];
}

const FLUX_SETTINGS = 'spec.hpc.settings';

/**
 * Fields that the CustomResourceDefinition does not list, since the webhook validates them and suggests the name of a
 * misspelt setting.
 */
const fluxFields = (): Field[] =>
  Object.entries(fluxSettingRows).map(([name, { form, byDefault, meaning }]) => ({
    path: `${FLUX_SETTINGS}.${name}`,
    cells: [form, byDefault === undefined ? '' : codeOf(byDefault), meaning],
  }));

const isRequired = (node: Json, name: string): boolean => ownList(node, 'required')?.includes(name) === true;

function typeOf(node: Json): string {
  const values = ownList(node, 'enum');
  if (values !== undefined) return values.map(codeOf).join(' or ');
  const type = ownString(node, 'type');
  if (own(node, 'x-kubernetes-int-or-string') === true) return 'integer or string';
  if (type === 'array') {
    const items = own(node, 'items');
    return `list of ${ownString(items, 'type') === 'object' ? 'objects' : `${typeOf(items ?? null)}s`}`;
  }
  const inside = own(node, 'additionalProperties');
  if (inside !== undefined) return `map of ${typeOf(inside)}`;
  return type ?? '';
}

function boundsOf(node: Json): string {
  const [least, most, longest] = ['minimum', 'maximum', 'maxLength'].map((key) => own(node, key));
  if (typeof least === 'number' && typeof most === 'number') return `, from ${least} to ${most}`;
  return typeof longest === 'number' ? `, at most ${longest} characters` : '';
}

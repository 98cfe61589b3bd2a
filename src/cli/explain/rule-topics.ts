import { rules } from '../../api/rules.ts';
import type { Rule } from '../../api/rule.ts';
import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { notices } from '../gangs/notices.ts';
import type { Entry, Topic } from './topic.ts';

const SAYS = [
  { key: 'says', head: 'What it says' },
  { key: 'fix', head: 'The way out' },
];

/** Rules by which Muster refuses an object. */
export const ruleTopic: Topic = {
  name: 'rules',
  title: 'Rules by which Muster refuses an object',
  one: 'rule of admission',
  page: 'rules.md',
  columns: [{ key: 'code', head: 'Code' }, { key: 'kind', head: 'Kind' }, ...SAYS],
  entries: Object.entries<Rule>(rules).map(([name, { code, kind, says, fix }]) => ({
    name,
    cells: [String(code), kind, says, fix],
  })),
};

/** Notices of `muster review` and `muster validate` about an input as a whole. */
export const noticeTopic: Topic = {
  name: 'notices',
  title: 'What review and validate tell of an input as a whole',
  one: 'notice of review and validate',
  page: 'rules.md',
  columns: [{ key: 'severity', head: 'Severity' }, ...SAYS],
  entries: Object.entries(notices).map(([name, { severity, says, fix }]) => ({
    name,
    cells: [severity, says, fix],
  })),
};

/** Rules that the API server evaluates by itself: those of policies and of CustomResourceDefinitions. */
export const policyTopic = (manifests: readonly JsonObject[]): Topic => ({
  name: 'policies',
  title: 'Rules that the API server keeps by itself',
  one: 'rule of the API server',
  page: 'rules.md',
  columns: [{ key: 'policy', head: 'Policy or definition' }, { key: 'field', head: 'Field' }, ...SAYS],
  entries: manifests.flatMap((object) =>
    validationsIn(object).flatMap((message) => entryOf(object, message)),
  ),
});

/**
 * `field: Kind: what it says; the way out [Rule]`; in a CustomResourceDefinition the field and the way out may be missing.
 */
const MESSAGE = /^(?:([^:;]+): ([^:;]+): )?(.*?)(?:; (.*))? \[(\w+)\]$/;

function entryOf(object: JsonObject, message: string): Entry[] {
  const [whole, field = '', kind = '', says = '', fix = '', name = ''] = MESSAGE.exec(message) ?? [];
  if (whole === undefined) return [];
  const owner = ownString(ownObject(object, 'metadata'), 'name') ?? '';
  return [{ name, cells: [`\`${owner}\``, field === '' ? '' : `${field}: ${kind}`, says, fix] }];
}

const LISTS = ['validations', 'x-kubernetes-validations'];

function validationsIn(node: Json): string[] {
  if (Array.isArray(node)) return node.flatMap((one) => validationsIn(one as Json));
  if (node === null || typeof node !== 'object') return [];
  return Object.keys(node).flatMap((key) =>
    LISTS.includes(key)
      ? (ownList(node, key) ?? []).flatMap((one) => ownString(one, 'message') ?? [])
      : validationsIn(own(node, key) ?? null),
  );
}

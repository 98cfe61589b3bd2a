import { isObject, own, ownList, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import { printable } from '../text/printable.ts';
import type { Resource } from '../k8s/resource.ts';
import { rules, type RuleName } from '../api/rules.ts';
import type { PatchSurface } from '../backends/backend.ts';
import type { OwnedObject } from '../backends/cluster.ts';
import {
  POD_FIELDS,
  POD_LISTS,
  type PodField,
  type PodGangVerdict,
  type PodList,
} from '../preparers/preparer.ts';
import type { FromModule } from './wire.ts';

/** Facts that a backend's module states once, when it is loaded. */
export interface ModuleBackendFacts {
  readonly name: string;
  readonly contractVersion: number;
  readonly schedulerName: string;
  readonly patchSurface: PatchSurface;
  readonly readsWholePods: boolean;
  readonly cleansUp: boolean;
  readonly rights: readonly DeclaredRight[];
  /** Names of the optional operations that the backend has. */
  readonly has: readonly string[];
}

/** Decodes a line from the module. @returns undefined where the line is no message */
export function decodeMessage(line: string): FromModule | undefined {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return undefined;
  }
  const [what, id, number] = ['what', 'id', 'number'].map((key) => own(message, key));
  if (what === 'last') return { what, reason: textOf(message, 'reason') };
  if (typeof id !== 'number') return undefined;
  if (what === 'value') return { what, id, value: own(message, 'value') ?? null };
  if (what === 'thrown') {
    const thrown = own(message, 'thrown');
    const callback = own(thrown, 'callback');
    return {
      what,
      id,
      thrown: {
        message: textOf(thrown, 'message'),
        field: ownString(thrown, 'field')?.slice(0, 256),
        callback: typeof callback === 'number' ? callback : undefined,
      },
    };
  }
  const [method, given] = [ownString(message, 'method'), ownList(message, 'given')];
  if (what !== 'ask' || typeof number !== 'number' || method === undefined || given === undefined)
    return undefined;
  return { what, id, number, method, given };
}

/** The field as one printable line of bounded length. */
const textOf = (value: unknown, key: string): string =>
  printable(ownString(value, key) ?? 'it did not say why', 1_024);

/** The error for a value that the module's contract does not allow. */
export const undecodable = (what: string): Error => new Error(`the module gave ${what}`);

/** Decodes the facts of a backend. @throws Error that names the wrong part */
export function decodeBackendFacts(value: Json): ModuleBackendFacts {
  const [name, schedulerName] = [ownString(value, 'name'), ownString(value, 'schedulerName')];
  const contractVersion = own(value, 'contractVersion');
  if (name === undefined || typeof contractVersion !== 'number')
    throw undecodable('a backend without name and contractVersion');
  if (schedulerName === undefined || schedulerName === '' || schedulerName.length > 253)
    throw undecodable('a backend without a schedulerName');
  return {
    name,
    contractVersion,
    schedulerName,
    patchSurface: decodeSurface(own(value, 'patchSurface')),
    readsWholePods: own(value, 'readsWholePods') === true,
    cleansUp: own(value, 'cleansUp') === true,
    rights: rightsOf(own(value, 'rights')),
    has: textsIn(own(value, 'has'), 'operations'),
  };
}

/** The fields of an AccountRight that limit its module. */
export interface DeclaredRight {
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Names of objects; undefined: all objects. */
  readonly names: readonly string[] | undefined;
}

function rightsOf(value: Json | undefined): DeclaredRight[] {
  if (!Array.isArray(value ?? [])) throw undecodable('rights that are no list');
  return ((value ?? []) as readonly Json[]).map((right) => {
    const names = own(right, 'names');
    return {
      group: ownString(right, 'group') ?? '',
      resources: textsIn(own(right, 'resources'), 'rights[].resources'),
      verbs: textsIn(own(right, 'verbs'), 'rights[].verbs'),
      names: names === undefined || names === null ? undefined : textsIn(names, 'rights[].names'),
    };
  });
}

/** Decodes the fields that a module may change in a Pod. @param whose owner of the surface, for errors */
export function decodeSurface(value: Json | undefined, whose = 'backend'): PatchSurface {
  if (!isObject(value)) throw undecodable(`a ${whose} without a patchSurface`);
  const texts = (key: string): readonly string[] => textsIn(own(value, key) ?? [], `patchSurface.${key}`);
  const lists = texts('lists').filter((list): list is PodList => Object.hasOwn(POD_LISTS, list));
  const fields = texts('fields').filter((field): field is PodField => Object.hasOwn(POD_FIELDS, field));
  return {
    schedulerName: own(value, 'schedulerName') === true,
    schedulingGroup: own(value, 'schedulingGroup') === true,
    workloadRef: own(value, 'workloadRef') === true,
    annotations: texts('annotations'),
    labels: texts('labels'),
    gates: texts('gates'),
    lists,
    fields,
  };
}

function textsIn(value: unknown, what: string): readonly string[] {
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string'))
    throw undecodable(`${what} that are no list of texts`);
  return value;
}

/** Decodes warnings; the answer to the review bounds their number and length. */
export const decodeWarnings = (value: unknown): readonly string[] =>
  textsIn(value ?? [], 'warnings').slice(0, 100);

export function decodeVerdict(value: unknown): PodGangVerdict {
  const faults = (ownList(value, 'faults') ?? []).slice(0, 100).map((one) => {
    const rule = ownString(one, 'rule') ?? '';
    if (!Object.hasOwn(rules, rule))
      throw undecodable(`a fault of a rule that there is not, ${printable(rule, 64)}`);
    return {
      rule: rule as RuleName,
      field: printable(ownString(one, 'field') ?? '', 256),
      reason: printable(ownString(one, 'reason') ?? '', 64),
      message: printable(ownString(one, 'message') ?? '', 256),
    };
  });
  return { faults, warnings: decodeWarnings(own(value, 'warnings')) };
}

const DNS = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

export function decodeResource(value: unknown): Resource {
  const [group = '', version, plural, kind] = ['group', 'version', 'plural', 'kind'].map((key) =>
    ownString(value, key),
  );
  const named = [version, plural].every((part) => part !== undefined && DNS.test(part));
  if (
    !named ||
    version === undefined ||
    plural === undefined ||
    kind === undefined ||
    !/^[A-Za-z0-9]{1,63}$/.test(kind) ||
    (group !== '' && !DNS.test(group))
  )
    throw undecodable('what is no kind of object: { group, version, plural, kind, namespaced }');
  return { group, version, plural, kind, namespaced: own(value, 'namespaced') === true };
}

const NAME = /^(?!\.{1,2}$)[^/%\s]{1,253}$/;

export function decodeName(value: unknown): string {
  if (typeof value !== 'string' || !NAME.test(value)) throw undecodable('what is no name of an object');
  return value;
}

export function decodeOwnedObject(value: unknown): OwnedObject {
  const [spec, body] = [ownObject(value, 'spec'), ownObject(value, 'body')];
  if (spec === undefined) throw undecodable('an object without a spec');
  const [labels, annotations] = ['labels', 'annotations'].map((key) => textMapOf(own(value, key), key));
  const [writtenOnce, despite] = ['writtenOnce', 'despite'].map((key) => own(value, key));
  return {
    resource: decodeResource(own(value, 'resource')),
    name: decodeName(own(value, 'name')),
    spec,
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...(body && { body }),
    ...(writtenOnce !== undefined && { writtenOnce: textsIn(writtenOnce, 'writtenOnce') }),
    ...(despite !== undefined && { despite: textsIn(despite, 'despite') }),
  };
}

function textMapOf(value: Json | undefined, what: string): Readonly<Record<string, string>> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value) || !Object.values(value).every((one) => typeof one === 'string'))
    throw undecodable(`${what} that are no texts`);
  return value as Readonly<Record<string, string>>;
}

/** Decodes a path, and refuses any that would leave the API server. */
export function decodePath(value: unknown): string {
  if (
    typeof value !== 'string' ||
    !/^\/[!-~]{0,2047}$/.test(value) ||
    /\/\/|\/\.{1,2}(\/|\?|$)|%2e|%2f|\\/i.test(value)
  )
    throw undecodable('what is no path of the API server');
  return value;
}

export function decodeGroupVersion(value: unknown): string {
  if (typeof value !== 'string' || !/^([-a-z0-9.]{1,253}\/)?[a-z0-9]{1,63}$/.test(value))
    throw undecodable('what is no version of an API');
  return value;
}

export const decodeFinalizers = (value: unknown): readonly string[] | undefined =>
  value === undefined || value === null ? undefined : textsIn(value, 'finalizers');

export function decodeObject(value: unknown): JsonObject {
  if (!isObject(value)) throw undecodable('what is no object');
  return value;
}

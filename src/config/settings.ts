import { z } from 'zod';
import { type Json, type JsonObject, own, ownList, ownObject, ownString } from '../json/json.ts';
import type { ConfigPath } from './config-fault.ts';
import { operatorConfigurationSchema } from './schema.ts';

/** One leaf of the document, from the JSON Schema: flags, variables and tables are derived from these. */
export interface Setting {
  /** `server.webhooks.port`; inside a list `scheduler.profiles[].name`. */
  readonly path: string;
  readonly keys: readonly string[];
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'strings' | 'list' | 'map';
  /** The allowed values, where they are an enumeration. */
  readonly values?: readonly Json[];
  readonly default?: Json;
  readonly required: boolean;
  readonly description: string;
  /** Its environment variable; absent for lists of objects, maps, apiVersion and kind. */
  readonly environment?: string;
}

/**
 * The JSON Schema (draft 2020-12) of the document as a person writes it: fields with defaults are optional. It lacks the
 * rules across fields (rules.ts, schedulers.ts), which JSON Schema cannot express.
 */
export function operatorConfigurationJsonSchema(): JsonObject {
  const schema = z.toJSONSchema(operatorConfigurationSchema, {
    io: 'input',
    target: 'draft-2020-12',
    override: ({ jsonSchema }) => {
      // `default: {}` on a section is redundant beside the defaults inside of it.
      if (jsonSchema.type === 'object' && jsonSchema.properties !== undefined) delete jsonSchema.default;
    },
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    // A URN, so that no tool fetches it.
    $id: 'urn:muster:operator-configuration:v1alpha1',
    title: 'OperatorConfiguration',
    ...(JSON.parse(JSON.stringify(schema)) as JsonObject),
  };
}

const HEADER = new Set(['apiVersion', 'kind', 'metadata']);

const root = operatorConfigurationJsonSchema();

/** `server.webhooks.serverCertDir` is MUSTER_SERVER_WEBHOOKS_SERVER_CERT_DIR. Always derived, never listed by hand. */
export function environmentName(keys: readonly string[]): string {
  const words = keys.map((key) =>
    key
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
      .toUpperCase(),
  );
  return ['MUSTER', ...words].join('_');
}

function typeOf(node: JsonObject): Setting['type'] {
  const type = ownString(node, 'type');
  if (type === 'array') return ownString(own(node, 'items'), 'type') === 'string' ? 'strings' : 'list';
  if (type === 'object') return 'map';
  return type as 'string' | 'integer' | 'number' | 'boolean';
}

function* leaves(
  node: JsonObject,
  keys: readonly string[],
  path: string,
  required: boolean,
): Generator<Setting> {
  const properties = ownObject(node, 'properties');
  if (properties !== undefined) {
    const names = new Set(ownList(node, 'required'));
    for (const [key, child] of Object.entries(properties)) {
      yield* leaves(
        child as JsonObject,
        [...keys, key],
        path === '' ? key : `${path}.${key}`,
        names.has(key),
      );
    }
    return;
  }
  const type = typeOf(node);
  const only = own(node, 'const');
  const values = ownList(node, 'enum') ?? (only === undefined ? undefined : [only]);
  const fallback = own(node, 'default');
  const named = type !== 'list' && type !== 'map' && !path.includes('[]') && !HEADER.has(keys[0] ?? '');
  yield {
    path,
    keys,
    type,
    ...(values === undefined ? {} : { values }),
    ...(fallback === undefined ? {} : { default: fallback }),
    required,
    description: ownString(node, 'description') ?? '',
    ...(named ? { environment: environmentName(keys) } : {}),
  };
  const items = ownObject(node, 'items');
  if (type === 'list' && items !== undefined) yield* leaves(items, keys, `${path}[]`, false);
}

/** Every setting, in the order of the schema. */
export const settings: readonly Setting[] = [...leaves(root, [], '', false)];

/** The keys that are allowed directly under `path`; empty where any key is allowed. */
export function knownKeys(path: ConfigPath): readonly string[] {
  let node: JsonObject | undefined = root;
  for (const step of path) {
    node = typeof step === 'number' ? ownObject(node, 'items') : ownObject(own(node, 'properties'), step);
  }
  return Object.keys(ownObject(node, 'properties') ?? {});
}

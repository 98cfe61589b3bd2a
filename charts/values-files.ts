import { Document, isMap, isScalar, type Pair, type Scalar } from 'yaml';
import { z } from 'zod';
import { operatorConfigurationSchema } from '../src/config/schema.ts';
import { own, ownObject, ownString, type Json, type JsonObject } from '../src/json/json.ts';
import { CONFIG_DEFAULTS, valuesSchema } from './values-schema.ts';

/** Draft 7, which Helm 3 and 4 read. */
const jsonSchemaOf = (schema: z.ZodType): JsonObject =>
  JSON.parse(
    JSON.stringify(
      z.toJSONSchema(schema, {
        ...{ io: 'input', target: 'draft-7' },
        override: ({ jsonSchema }) => {
          if (jsonSchema.type === 'object' && jsonSchema.properties !== undefined) delete jsonSchema.default;
        },
      }),
    ),
  ) as JsonObject;

const without = (object: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));

const CONFIG_WORDS =
  'The OperatorConfiguration (docs/reference/configuration.md), but for what other values say. A profile of scheduler.profiles brings the rights of its backend.';

/** The schema that Helm holds values against. `config` is the configuration’s own, without what the chart writes itself. */
export function valuesJsonSchema(): JsonObject {
  const { properties, ...schema } = jsonSchemaOf(valuesSchema);
  const config = jsonSchemaOf(operatorConfigurationSchema);
  const fields = without(ownObject(config, 'properties') ?? {}, ['apiVersion', 'kind', 'metadata']);
  return {
    ...{ $schema: 'http://json-schema.org/draft-07/schema#', title: 'Values of the chart muster' },
    ...schema,
    properties: {
      ...(properties as JsonObject),
      config: { type: 'object', description: CONFIG_WORDS, properties: fields, additionalProperties: false },
    },
  };
}

export const defaultValues = (): JsonObject => {
  const values = valuesSchema.parse({ config: CONFIG_DEFAULTS });
  return JSON.parse(JSON.stringify(values)) as JsonObject;
};

const HEAD = ` Made from charts/values-schema.ts by \`node charts/make.ts\`, as values.schema.json is.
 What is not said has its default; a name that is not known is refused.`;

/** values.yaml: every default, and above it what it is. */
export function valuesDefaults(): string {
  const document = new Document(defaultValues());
  document.commentBefore = HEAD;
  describe(document.contents, valuesJsonSchema(), true);
  return document.toString({ lineWidth: 110, singleQuote: true }).replaceAll(/\n{3,}/g, '\n\n');
}

function describe(node: unknown, schema: Json, top: boolean): void {
  if (!isMap(node)) return;
  const fields = ownObject(schema, 'properties') ?? {};
  const unset = Object.keys(fields).filter((name) => !node.has(name) && name !== 'global');
  const words = unset.flatMap((name) => {
    const description = ownString(own(fields, name), 'description');
    return description === undefined ? [] : [wrapped(`${name}: ${description}`)];
  });
  if (words.length > 0) node.comment = words.join('\n');
  for (const pair of node.items as Pair<Scalar<string>>[]) {
    const at = ownObject(fields, pair.key.value) ?? {};
    const description = ownString(at, 'description');
    if (description !== undefined) pair.key.commentBefore = wrapped(description);
    if (top) pair.key.spaceBefore = true;
    // An empty map has no room for comments.
    if (isMap(pair.value) && pair.value.items.length === 0) pair.value.flow = true;
    // The configuration's own words are in its reference.
    if (pair.key.value !== 'config') describe(pair.value, at, false);
    if (isScalar(pair.value) && pair.value.value === '') pair.value.type = 'QUOTE_SINGLE';
  }
}

function wrapped(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last.length + word.length > 105) lines.push(` ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join('\n');
}

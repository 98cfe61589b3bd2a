import { z } from 'zod';
import type { JsonObject } from '../api/json.ts';
import { operatorConfigurationSchema } from './schema.ts';

/**
 * The JSON Schema (draft 2020-12) of the document as a person writes it: defaults are optional. Rules across
 * fields (rules.ts, schedulers.ts) are not in it, JSON Schema cannot say them.
 */
export function operatorConfigurationJsonSchema(): JsonObject {
  const schema = z.toJSONSchema(operatorConfigurationSchema, {
    io: 'input',
    target: 'draft-2020-12',
    override: ({ jsonSchema }) => {
      // `default: {}` on a section says nothing that the defaults inside it do not.
      if (jsonSchema.type === 'object' && jsonSchema.properties !== undefined) delete jsonSchema.default;
    },
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    // A name, not an address: nothing is fetched from anywhere.
    $id: 'urn:muster:operator-configuration:v1alpha1',
    title: 'OperatorConfiguration',
    ...(JSON.parse(JSON.stringify(schema)) as JsonObject),
  };
}

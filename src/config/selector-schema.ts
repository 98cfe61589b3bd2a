import { z } from 'zod';
import { inWords } from './messages.ts';

/** In YAML `gpu: true` and `tier: 1` are no strings, though they look like labels. */
const labelValue = z.string({
  error: ({ input }) =>
    typeof input === 'boolean' || typeof input === 'number'
      ? `must be a string, not ${inWords(input)}: write "${input}" with quotes`
      : input === null
        ? 'must be a string: write "" for a label without a value'
        : undefined,
});

const requirement = z.strictObject({
  key: z.string().describe('The label that is looked at.'),
  operator: z
    .enum(['In', 'NotIn', 'Exists', 'DoesNotExist'])
    .describe('In and NotIn compare the label with `values`; Exists and DoesNotExist take none.'),
  values: z.array(labelValue).default([]).describe('Values of the label, for In and NotIn.'),
});

/** A LabelSelector as a webhook configuration has it; an empty one takes everything. @param whose for the table */
export const labelSelector = (whose: string) =>
  z
    .strictObject({
      matchLabels: z
        .record(z.string(), labelValue)
        .default({})
        .describe(`${whose} Labels that it must have. Empty: no condition.`),
      matchExpressions: z
        .array(requirement)
        .default([])
        .describe(`${whose} Further conditions, all of which must hold. Empty: none.`),
    })
    .prefault({});

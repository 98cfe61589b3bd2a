import { z } from 'zod';
import { type Json, own, ownList, ownObject, ownString } from '../json/json.ts';
import { isLabelKey, isLabelValue } from '../k8s/name-syntax.ts';
import { type ConfigPath, type PathFault, error } from './config-fault.ts';
import { inWords } from './messages.ts';
import { quoted } from '../text/printable.ts';

/** A string: unquoted `gpu: true` and `tier: 1` are no strings in YAML, though they look like labels. */
const labelValue = z.string({
  error: ({ input }) =>
    typeof input === 'boolean' || typeof input === 'number'
      ? `must be a string, not ${inWords(input)}: write "${input}" with quotes`
      : input === null
        ? 'must be a string: write "" for a label without a value'
        : undefined,
});

const labelRequirement = z.strictObject({
  key: z.string().describe('The label that is looked at.'),
  operator: z
    .enum(['In', 'NotIn', 'Exists', 'DoesNotExist'])
    .describe('In and NotIn compare the label with `values`; Exists and DoesNotExist take none.'),
  values: z.array(labelValue).default([]).describe('Values of the label, for In and NotIn.'),
});

/**
 * A LabelSelector as in a webhook configuration; an empty one selects everything.
 * @param whose words for the table of settings
 */
export const labelSelector = (whose: string) =>
  z
    .strictObject({
      matchLabels: z
        .record(z.string(), labelValue)
        .default({})
        .describe(`${whose} Labels that it must have. Empty: no condition.`),
      matchExpressions: z
        .array(labelRequirement)
        .default([])
        .describe(`${whose} Further conditions, all of which must hold. Empty: none.`),
    })
    .prefault({});

const KEY_RULE =
  'is not a valid label key: write at most 63 letters, digits, "-", "_" and ".", if need be behind "example.com/"';
const VALUE_RULE =
  'is not a valid label value: write at most 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends';

/**
 * Kubernetes' rules for a LabelSelector beyond its schema (apimachinery `ValidateLabelSelector`). Without them a wrong
 * selector would select nothing, and the loop would seem to be broken.
 */
export function selectorFindings(selector: Json | undefined, path: ConfigPath): PathFault[] {
  const labels = Object.entries(ownObject(selector, 'matchLabels') ?? {}).flatMap(([key, value]) => {
    const at = [...path, 'matchLabels', key];
    return [
      ...(isLabelKey(key) ? [] : [{ ...error(at, `${quoted(key)} ${KEY_RULE}`), atKey: true } as const]),
      ...valueFindings(value, at),
    ];
  });
  const expressions = (ownList(selector, 'matchExpressions') ?? []).flatMap((requirement, index) => {
    const at = [...path, 'matchExpressions', index];
    const key = ownString(requirement, 'key');
    const values = own(requirement, 'values') ?? [];
    return [
      ...(key === undefined || isLabelKey(key) ? [] : [error([...at, 'key'], `${quoted(key)} ${KEY_RULE}`)]),
      ...(Array.isArray(values) ? countFindings(ownString(requirement, 'operator'), values.length, at) : []),
      ...(Array.isArray(values) ? (values as readonly Json[]) : []).flatMap((value, position) =>
        valueFindings(value, [...at, 'values', position]),
      ),
    ];
  });
  return [...labels, ...expressions];
}

const valueFindings = (value: Json, path: ConfigPath): PathFault[] =>
  typeof value !== 'string' || value === '' || isLabelValue(value)
    ? []
    : [error(path, `${quoted(value)} ${VALUE_RULE}`)];

function countFindings(operator: string | undefined, count: number, path: ConfigPath): PathFault[] {
  const at = [...path, 'values'];
  if ((operator === 'In' || operator === 'NotIn') && count === 0) {
    const other = operator === 'In' ? 'Exists' : 'DoesNotExist';
    return [error(at, `must list at least one value for ${operator}: list some, or write operator ${other}`)];
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && count > 0) {
    const other = operator === 'Exists' ? 'In' : 'NotIn';
    return [error(at, `must be empty for ${operator}: leave them out, or write operator ${other}`)];
  }
  return [];
}

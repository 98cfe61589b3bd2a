import { z } from 'zod';
import { isLabelKey } from '../k8s/name-syntax.ts';
import { kindShape } from './kind-schema.ts';

/** Prefix of gangs' names. It has no dash, or two kinds could make gangs of one name. */
const SHORT = /^[a-z][a-z0-9]{0,19}$/;
const PLURAL = /^[a-z][a-z0-9]{0,62}$/;

const label = (description: string) =>
  z
    .string()
    .refine(isLabelKey, 'must be the key of a label such as "example.com/trainer"')
    .describe(description);

/** Kinds of workloads whose Pods may be gangs by `muster.dev/gang`, beside the built-in kinds. */
export const workloadsSchema = z
  .array(
    z.strictObject({
      ...kindShape({
        version: 'The version in which it is read.',
        kind: 'The kind, as in `kind:`. Its objects control their Pods themselves (`ownerReferences`).',
      }),
      plural: z
        .string()
        .regex(PLURAL, 'must be the plural such as "trainers"')
        .optional()
        .describe('As rights and the API’s paths name it. The kind in lower case with an `s` where absent.'),
      short: z
        .string()
        .regex(SHORT, 'must be at most 20 lower-case letters and digits')
        .optional()
        .describe(
          'How the names of its gangs begin: `trainer` makes `trainer-<name>`. The kind in lower case where absent.',
        ),
      labels: z.strictObject({
        gang: label(
          'The label of a Pod in which the kind’s controller writes the name of the workload. It has to agree with the owner reference.',
        ),
        group: label(
          'The label of a Pod in which the controller writes the name of the template that it made it from. Required with `templates`, nothing with `single`.',
        ).optional(),
      }),
    }),
  )
  .default([])
  .describe(
    'Workloads whose Pods may ask for a gang, beside those that Muster knows: see docs/workloads.md.',
  );

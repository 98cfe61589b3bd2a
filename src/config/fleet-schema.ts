import { z } from 'zod';
import { duration } from './duration.ts';
import { kindShape } from './kind-schema.ts';

const kind = z.strictObject(
  kindShape({
    version: 'For messages; all versions are read alike.',
    kind: 'The kind, as in `kind:`. One that Muster knows is read as told here instead.',
  }),
);

/** What concerns gangs across clusters. */
export const fleetSchema = z
  .strictObject({
    interpreter: z
      .boolean()
      .default(false)
      .describe(
        'Answer Karmada’s ResourceInterpreterWebhook beside the admission reviews. See docs/fleet.md.',
      ),
    kubeconfig: z
      .string()
      .min(1, 'must not be empty')
      .optional()
      .describe(
        'How Karmada’s API server is reached: the path of a kubeconfig. Where absent it is the API server that Muster works with anyway.',
      ),
    assigner: z
      .strictObject({
        enabled: z
          .boolean()
          .default(false)
          .describe(
            'Place the bindings whose policy names Muster as their scheduler. It needs the rights of manifests/karmada/assigner in Karmada’s API server.',
          ),
        schedulerName: z
          .string()
          .min(1, 'must not be empty')
          .refine((name) => name !== 'default-scheduler', 'must not be the name of Karmada’s own scheduler')
          .default('muster')
          .describe('`spec.schedulerName` of the policies whose bindings Muster places.'),
      })
      .prefault({}),
    kinds: z.array(kind).default([]).describe('Workloads beside those that Muster knows: see docs/fleet.md.'),
    queues: z
      .strictObject({
        enabled: z
          .boolean()
          .default(false)
          .describe(
            'Hold new bindings of workloads, and let them through the FleetQueues that they name. It needs manifests/karmada/queues in Karmada’s API server.',
          ),
        reserveAfter: duration(
          '5m',
          'From this age on room is kept for a gang that is too large for what is free in its queue: until then smaller ones pass it.',
        ),
      })
      .prefault({}),
  })
  .prefault({});

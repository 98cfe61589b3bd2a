import { z } from 'zod';
import { duration } from './duration.ts';

/** Names of fields with dots between them; no index, no expression. */
const FIELD = /^[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*$/;

const field = (description: string) =>
  z.string().regex(FIELD, 'must be a path such as "spec.worker.replicas"').describe(description);

const GROUP = /^(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*)?$/;
const KIND = /^[A-Z][A-Za-z0-9]{0,62}$/;

const template = z.strictObject({
  items: field(
    'A list of which each item has a template; the paths beside it start at an item then.',
  ).optional(),
  name: z
    .string()
    .regex(/^[A-Za-z0-9][\w.-]{0,62}$/, 'must be a name of at most 63 letters, digits, "-", "_" or "."')
    .optional()
    .describe(
      'What the component is called. With `items`: what one without a name of its own is called, with its position.',
    ),
  nameFrom: field('With `items`: where an item has its name. `name` where absent.').optional(),
  template: field('The Pod template, or the spec of a Pod.'),
  replicas: field('How many Pods there are of it. 1 where absent, or where nothing stands there.').optional(),
  minAvailable: field(
    'How many of them must start together. All where absent, or where nothing stands there.',
  ).optional(),
});

const single = z
  .strictObject({
    template: field('The one Pod template, or the spec of a Pod. Not read where `templates` are given.'),
    replicas: field(
      'How many Pods there are of it. 1 where absent, or where nothing stands there.',
    ).optional(),
    minAvailable: field('How many of them must start together. All where absent.').optional(),
  })
  .optional();

const kind = z.strictObject({
  group: z
    .string()
    .regex(GROUP, 'must be an API group such as "example.com", or empty for the core group')
    .describe('API group of the kind.'),
  version: z
    .string()
    .min(1, 'must not be empty')
    .default('v1')
    .describe('For messages; all versions are read alike.'),
  kind: z
    .string()
    .regex(KIND, 'must be the name of a kind such as "Trainer"')
    .describe('The kind, as in `kind:`. One that Muster knows is read as told here instead.'),
  templates: z
    .array(template)
    .default([])
    .describe('Where it keeps its Pod templates, in the order of its components.'),
  single,
  minAvailable: field('A minimum of all templates together.').optional(),
});

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

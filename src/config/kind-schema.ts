import { z } from 'zod';

/** Field names joined by dots, without indices or expressions. */
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

/** Settings that declare a kind of workload: its names, and the fields that hold its Pod templates. */
export const kindShape = (says: { readonly version: string; readonly kind: string }) => ({
  group: z
    .string()
    .regex(GROUP, 'must be an API group such as "example.com", or empty for the core group')
    .describe('API group of the kind.'),
  version: z.string().min(1, 'must not be empty').default('v1').describe(says.version),
  kind: z.string().regex(KIND, 'must be the name of a kind such as "Trainer"').describe(says.kind),
  templates: z
    .array(template)
    .default([])
    .describe('Where it keeps its Pod templates, in the order of its components.'),
  single,
  minAvailable: field('A minimum of all templates together.').optional(),
});

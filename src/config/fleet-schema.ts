import { z } from 'zod';
import { durationSchema, integrity, moduleConfig, moduleName } from './module-schema.ts';
import { kindShape } from './kind-schema.ts';

const kind = z.strictObject(
  kindShape({
    version: 'For messages; all versions are read alike.',
    kind: 'The kind, as in `kind:`. One that Muster knows is read as told here instead.',
  }),
);

const file = (description: string) => z.string().min(1, 'must not be empty').describe(description);

const estimators = z.strictObject({
  enabled: z
    .boolean()
    .default(false)
    .describe(
      'Ask the karmada-scheduler-estimator of each cluster for its room before a binding is placed. See docs/fleet.md.',
    ),
  address: z
    .string()
    .regex(/^[^\s/{}]*\{cluster\}[^\s/{}]*:\d{1,5}$/, 'must be a host with "{cluster}" in it, and a port')
    .default('karmada-scheduler-estimator-{cluster}.karmada-system.svc:10352')
    .describe('Where they are: `{cluster}` stands for the name of the cluster.'),
  timeout: durationSchema('3s', 'How long all of them together may take for one binding.'),
  tls: z
    .strictObject({
      caFile: file('Certificates of the CAs that vouch for them, as PEM.'),
      certFile: file('What Muster shows them, as PEM; with `keyFile`.').optional(),
      keyFile: file('The key of `certFile`.').optional(),
    })
    .refine((tls) => (tls.certFile === undefined) === (tls.keyFile === undefined), {
      message: 'must have both certFile and keyFile, or neither',
    })
    .optional(),
});

const plugin = z.strictObject({
  name: z
    .string()
    .regex(
      /^[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?$/,
      'must be at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends',
    )
    .describe('The plugin’s name, as its module exports it.'),
  module: moduleName(
    'The module with the strategies: a file, relative to this one (`./cheapest.js`), or the name of an npm package.',
  ),
  integrity,
  config: moduleConfig,
});

/** Settings for gangs across clusters. */
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
        plugins: z
          .array(plugin)
          .default([])
          .describe('Strategies that do not come with Muster, an entry a module: see docs/strategies.md.'),
      })
      .prefault({}),
    estimators: estimators.prefault({}),
    kinds: z.array(kind).default([]).describe('Workloads beside those that Muster knows: see docs/fleet.md.'),
    queues: z
      .strictObject({
        enabled: z
          .boolean()
          .default(false)
          .describe(
            'Hold new bindings of workloads, and let them through the FleetQueues that they name. It needs manifests/karmada/queues in Karmada’s API server.',
          ),
        reserveAfter: durationSchema(
          '5m',
          'From this age on room is kept for a gang that is too large for what is free in its queue: until then smaller ones pass it.',
        ),
      })
      .prefault({}),
  })
  .prefault({});

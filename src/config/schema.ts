import { z } from 'zod';
import { MUSTER_NAMESPACE, MUSTER_USER } from '../api/names.ts';
import { durationSchema, integrity, moduleConfig, moduleName } from './module-schema.ts';
import {
  authorizerSchema,
  concurrentSyncs,
  debuggingSchema,
  featureGatesSchema,
  groveControllers,
  networkSchema,
} from './grove-schema.ts';
import { fleetSchema } from './fleet-schema.ts';
import { labelSelector } from './label-selector.ts';
import { preemptionSchema } from './preemption-schema.ts';
import { serverSchema } from './server-schema.ts';
import { workloadsSchema } from './workload-schema.ts';

/** apiVersion of the configuration, which Muster and Grove share. */
export const CONFIG_API_VERSION = 'operator.config.grove.io/v1alpha1';
export const CONFIG_KIND = 'OperatorConfiguration';

const runtimeClientConnection = z
  .strictObject({
    qps: z
      .number()
      .refine(
        (qps) => qps !== 0,
        'must not be 0: leave it out for the default, or make it negative for no limit',
      )
      .default(-1)
      .describe(
        'Requests per second of the loop to the API server, over time; watches and the Lease are not counted. Negative: no limit. Not Grove’s 100, at which the gates of 1,000 Pods take 9 s: see docs/adr/0008.',
      ),
    burst: z
      .int()
      .min(0, 'must be non-negative')
      .default(120)
      .describe(
        'Requests that may run ahead of qps, at least one. Grove’s default; nothing where qps is negative.',
      ),
    contentType: z
      .string()
      .default('application/json')
      .describe('Accepted because Grove has it, not used: Muster sends JSON.'),
    acceptContentTypes: z
      .string()
      .default('application/json')
      .describe('Accepted because Grove has it, not used: Muster asks for JSON, which every API server has.'),
  })
  .prefault({});

const leaderElection = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe(
        'Let one replica run the loop; all answer reviews. On: the manifests start several replicas.',
      ),
    leaseDuration: durationSchema(
      '15s',
      'After this time without a renewal others may take the Lease. Kubernetes’ usual value.',
    ),
    renewDeadline: durationSchema(
      '10s',
      'A leader that cannot renew for this long stops leading. Less than leaseDuration.',
    ),
    retryPeriod: durationSchema(
      '2s',
      'Time between attempts to take or renew the Lease. Kubernetes’ usual value.',
    ),
    resourceLock: z
      .enum(['leases'])
      .default('leases')
      .describe('Kind of lock; there is only one left in Kubernetes.'),
    resourceName: z
      .string()
      .min(1, 'resourceName is required')
      .default('muster-leader-election')
      .describe('Name of the Lease. Not Grove’s: beside Grove one of the two would never lead.'),
    resourceNamespace: z
      .string()
      .min(1, 'resourceNamespace is required')
      .default(MUSTER_NAMESPACE)
      .describe('Namespace of the Lease: the one Muster runs in.'),
  })
  .prefault({});

const schedulerProfile = z.strictObject({
  name: z
    .string()
    .meta({ minLength: 1 })
    .describe('The scheduler’s name, as it goes into `spec.schedulerName` of a Pod.'),
  config: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('Settings of this backend, checked by the backend when it starts.'),
  module: moduleName(
    'The backend, where it does not come with Muster: a file, relative to this one (`./line.js`), or the name of an npm package.',
  ).optional(),
  integrity,
});

const preparation = z.strictObject({
  name: z
    .string()
    .regex(
      /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/,
      'must be at most 63 lower-case letters, digits or "-", with a letter or digit at both ends',
    )
    .describe('What `spec.hpc.manager` of an HPCPolicy says, as its module exports it.'),
  module: moduleName(
    'The module with the preparation: a file, relative to this one (`./hostfile.js`), or the name of an npm package.',
  ),
  integrity,
  config: moduleConfig,
});

const topologyLevel = z.strictObject({
  domain: z
    .string()
    .min(1, 'must not be empty')
    .describe('What people call the level: `zone`, `rack`, `host`.'),
  key: z.string().min(1, 'must not be empty').describe('The node label that tells its domains apart.'),
});

/** The document as written. An unknown key is a fault. Rules across fields are in rules.ts. */
export const operatorConfigurationSchema = z.strictObject({
  apiVersion: z.literal(CONFIG_API_VERSION).describe('Version of this document.'),
  kind: z.literal(CONFIG_KIND).describe('Kind of this document.'),
  metadata: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Tolerated and not read, since examples carry a name.'),
  schedulerName: z
    .string()
    .optional()
    .describe(
      'Short form: enable this scheduler beside `default-scheduler` and make it the default. `default-scheduler` if neither this nor `scheduler` is given.',
    ),
  scheduler: z
    .strictObject({
      profiles: z
        .array(schedulerProfile)
        .optional()
        .describe('The schedulers to serve. `default-scheduler` is appended where it is missing.'),
      defaultProfileName: z
        .string()
        .optional()
        .describe(
          'The profile of gangs that name no scheduler. `default-scheduler` where absent, whatever the profiles are.',
        ),
    })
    .optional(),
  logLevel: z
    .enum(['debug', 'info', 'warn', 'error'])
    .default('info')
    .describe('Least severe level that is logged.'),
  logFormat: z
    .enum(['json', 'text'])
    .default('json')
    .describe('`json` is one object a line, for collectors; `text` is for reading.'),
  logDecisionsPerSecond: z
    .int()
    .min(0)
    .default(20)
    .describe(
      'Lines within a second that tell of admissions which were let in; the next line counts those left out. What is refused is always told. 20: less than half a gigabyte a day, however many Pods come.',
    ),
  controllers: z
    .strictObject({
      podGang: z
        .strictObject({
          concurrentSyncs: concurrentSyncs(
            256,
            'PodGangs of one namespace reconciled at a time, at most, of all together twice as many. 256: as many as the API server takes, which is found by how fast it answers; Grove’s default is 5.',
          ),
          namespaceSelector: labelSelector('Whose gangs the loop moves, by the labels of their Namespace.'),
          objectSelector: labelSelector('Which gangs the loop moves, by the labels of the PodGang.'),
        })
        .prefault({}),
      ...groveControllers,
    })
    .prefault({}),
  topologyAwareScheduling: z
    .strictObject({
      enabled: z
        .boolean()
        .default(false)
        .describe('Pass topology constraints on to backends that understand them.'),
      levels: z
        .array(topologyLevel)
        .default([])
        .describe('Levels from the widest to the narrowest. Read only where enabled is true.'),
    })
    .prefault({}),
  leaderElection,
  server: serverSchema,
  trustedAccounts: z
    .array(z.string().min(1, 'must not be empty'))
    .default([MUSTER_USER])
    .describe(
      'User names that may write gates, references and status of a gang: Muster’s own account. Beside the Grove operator its account, too.',
    ),
  preemption: preemptionSchema,
  hpc: z
    .strictObject({
      enabled: z
        .boolean()
        .default(false)
        .describe(
          'Whether gangs with the annotation muster.dev/hpc-policy have their Pods prepared by that HPCPolicy. It needs the rights of manifests/components/hpc.',
        ),
      preparations: z
        .array(preparation)
        .default([])
        .describe(
          'Workload managers that do not come with Muster, an entry a module: see docs/preparations.md.',
        ),
    })
    .prefault({}),
  workloads: workloadsSchema,
  fleet: fleetSchema,
  runtimeClientConnection,
  debugging: debuggingSchema,
  authorizer: authorizerSchema,
  network: networkSchema,
  featureGates: featureGatesSchema,
});

/** The document with every default filled in. */
export type DefaultedDocument = z.output<typeof operatorConfigurationSchema>;

import { z } from 'zod';
import { account, components } from './component-values.ts';
import {
  affinity,
  environment,
  labels,
  objects,
  quantities,
  spread,
  toleration,
  volume,
  volumeMount,
} from './kubernetes-schema.ts';
import { monitoring } from './monitoring-values.ts';
import { certificates, dnsLabel, image, moduleSource, networkPolicy } from './value-groups.ts';

const LABELS = { matchLabels: { 'app.kubernetes.io/name': 'muster' } };
const spreadBy = (topologyKey: string) => ({
  ...{ topologyKey, maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' as const },
  ...{ matchLabelKeys: ['pod-template-hash'], labelSelector: LABELS },
});

/** The values of the chart but for `config`, which is the configuration’s own schema. */
export const valuesSchema = z.strictObject({
  image,
  imagePullSecrets: z
    .array(z.strictObject({ name: z.string().min(1) }))
    .default([])
    .describe('As in a Pod.'),
  replicaCount: z
    .int()
    .min(0)
    .default(3)
    .describe('While nobody answers, gangs cannot be created: one replica may be draining and another lost.'),
  namespaceOverride: z
    .union([dnsLabel, z.literal('')])
    .default('')
    .describe("Where Muster runs. Empty: the release's namespace."),
  namespace: z
    .strictObject({
      create: z
        .boolean()
        .default(false)
        .describe(
          'Makes the namespace, with the labels of Pod Security admission. For namespaceOverride, and `helm template`.',
        ),
    })
    .prefault({}),
  config: z.record(z.string(), z.unknown()).default({}),
  trustedAccounts: z
    .array(account)
    .default([])
    .describe("Accounts beside Muster's own that may take gates off, and write references and Initialized."),
  components,
  crds: z
    .strictObject({
      install: z
        .boolean()
        .default(true)
        .describe(
          'Installs and upgrades the definitions of PodGang, HPCPolicy and SchedulerBackend; uninstalling leaves them.',
        ),
    })
    .prefault({}),
  mutatingAdmissionPolicies: z
    .enum(['auto', 'enabled', 'disabled'])
    .default('auto')
    .describe(
      '`auto`: from Kubernetes 1.36 on, which serves them as v1. Older ones go without (docs/manifests.md).',
    ),
  certificates,
  webhooks: z
    .strictObject({ annotations: labels.default({}).describe('Of both webhook configurations.') })
    .prefault({}),
  modules: z
    .array(moduleSource)
    .default([])
    .describe(
      "Third parties' modules; the configuration names their files: `module: /etc/muster/modules/<name>/<file>`.",
    ),
  resources: z
    .strictObject({ requests: quantities.optional(), limits: quantities.optional() })
    .default({ requests: { cpu: '100m', memory: '128Mi' } })
    .describe(
      'No CPU limit: throttling would turn a burst of Pods into timeouts. The memory limit, where none is said: 512Mi, with the preview 896Mi.',
    ),
  podDisruptionBudget: z
    .strictObject({
      enabled: z.boolean().default(true).describe('Keeps replicas while nodes are drained.'),
      minAvailable: z
        .union([z.int().min(0), z.string().regex(/^\d{1,3}%$/)])
        .optional()
        .describe('None: all but one.'),
      maxUnavailable: z
        .union([z.int().min(0), z.string().regex(/^\d{1,3}%$/)])
        .optional()
        .describe('In the place of minAvailable.'),
    })
    .prefault({}),
  resourceQuota: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe('Grants the priority class where clusters limit it by quota, as GKE does.'),
      pods: z.int().min(1).optional().describe('None: four for each replica, and eight.'),
    })
    .prefault({}),
  networkPolicy,
  monitoring,
  serviceAccount: z
    .strictObject({
      annotations: labels.default({}).describe('Of the account muster, whose name the policies know.'),
    })
    .prefault({}),
  priorityClassName: z.string().default('system-cluster-critical').describe('As in a Pod. Empty: none.'),
  nodeSelector: labels.default({}).describe('As in a Pod.'),
  tolerations: z
    .array(toleration)
    .default([{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' }])
    .describe(
      'Close to the API server is a good place, and on small clusters the only one that survives a drain.',
    ),
  affinity: affinity.default({}).describe('As in a Pod: nodeAffinity, podAffinity, podAntiAffinity.'),
  topologySpreadConstraints: z
    .array(spread)
    .default([spreadBy('topology.kubernetes.io/zone'), spreadBy('kubernetes.io/hostname')])
    .describe(
      'Spread as far as there is room; a replica in a bad place is still better than one that waits.',
    ),
  hostNetwork: z
    .boolean()
    .default(false)
    .describe(
      'For clusters whose API server does not reach Pods. A namespace that enforces `restricted` refuses it.',
    ),
  podLabels: labels.default({}).describe('Further labels of the Pods.'),
  podAnnotations: labels.default({}).describe('Further annotations of the Pods.'),
  commonLabels: labels.default({}).describe('Further labels of every object.'),
  podSecurityContext: z
    .record(z.string(), z.unknown())
    .default({
      ...{ runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532 },
      seccompProfile: { type: 'RuntimeDefault' },
    })
    .describe('As in a Pod. fsGroup makes the key readable to this user and to nobody else.'),
  securityContext: z
    .record(z.string(), z.unknown())
    .default({
      ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
      capabilities: { drop: ['ALL'] },
    })
    .describe('As in a container.'),
  extraEnv: z
    .array(environment)
    .default([])
    .describe('Further variables; `MUSTER_*` go before the configuration.'),
  extraVolumes: z.array(volume).default([]).describe('As in a Pod.'),
  extraVolumeMounts: z.array(volumeMount).default([]).describe('As in a container.'),
  extraObjects: objects.default([]).describe('Objects of any kind to install with it, as templates.'),
  global: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('What charts that contain this one tell all of theirs; not read.'),
});

/** The values of the configuration that manifests/base/config.yaml has. */
export const CONFIG_DEFAULTS = {
  scheduler: { profiles: [{ name: 'default-scheduler' }], defaultProfileName: 'default-scheduler' },
  logLevel: 'info',
  logFormat: 'json',
};

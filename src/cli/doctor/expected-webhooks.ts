import {
  HPC_POLICY_GROUP,
  HPC_POLICY_VERSION,
  PATH_MUTATE_POD,
  PATH_MUTATE_POD_GANG,
  PATH_VALIDATE_HPC_POLICY,
  PATH_VALIDATE_POD,
  PATH_VALIDATE_POD_GANG,
  PATH_VALIDATE_WORKLOAD,
  POD_GANG_GROUP,
  POD_GANG_VERSION,
} from '../../api/names.ts';
import type { GangKind } from '../../workloads/gang-kind.ts';

export type WebhookKind = 'MutatingWebhookConfiguration' | 'ValidatingWebhookConfiguration';

/** By what it is found, and where it leads. */
export interface NamedWebhook {
  readonly kind: WebhookKind;
  readonly name: string;
  readonly path: string;
}

export interface ExpectedWebhook extends NamedWebhook {
  readonly group: string;
  readonly version: string;
  readonly operations: readonly string[];
  readonly resources: readonly string[];
  /** Whether only objects with the label of a gang may come. */
  readonly gangsOnly: boolean;
}

const pods = { name: 'pods.muster.dev', group: '', version: 'v1', resources: ['pods'], gangsOnly: true };
const workloadPods = { ...pods, name: 'workload-pods.muster.dev' };
const gangs = {
  name: 'podgangs.muster.dev',
  group: POD_GANG_GROUP,
  version: POD_GANG_VERSION,
  gangsOnly: false,
};

/** The webhooks of manifests/base, which the image does not hold; a test compares the two. */
export const EXPECTED_WEBHOOKS: readonly ExpectedWebhook[] = [
  { kind: 'MutatingWebhookConfiguration', ...pods, path: PATH_MUTATE_POD, operations: ['CREATE'] },
  {
    kind: 'MutatingWebhookConfiguration',
    ...gangs,
    path: PATH_MUTATE_POD_GANG,
    operations: ['CREATE', 'UPDATE'],
    resources: ['podgangs'],
  },
  {
    kind: 'ValidatingWebhookConfiguration',
    ...pods,
    path: PATH_VALIDATE_POD,
    operations: ['CREATE', 'UPDATE'],
  },
  {
    kind: 'ValidatingWebhookConfiguration',
    ...gangs,
    path: PATH_VALIDATE_POD_GANG,
    operations: ['CREATE', 'UPDATE'],
    resources: ['podgangs', 'podgangs/status'],
  },
  {
    kind: 'ValidatingWebhookConfiguration',
    name: 'hpcpolicies.muster.dev',
    group: HPC_POLICY_GROUP,
    version: HPC_POLICY_VERSION,
    gangsOnly: false,
    path: PATH_VALIDATE_HPC_POLICY,
    operations: ['CREATE', 'UPDATE'],
    resources: ['hpcpolicies'],
  },
  { kind: 'MutatingWebhookConfiguration', ...workloadPods, path: PATH_MUTATE_POD, operations: ['CREATE'] },
  {
    kind: 'ValidatingWebhookConfiguration',
    ...workloadPods,
    path: PATH_VALIDATE_POD,
    operations: ['CREATE', 'UPDATE'],
  },
];

/** That of manifests/components/workloads, which not everybody has. */
export const WORKLOADS_WEBHOOK: NamedWebhook = {
  kind: 'ValidatingWebhookConfiguration',
  name: 'workloads.muster.dev',
  path: PATH_VALIDATE_WORKLOAD,
};

/** What it is asked about: workloads, what makes them, and what can never be one. */
export const askedAbout = (kinds: readonly GangKind[]): readonly { group: string; resource: string }[] => [
  ...kinds.map(({ group, plural }) => ({ group, resource: plural })),
  { group: 'apps', resource: 'deployments' },
  { group: 'batch', resource: 'cronjobs' },
  { group: 'ray.io', resource: 'rayjobs' },
  { group: 'ray.io', resource: 'rayservices' },
  { group: 'ray.io', resource: 'raycronjobs' },
  { group: 'trainer.kubeflow.org', resource: 'trainingruntimes' },
  { group: 'trainer.kubeflow.org', resource: 'clustertrainingruntimes' },
  { group: 'apps', resource: 'daemonsets' },
  { group: '', resource: 'replicationcontrollers' },
];

import {
  HPC_POLICY_GROUP,
  HPC_POLICY_VERSION,
  PATH_MUTATE_POD,
  PATH_MUTATE_POD_GANG,
  PATH_VALIDATE_HPC_POLICY,
  PATH_VALIDATE_POD,
  PATH_VALIDATE_POD_GANG,
  POD_GANG_GROUP,
  POD_GANG_VERSION,
} from '../../api/names.ts';

export type WebhookKind = 'MutatingWebhookConfiguration' | 'ValidatingWebhookConfiguration';

export interface ExpectedWebhook {
  readonly kind: WebhookKind;
  readonly name: string;
  readonly path: string;
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

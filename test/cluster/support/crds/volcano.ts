import { definition, int32, labelSelector, list, map, object, resources, string } from './definition.ts';

const QUEUE_NAME = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';

const networkTopology = object({
  mode: string({ enum: ['hard', 'soft'], default: 'hard' }),
  highestTierAllowed: { type: 'integer', minimum: 0 },
  highestTierName: string(),
});

const subGroupPolicy = object({
  name: string(),
  labelSelector,
  matchLabelKeys: list(string(), { 'x-kubernetes-list-type': 'atomic' }),
  subGroupSize: int32({ default: 1, minimum: 1 }),
  minSubGroups: int32({ default: 0, minimum: 0 }),
  networkTopology,
});

/** The PodGroup of Volcano 1.14 and later: validated as the real one, and without a status subresource. */
export const volcanoPodGroups = definition({
  group: 'scheduling.volcano.sh',
  version: 'v1beta1',
  kind: 'PodGroup',
  plural: 'podgroups',
  shortNames: ['podgroup-v1beta1'],
  spec: object({
    minMember: int32({ minimum: 0 }),
    minTaskMember: map(int32()),
    queue: string({ default: 'default', maxLength: 253, pattern: QUEUE_NAME }),
    priorityClassName: string({ maxLength: 253 }),
    minResources: resources,
    networkTopology,
    subGroupPolicy: list(subGroupPolicy),
  }),
  statusSchema: object({
    phase: string(),
    running: int32(),
    succeeded: int32(),
    failed: int32(),
    conditions: list(
      object({
        type: string(),
        status: string(),
        reason: string(),
        message: string(),
        transitionID: string(),
        lastTransitionTime: string({ format: 'date-time' }),
      }),
    ),
  }),
});

/** Volcano's Queue, as much as tells whether it is open. */
export const volcanoQueues = definition({
  group: 'scheduling.volcano.sh',
  version: 'v1beta1',
  kind: 'Queue',
  plural: 'queues',
  scope: 'Cluster',
  status: true,
  spec: object({
    weight: int32({ default: 1, minimum: 1, maximum: 65535 }),
    capability: resources,
    reclaimable: { type: 'boolean' },
    parent: string(),
  }),
  statusSchema: object({ state: string({ enum: ['Open', 'Closed', 'Closing', 'Unknown'] }) }),
});

import { definition, int32, object, resources, string } from './definition.ts';

/** The PodGroup of scheduler-plugins. */
export const coschedulingPodGroups = definition({
  group: 'scheduling.x-k8s.io',
  version: 'v1alpha1',
  kind: 'PodGroup',
  plural: 'podgroups',
  shortNames: ['pgs'],
  status: true,
  approved: true,
  spec: object({
    minMember: int32({ minimum: 1 }),
    minResources: resources,
    scheduleTimeoutSeconds: int32(),
  }),
  statusSchema: object({
    phase: string(),
    occupiedBy: string(),
    running: int32(),
    succeeded: int32(),
    failed: int32(),
    scheduleStartTime: string({ format: 'date-time' }),
  }),
});

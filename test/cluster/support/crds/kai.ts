import { definition, int32, list, object, string } from './definition.ts';

/** Releases of KAI whose PodGroup differs in what Muster writes; `main` is what follows 0.17.0. */
export const KAI_RELEASES = ['0.14', '0.15', '0.17', 'main'] as const;
export type KaiRelease = (typeof KAI_RELEASES)[number];

const topologyConstraint = object({
  topology: string(),
  requiredTopologyLevel: string(),
  preferredTopologyLevel: string(),
});
const bool = { type: 'boolean' };
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** Fields and bounds as the releases have them; what KAI's webhook refuses beyond these is not in the CRD. */
function podGroupSpec(release: KaiRelease): object {
  const old = release === '0.14';
  const latest = release === 'main';
  const name = old ? string() : string({ minLength: 1, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' });
  const subGroup = object(
    {
      name,
      minMember: int32({ minimum: old ? 1 : 0 }),
      ...(!old && { minSubGroup: int32({ minimum: 0 }) }),
      parent: string(),
      topologyConstraint,
    },
    { required: ['name'] },
  );
  return object({
    minMember: latest ? int32({ minimum: 0, nullable: true }) : int32({ minimum: 1 }),
    ...(!old && { minSubGroup: int32({ minimum: latest ? 0 : 1 }) }),
    queue: string(),
    priorityClassName: string(),
    preemptibility: string({ enum: ['preemptible', 'non-preemptible'] }),
    ...(old && { parallelism: int32(), completions: int32(), backoffLimit: int32() }),
    markUnschedulable: bool,
    schedulingBackoff: int32(),
    ...((release === '0.17' || latest) && { preemptionDelay: string(), stalenessGracePeriod: string() }),
    topologyConstraint,
    subGroups: list(subGroup),
  });
}

const podGroupStatus = object({
  conditions: list(anything),
  schedulingConditions: list(
    object({
      type: string(),
      nodePool: string(),
      status: string(),
      reason: string(),
      message: string(),
      transitionID: string(),
      lastTransitionTime: string(),
      reasons: list(object({ reason: string(), message: string(), details: anything })),
    }),
  ),
  resourcesStatus: object({ allocated: anything, allocatedNonPreemptible: anything, requested: anything }),
});

export const kaiPodGroups = (release: KaiRelease) =>
  definition({
    group: 'scheduling.run.ai',
    version: 'v2alpha2',
    plural: 'podgroups',
    kind: 'PodGroup',
    shortNames: ['pg'],
    status: true,
    spec: podGroupSpec(release),
    statusSchema: podGroupStatus,
  });

/** KAI's Topology, with the two rules that it states in CEL. */
export const kaiTopologies = definition({
  group: 'kai.scheduler',
  version: 'v1alpha1',
  plural: 'topologies',
  kind: 'Topology',
  scope: 'Cluster',
  spec: object(
    {
      levels: list(
        object(
          { nodeLabel: string({ minLength: 1, maxLength: 316 }), alias: string({ maxLength: 63 }) },
          { required: ['nodeLabel'] },
        ),
        {
          minItems: 1,
          maxItems: 16,
          'x-kubernetes-validations': [
            {
              rule: 'self.map(l, l.nodeLabel) == oldSelf.map(l, l.nodeLabel)',
              message: 'nodeLabel structure is immutable; only aliases may be edited',
            },
            {
              rule: "!self.exists(l, l.nodeLabel == 'kubernetes.io/hostname') || (self.exists_one(l, l.nodeLabel == 'kubernetes.io/hostname') && self[size(self) - 1].nodeLabel == 'kubernetes.io/hostname')",
              message: 'the kubernetes.io/hostname label can only be used at the lowest level of topology',
            },
          ],
        },
      ),
    },
    { required: ['levels'] },
  ),
  statusSchema: object({}),
});

import { POD_GANG_GROUP } from '../../api/names.ts';

/** One rule of manifests/base/rbac.yaml for Muster's account. */
export interface ExpectedRule {
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** About the Lease of leader election alone: in its namespace, and by its name where that is possible. */
  readonly lease?: 'namespace' | 'name';
  /** The backend that needs it; absent: Muster itself. */
  readonly backend?: string;
}

const KEEP = ['get', 'list', 'watch', 'create', 'patch'];

/** manifests/base/rbac.yaml, which the image does not hold; a test compares the two. */
export const EXPECTED_RULES: readonly ExpectedRule[] = [
  { group: '', resources: ['pods'], verbs: ['list', 'watch', 'patch'] },
  { group: '', resources: ['namespaces'], verbs: ['list', 'watch'] },
  { group: POD_GANG_GROUP, resources: ['podgangs'], verbs: ['get', 'list', 'watch', 'patch'] },
  { group: POD_GANG_GROUP, resources: ['podgangs/status'], verbs: ['patch'] },
  { group: 'events.k8s.io', resources: ['events'], verbs: ['create', 'patch'] },
  { group: 'scheduling.run.ai', resources: ['podgroups'], verbs: KEEP, backend: 'kai-scheduler' },
  {
    group: 'kai.scheduler',
    resources: ['topologies'],
    verbs: ['get', 'list', 'create', 'patch', 'delete'],
    backend: 'kai-scheduler',
  },
  { group: 'scheduling.volcano.sh', resources: ['podgroups'], verbs: KEEP, backend: 'volcano' },
  { group: 'scheduling.volcano.sh', resources: ['queues'], verbs: ['get'], backend: 'volcano' },
  { group: 'scheduling.x-k8s.io', resources: ['podgroups'], verbs: KEEP, backend: 'coscheduling' },
  { group: 'muster.dev', resources: ['schedulerbackends'], verbs: ['get', 'list', 'create'] },
  { group: 'muster.dev', resources: ['schedulerbackends/status'], verbs: ['patch'] },
  { group: 'apiextensions.k8s.io', resources: ['customresourcedefinitions'], verbs: ['get'] },
  {
    group: 'scheduling.k8s.io',
    resources: ['workloads', 'podgroups'],
    verbs: [...KEEP, 'delete'],
    backend: 'default-scheduler',
  },
  { group: POD_GANG_GROUP, resources: ['podgangs/finalizers'], verbs: ['update'] },
  { group: 'coordination.k8s.io', resources: ['leases'], verbs: ['create'], lease: 'namespace' },
  { group: 'coordination.k8s.io', resources: ['leases'], verbs: ['get', 'update'], lease: 'name' },
];

/** One verb on one resource. */
export interface Right {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly namespace: string | undefined;
  readonly object: string | undefined;
}

/**
 * Every right of the rules that these backends need.
 * @param place of the Lease of leader election
 */
export const expectedRights = (
  place: { readonly namespace: string; readonly name: string },
  backends: readonly string[],
): readonly Right[] =>
  EXPECTED_RULES.filter(({ backend }) => backend === undefined || backends.includes(backend)).flatMap(
    ({ group, resources, verbs, lease }) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => ({
          group,
          resource,
          verb,
          namespace: lease === undefined ? undefined : place.namespace,
          object: lease === 'name' ? place.name : undefined,
        })),
      ),
  );

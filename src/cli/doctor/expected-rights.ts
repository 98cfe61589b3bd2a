import { MUSTER_GROUP, POD_GANG_GROUP } from '../../api/names.ts';
import type { AccountRight, BackendFactory } from '../../backends/backend.ts';
import type { GangKind } from '../../workloads/kind.ts';

/**
 * A rule of manifests/base/rbac.yaml or of a backend's component, for Muster's account. The image does not hold these files;
 * a test compares both.
 */
export interface ExpectedRule extends AccountRight {
  /**
   * Set where the rule covers the Lease of leader election alone: in its namespace, and by its name where RBAC allows that.
   */
  readonly lease?: 'namespace' | 'name';
  /** The namespace that a Role gives it in. */
  readonly namespace?: string;
}

const ONE_LEADER = 'one replica at a time runs the loop';

/** Rights that Muster needs with any backend. */
export const MUSTERS_RULES: readonly ExpectedRule[] = [
  {
    group: '',
    resources: ['pods'],
    verbs: ['list', 'watch', 'patch'],
    why: "sees the gangs' Pods, takes its gate off them",
  },
  {
    group: '',
    resources: ['namespaces'],
    verbs: ['list', 'watch'],
    why: "which gangs are Muster's (`controllers.podGang.namespaceSelector`), and the backend of a team",
  },
  {
    group: 'scheduling.k8s.io',
    resources: ['priorityclasses'],
    verbs: ['list', 'watch'],
    why: 'which priorities there are for gangs and their Pods, and which of them is the default',
  },
  {
    group: POD_GANG_GROUP,
    resources: ['podgangs'],
    verbs: ['get', 'list', 'watch', 'patch', 'create', 'delete'],
    why: 'writes references; reads a gang once more before gates come off; makes those of workloads (`muster.dev/gang`)',
  },
  {
    group: 'batch',
    resources: ['jobs'],
    verbs: ['list', 'watch'],
    why: 'the numbers of Jobs whose Pods ask for a gang by `muster.dev/gang`',
  },
  {
    group: 'apps',
    resources: ['statefulsets', 'replicasets'],
    verbs: ['list', 'watch'],
    why: 'the same of StatefulSets and Deployments',
  },
  {
    group: POD_GANG_GROUP,
    resources: ['podgangs/status'],
    verbs: ['patch'],
    why: 'Initialized, Scheduled, Ready, phase',
  },
  {
    group: POD_GANG_GROUP,
    resources: ['podgangs/finalizers'],
    verbs: ['update'],
    why: 'objects that hold up the deletion of the PodGang that controls them (`blockOwnerDeletion`) ask for it',
  },
  {
    group: 'events.k8s.io',
    resources: ['events'],
    verbs: ['create', 'patch'],
    why: 'says what happens and why something waits',
  },
  {
    group: MUSTER_GROUP,
    resources: ['schedulerbackends'],
    verbs: ['get', 'list', 'create'],
    why: 'what the backends found, for people to see',
  },
  {
    group: MUSTER_GROUP,
    resources: ['schedulerbackends/status'],
    verbs: ['patch'],
    why: 'the same',
  },
  {
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['create'],
    lease: 'namespace',
    why: ONE_LEADER,
  },
  {
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['get', 'update'],
    lease: 'name',
    why: ONE_LEADER,
  },
];

/** Rights for forecasts of preemption (`preemption.preview`), beside the base: manifests/components/preemption-preview. */
const PREVIEW_RULES: readonly ExpectedRule[] = [
  {
    group: '',
    resources: ['nodes', 'persistentvolumes', 'persistentvolumeclaims'],
    verbs: ['list', 'watch'],
    why: 'where Pods fit, for the forecast of a dry run',
  },
  {
    group: 'policy',
    resources: ['poddisruptionbudgets'],
    verbs: ['list', 'watch'],
    why: 'whom a budget protects, for the forecast of a dry run',
  },
];

/** Rights for Muster's own preemption, beside the base: manifests/components/preemption. */
export const PREEMPTION_RULES: readonly ExpectedRule[] = [
  {
    group: '',
    resources: ['nodes', 'persistentvolumes', 'persistentvolumeclaims'],
    verbs: ['list'],
    why: 'plans who makes room (`preemption.mode: Act`)',
  },
  { group: 'policy', resources: ['poddisruptionbudgets'], verbs: ['list'], why: 'the same' },
  { group: '', resources: ['pods'], verbs: ['get'], why: 'reads a victim once more' },
  { group: '', resources: ['pods/eviction'], verbs: ['create'], why: 'evicts victims' },
  {
    group: '',
    resources: ['pods/status'],
    verbs: ['patch'],
    why: 'says why a victim goes, and for which node',
  },
];

/** Rights for `preemption.overridePodDisruptionBudgets`: manifests/components/preemption-past-budgets. */
export const PAST_BUDGETS_RULES: readonly ExpectedRule[] = [
  { group: '', resources: ['pods'], verbs: ['delete'], why: 'victims that a budget protects' },
];

/** The rights that the settings of preemption require. */
export const preemptionRules = ({
  mode,
  overridePodDisruptionBudgets: pastBudgets,
  preview,
}: {
  readonly mode: 'Off' | 'Act';
  readonly overridePodDisruptionBudgets: boolean;
  readonly preview: boolean;
}): readonly ExpectedRule[] => [
  ...(mode === 'Off' ? [] : [...PREEMPTION_RULES, ...(pastBudgets ? PAST_BUDGETS_RULES : [])]),
  ...(preview ? PREVIEW_RULES : []),
];

/** Rights for gangs with an HPCPolicy (`hpc.enabled`), beside the base: manifests/components/hpc. */
export const HPC_RULES: readonly ExpectedRule[] = [
  {
    group: MUSTER_GROUP,
    resources: ['hpcpolicies'],
    verbs: ['list', 'watch'],
    why: 'how the Pods of gangs are prepared (`hpc.enabled`)',
  },
  {
    group: '',
    resources: ['configmaps', 'services'],
    verbs: ['get', 'create', 'patch'],
    why: 'what those Pods mount, and the Service by which they find each other',
  },
  { group: '', resources: ['secrets'], verbs: ['create'], why: 'the key of a gang, made once' },
];

/** Rights for `server.certificates.mode: inCluster`: manifests/components/in-cluster-certificates. */
export const keptCertificateRules = ({
  namespace,
  secretName,
}: {
  readonly namespace: string;
  readonly secretName: string;
}): readonly ExpectedRule[] => [
  {
    ...{
      group: '',
      resources: ['secrets'],
      names: [secretName],
      verbs: ['get', 'watch', 'patch'],
      namespace,
    },
    why: 'keeps its CA and its certificate',
  },
  {
    group: 'admissionregistration.k8s.io',
    resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
    names: ['muster'],
    verbs: ['get', 'watch', 'patch'],
    why: 'writes its CA into their caBundles',
  },
];

/** Rights to read the kinds of workloads that the configuration declares (`workloads`). */
export const configuredWorkloadRights = (kinds: readonly GangKind[]): readonly ExpectedRule[] =>
  kinds
    .filter(({ configured }) => configured === true)
    .map(({ group, plural, kind }) => ({
      ...{ group, resources: [plural], verbs: ['list', 'watch'] },
      why: `the numbers of ${kind}s whose Pods ask for a gang (\`workloads\`)`,
    }));

/** One verb on one resource. */
export interface Right {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly namespace: string | undefined;
  readonly object: string | undefined;
}

/**
 * Every right that Muster needs with these backends.
 * @param place namespace and name of the Lease of leader election
 * @param more rules beside Muster's and the backends'
 */
export const expectedRights = (
  place: { readonly namespace: string; readonly name: string },
  enabled: readonly BackendFactory[],
  more: readonly ExpectedRule[] = [],
): readonly Right[] =>
  rightsOf(
    [...MUSTERS_RULES, ...more, ...enabled.flatMap(({ rights = [] }): readonly ExpectedRule[] => rights)],
    place,
  );

/** The rules as single rights. @param place namespace and name of the Lease of leader election */
export const rightsOf = (
  rules: readonly ExpectedRule[],
  place: { readonly namespace: string; readonly name: string },
): readonly Right[] =>
  rules.flatMap(({ group, resources, verbs, names, lease, namespace: within }) => {
    const objects = lease === 'name' ? [place.name] : (names ?? [undefined]);
    const namespace = lease === undefined ? within : place.namespace;
    return resources.flatMap((resource) =>
      verbs.flatMap((verb) => objects.map((object) => ({ group, resource, verb, namespace, object }))),
    );
  });

import type { ContractRange } from '../../api/contract-range.ts';
import type { JsonObject } from '../../json/json.ts';
import { formatCount } from '../../k8s/quantity.ts';
import type { Resources } from '../../k8s/field-reader.ts';
import type { Binding, BindingComponent } from './binding.ts';
import type { Candidate, TargetCluster } from './candidate.ts';
import { minAvailableFor, bindingTemplates } from './gang-strategies.ts';

/** Version of this contract. New optional members do not raise it; a change that breaks a plugin raises it. */
export const PLUGIN_CONTRACT_VERSION = 1;

export const PLUGIN_CONTRACT_RANGE: ContractRange = { oldest: 1, current: PLUGIN_CONTRACT_VERSION };

/**
 * A third party's strategies: the export of the module in an entry of `fleet.assigner.plugins`. Every argument is a JSON
 * copy of its own.
 */
export interface AssignReplicaPlugin {
  readonly name: string;
  /** {@link PLUGIN_CONTRACT_VERSION} at the time when the plugin was written. Absent: 1. */
  readonly contractVersion?: number;
  /** Names of strategies, none of which another plugin may have. Called once, after loading. */
  strategies(): readonly string[];
  /**
   * Called first, with `config` of its entry; throws when `config` is wrong. A plugin without this method accepts no
   * `config`.
   */
  configure?(config: JsonObject): void;
  /**
   * Divides the replicas among the clusters. Each template gets between `minAvailable` and `replicas` in total, as a whole
   * number. An empty list means that this is not possible; the workload waits then.
   * @param clusters the clusters that filters and spread constraints left, by preference; only these may be named
   */
  assignReplica(
    strategy: string,
    clusters: readonly ClusterRoom[],
    spec: BindingSpec,
    status: BindingStatus,
  ): readonly TargetCluster[] | Promise<readonly TargetCluster[]>;
}

/** A cluster that the workload may go to, with its capacity. */
export interface ClusterRoom {
  readonly name: string;
  /** 100 when the workload is in the cluster already, else 0. */
  readonly score: number;
  /** 0, or the number of the overflow affinity that matches the cluster. */
  readonly tier: number;
  /** Capacity in replicas; for a workload with several templates in sets of the minimum of each template. */
  readonly allocatable: number;
  /** `allocatable` plus the replicas that the workload has in the cluster: an answer must not exceed it. */
  readonly available: number;
  readonly labels: Readonly<Record<string, string>>;
  /** `''` when the Cluster names none; likewise for `region`. */
  readonly provider: string;
  readonly region: string;
  readonly zones: readonly string[];
  /** Quantities that are neither allocated nor being allocated. */
  readonly free: Readonly<Record<string, string>>;
}

/** Fields of a binding's `spec` that a strategy may use, with Karmada's names where Karmada has the field. */
export interface BindingSpec {
  readonly resource: { readonly apiVersion: string; readonly kind: string; readonly uid: string };
  /** Replicas of the only template; 0 when there are several. */
  readonly replicas: number;
  /** Smallest number of replicas that the workload runs with; `replicas` when it needs all. */
  readonly minAvailable: number;
  readonly replicaRequirements: Requirements;
  /** The templates of a workload that has several; empty when it has one. */
  readonly components: readonly ComponentSpec[];
  /** Clusters of the workload now. */
  readonly clusters: readonly TargetCluster[];
  readonly placement: {
    readonly spreadConstraints: readonly {
      readonly spreadByField: string;
      readonly minGroups: number;
      readonly maxGroups: number;
    }[];
    readonly replicaScheduling?: {
      readonly replicaSchedulingType: string;
      readonly replicaDivisionPreference: string;
    };
  };
}

export interface ComponentSpec {
  readonly name: string;
  readonly replicas: number;
  readonly minAvailable: number;
  readonly replicaRequirements: Requirements;
}

interface Requirements {
  /** Quantities for one replica. */
  readonly resourceRequest: Readonly<Record<string, string>>;
}

export interface BindingStatus {
  /** Name of the group of `clusterAffinities` that is being tried; `''` for none. */
  readonly schedulerObservingAffinityName: string;
  /** Whether rescheduling was triggered (`rescheduleTriggeredAt`), so that the current placement does not bind. */
  readonly fresh: boolean;
}

/** Everything that an answer may depend on: equal questions have equal answers. */
export interface StrategyQuestion {
  readonly strategy: string;
  readonly clusters: readonly ClusterRoom[];
  readonly spec: BindingSpec;
  readonly status: BindingStatus;
}

export function strategyQuestion(
  strategy: string,
  candidates: readonly Candidate[],
  binding: Binding,
): StrategyQuestion {
  const { kind, placement, clusters, affinityName, fresh } = binding;
  const [apiVersion = '', kindName = ''] = kind.split(' ');
  const templates = bindingTemplates(binding);
  const [only, ...others] = templates;
  const one = others.length === 0 ? only : undefined;
  return {
    strategy,
    clusters: candidates.map(roomOf),
    spec: {
      resource: { apiVersion, kind: kindName, uid: binding.uid },
      replicas: one?.replicas ?? 0,
      minAvailable: one === undefined ? 0 : minAvailableFor(binding, one),
      replicaRequirements: requirementsOf(one),
      components: one === undefined ? templates.map((template) => componentOf(template, binding)) : [],
      clusters: clusters.map(({ name, replicas, components }) => ({
        name,
        replicas,
        ...(components && one === undefined && { components }),
      })),
      placement: {
        spreadConstraints: (placement?.spread ?? []).map(({ field, min, max }) => ({
          spreadByField: field,
          minGroups: min,
          maxGroups: max,
        })),
        ...(placement?.scheduling && {
          replicaScheduling: {
            replicaSchedulingType: placement.scheduling.type,
            replicaDivisionPreference: placement.scheduling.preference,
          },
        }),
      },
    },
    status: { schedulerObservingAffinityName: affinityName, fresh },
  };
}

const roomOf = ({ name, score, tier, allocatable, available, member }: Candidate): ClusterRoom => ({
  name,
  score,
  tier,
  allocatable,
  available,
  labels: Object.fromEntries(member.labels),
  provider: member.provider,
  region: member.region,
  zones: member.zones,
  free: quantities(member.free),
});

const componentOf = (template: BindingComponent, binding: Binding): ComponentSpec => ({
  name: template.name,
  replicas: template.replicas,
  minAvailable: minAvailableFor(binding, template),
  replicaRequirements: requirementsOf(template),
});

const requirementsOf = (template: BindingComponent | undefined): Requirements => ({
  resourceRequest: quantities(template?.requests),
});

const quantities = (resources: Resources | undefined): Record<string, string> =>
  Object.fromEntries([...(resources ?? [])].map(([name, count]) => [name, formatCount(name, count)]));

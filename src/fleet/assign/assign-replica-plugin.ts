import type { ContractRange } from '../../api/contract-range.ts';
import type { JsonObject } from '../../json/json.ts';
import { formatCount } from '../../k8s/quantity.ts';
import type { Resources } from '../../k8s/field-reader.ts';
import type { Binding, BindingComponent } from './binding.ts';
import type { Candidate, TargetCluster } from './candidate.ts';
import { minAvailableFor, bindingTemplates } from './gang-strategies.ts';

/** Version of this contract. It grows by optional members; a change that breaks a plugin raises it. */
export const PLUGIN_CONTRACT_VERSION = 1;

export const PLUGIN_CONTRACT_RANGE: ContractRange = { oldest: 1, current: PLUGIN_CONTRACT_VERSION };

/**
 * Strategies of somebody else's: what the module of an entry of `fleet.assigner.plugins` exports. All that it is given is
 * JSON, a copy of its own.
 */
export interface AssignReplicaPlugin {
  readonly name: string;
  /** {@link PLUGIN_CONTRACT_VERSION} as it was when the plugin was written; absent: 1. */
  readonly contractVersion?: number;
  /** Names of strategies, each of which is this plugin's alone. Asked for once, when it has been loaded. */
  strategies(): readonly string[];
  /** `config` of its entry, before anything else; throws where it is wrong. Without this method it takes none. */
  configure?(config: JsonObject): void;
  /**
   * Which clusters get how many replicas. For every template together a whole number from its `minAvailable` to its
   * `replicas`, or an empty list where no such number is to be had: then the workload waits.
   * @param clusters those that filters and spread constraints left, by preference; no other may be named
   */
  assignReplica(
    strategy: string,
    clusters: readonly ClusterRoom[],
    spec: BindingSpec,
    status: BindingStatus,
  ): readonly TargetCluster[] | Promise<readonly TargetCluster[]>;
}

/** A cluster that the workload may go to. */
export interface ClusterRoom {
  readonly name: string;
  /** 100 where the workload is there already, else 0. */
  readonly score: number;
  /** 0, or the number of the overflow affinity that takes it. */
  readonly tier: number;
  /** Replicas that it has room for; of a workload with several templates sets of the least of each. */
  readonly allocatable: number;
  /** The same, with the replicas that the workload has there: no more may be given to it. */
  readonly available: number;
  readonly labels: Readonly<Record<string, string>>;
  /** `''` where it names none; the same for the region. */
  readonly provider: string;
  readonly region: string;
  readonly zones: readonly string[];
  /** Quantities that are neither allocated nor being allocated. */
  readonly free: Readonly<Record<string, string>>;
}

/** What of `spec` of a binding a strategy goes by, in Karmada's words where it has them. */
export interface BindingSpec {
  readonly resource: { readonly apiVersion: string; readonly kind: string; readonly uid: string };
  /** Of the one template; 0 where there are several. */
  readonly replicas: number;
  /** The least of them that the workload runs with; `replicas` where it needs all. */
  readonly minAvailable: number;
  readonly replicaRequirements: Requirements;
  /** The templates of a workload that has several, and none where it has one. */
  readonly components: readonly ComponentSpec[];
  /** Where it is now. */
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
  /** Quantities, for one replica. */
  readonly resourceRequest: Readonly<Record<string, string>>;
}

export interface BindingStatus {
  /** The group of `clusterAffinities` that is tried, `''` for none. */
  readonly schedulerObservingAffinityName: string;
  /** Told to be placed anew (`rescheduleTriggeredAt`), whatever it has. */
  readonly fresh: boolean;
}

/** All that an answer may depend on: the same question has the same answer. */
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

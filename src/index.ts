/** The package's public API, for authors of backends, strategies and preparations. */
export { rules, type RuleName } from './api/rules.ts';
export { fault, type Fault } from './api/fault.ts';
export type { Json, JsonObject } from './json/json.ts';
export type { Resource } from './k8s/resource.ts';
export type {
  Condition,
  GroupConfig,
  NamespacedName,
  PackConstraint,
  PodGang,
  PodGangSpec,
  PodGroup,
} from './api/pod-gang.ts';
export {
  BACKEND_CONTRACT_VERSION,
  definitionRight,
  PodRefused,
  type AccountRight,
  type Backend,
  type BackendFactory,
  type BackendSettings,
  type ConformanceSettings,
  type CountedBy,
  type PatchSurface,
  type PodGangVerdict,
  type PodPatch,
  type PodReader,
  type SchedulerTraces,
  type WorkloadRef,
} from './backends/backend.ts';
export { KEEP_OBJECTS } from './backends/cluster.ts';
export {
  newlyIgnored as newlyUnheard,
  ignoredTerms as unheardTerms,
  type Preempts,
} from './backends/shared-warnings.ts';
export type { PodField, PodList, Preparer } from './preparers/preparer.ts';
export {
  gangHosts,
  gangService,
  PREPARATION_CONTRACT_VERSION,
  takeHostName,
  type HostName,
  type HpcGang,
  type ManagerSettings,
  type ObjectsGiven,
  type PodAsked,
  type PreparationModule,
} from './preparers/preparation-module.ts';
export type {
  Applied,
  BackendFacts,
  ClusterProbe,
  ClusterSyncContext,
  GangPod,
  InitContext,
  OwnedObject,
  SyncContext,
} from './backends/cluster.ts';
export { readProfileConfig, type ProfileConfig, type ProfileSetting } from './backends/profile-config.ts';
export type { TopologyLevels } from './gang/rules/check-topology.ts';
export type { ReleaseOrder } from './gang/records.ts';
export type { Membership } from './gang/membership.ts';
export {
  multiGetReplicas,
  multiReviseReplica,
  type TemplateReplicas,
  type TemplateRevision,
} from './fleet/multi-replicas.ts';
export {
  PLUGIN_CONTRACT_VERSION,
  type AssignReplicaPlugin,
  type BindingSpec,
  type BindingStatus,
  type ClusterRoom,
  type ComponentSpec,
} from './fleet/assign/assign-replica-plugin.ts';
export { divide, type Votes } from './fleet/assign/webster.ts';
export type { ComponentReplicas, TargetCluster } from './fleet/assign/candidate.ts';
export type { NodeClaim, Requirements } from './workloads/pod-requirements.ts';

import { hpcPodRules } from './hpc-pod-rules.ts';
import { hpcRules } from './hpc-rules.ts';
import { priorityRules } from './priority-rules.ts';
import { workloadRules } from './workload-rules.ts';
import type { Rule } from './rule.ts';

/**
 * Every rule by which Muster refuses an object. docs/reference/rules.md lists them and a test compares the two. Messages name the
 * rule at their end, in brackets.
 */
export const rules = {
  // Pods
  GangNameInvalid: {
    code: 422,
    kind: 'Invalid',
    says: 'must be the name of a PodGang: a lower-case DNS name of at most 63 characters',
    fix: 'correct the label, or remove it if the Pod belongs to no gang',
  },
  GroupLabelRequired: {
    code: 422,
    kind: 'Required',
    says: 'a gang Pod names its group',
    fix: 'add the label grove.io/podclique with a name from spec.podgroups of the PodGang',
  },
  ...workloadRules,
  NodeNameForbidden: {
    code: 403,
    kind: 'Forbidden',
    says: 'gang pods must not set nodeName: that goes past the scheduler and past the gate',
    fix: 'remove it; use nodeSelector or node affinity to steer the Pod',
  },
  SchedulerNotEnabled: {
    code: 422,
    kind: 'NotSupported',
    says: 'no enabled backend has this name',
    fix: 'choose an enabled one, or leave it out for the default',
  },
  BackendFailed: {
    code: 422,
    kind: 'Invalid',
    says: 'this Pod could not be prepared',
    fix: 'correct what it names, or tell whoever runs Muster',
  },
  GateMissing: {
    code: 403,
    kind: 'Required',
    says: 'a gang Pod is created with the gate grove.io/podgang-pending-creation',
    fix: 'put the gang labels into the manifest: a label added by a later webhook comes too late; or add the gate',
  },
  SchedulerMismatch: {
    code: 403,
    kind: 'Invalid',
    says: "must be the scheduler of the gang's backend",
    fix: 'put the gang labels into the manifest, and let no other webhook set schedulerName after Muster',
  },
  BackendOfGang: {
    code: 422,
    kind: 'Invalid',
    says: 'a Pod goes to the scheduler of its gang, all others of which go there',
    fix: 'create the Pod again without this: it gets the backend of its gang',
  },
  GangLabelImmutable: {
    code: 403,
    kind: 'Forbidden',
    says: 'the gang labels of a Pod never change',
    fix: 'delete the Pod and create it with the label you want',
  },
  GateProtected: {
    code: 403,
    kind: 'Forbidden',
    says: 'only trusted accounts take the gate grove.io/podgang-pending-creation away',
    fix: 'wait until the gang is complete, or add the account to trustedAccounts',
  },
  PriorityMismatch: {
    code: 403,
    kind: 'Invalid',
    says: 'the priority of a Pod is the value of its PriorityClass',
    fix: 'leave spec.priority to Kubernetes, and let no other webhook set spec.priorityClassName after Muster',
  },
  // PodGangs: shape
  FieldRequired: { code: 422, kind: 'Required', says: 'must be given', fix: 'add it' },
  FieldType: { code: 422, kind: 'Invalid', says: 'has the wrong type', fix: 'correct it' },
  GangNameTooLong: {
    code: 422,
    kind: 'TooLong',
    says: 'the name of a PodGang is a label value of its Pods: at most 63 characters',
    fix: 'choose a shorter name',
  },
  GroupsRequired: {
    code: 422,
    kind: 'Required',
    says: 'a gang has at least one group',
    fix: 'add a group with name, minReplicas and podReferences: []',
  },
  GroupNameInvalid: {
    code: 422,
    kind: 'Invalid',
    says: 'a group name is a label value of its Pods: at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends',
    fix: 'rename the group',
  },
  GroupNameDuplicate: {
    code: 422,
    kind: 'Duplicate',
    says: 'group names are unique in a gang',
    fix: 'rename one of them',
  },
  MinReplicasInvalid: {
    code: 422,
    kind: 'Invalid',
    says: 'minReplicas is a whole number from 0 to 2147483647',
    fix: 'give the number of Pods that must start together',
  },
  MinReplicasAllZero: {
    code: 422,
    kind: 'Invalid',
    says: 'at least one group has minReplicas over 0, or there is no gang to wait for',
    fix: 'raise minReplicas of the group that must start together',
  },
  ExpectedPodsInvalid: {
    code: 422,
    kind: 'Invalid',
    says: 'says how many Pods each group will have, which is at least its minReplicas',
    fix: 'write group=count for groups of the gang, joined by commas',
  },
  ReferenceForeign: {
    code: 422,
    kind: 'Invalid',
    says: 'a gang refers to Pods of its own namespace only',
    fix: 'remove the reference; the loop fills in the right ones',
  },
  ReferenceInvalid: {
    code: 422,
    kind: 'Invalid',
    says: 'must be the name of a Pod: a lower-case DNS name of at most 253 characters',
    fix: 'remove the reference; the loop fills in the right ones',
  },
  ReferenceDuplicate: {
    code: 422,
    kind: 'Duplicate',
    says: 'a Pod is referenced once, in one group',
    fix: 'remove the reference that does not match the label grove.io/podclique of the Pod',
  },
  TopologyKeyInvalid: {
    code: 422,
    kind: 'Invalid',
    says: 'must be a node label key, such as topology.kubernetes.io/zone',
    fix: 'give the key of the label, not the name of a domain or its value',
  },
  TopologyLevelUnknown: {
    code: 422,
    kind: 'NotSupported',
    says: 'is no level of topologyAwareScheduling.levels',
    fix: 'use a configured key, or have the level configured',
  },
  TopologyOrder: {
    code: 422,
    kind: 'Invalid',
    says: 'the preferred level must not be broader than the required one',
    fix: 'prefer the required level or a narrower one, or leave preferred out',
  },
  GroupConfigDuplicate: {
    code: 422,
    kind: 'Duplicate',
    says: 'names of group configurations are unique in a gang',
    fix: 'rename one of them',
  },
  GroupConfigUnknownGroup: {
    code: 422,
    kind: 'NotSupported',
    says: 'is no group of this gang',
    fix: 'use a name from spec.podgroups',
  },
  GroupConfigOverlap: {
    code: 422,
    kind: 'Duplicate',
    says: 'a group is in one group configuration only',
    fix: 'remove it from one of them',
  },
  ...priorityRules,
  SchedulerLabelImmutable: {
    code: 422,
    kind: 'Forbidden',
    says: 'the backend of a gang never changes: its Pods are prepared for it',
    fix: 'delete the gang and create it with the label you want',
  },
  ManagerProtected: {
    code: 403,
    kind: 'Forbidden',
    says: 'only trusted accounts hand a gang over to the Grove operator, or take it back',
    fix: 'leave the label as it is, or add the account to trustedAccounts',
  },
  PreemptionPlanProtected: {
    code: 403,
    kind: 'Forbidden',
    says: 'only trusted accounts write whom a gang preempts: Muster evicts them on its word',
    fix: 'leave the annotation as it is; what you want of preemption goes into the other annotations',
  },
  // PodGangs: Initialized
  InitializedProtected: {
    code: 403,
    kind: 'Forbidden',
    says: 'only trusted accounts change the condition Initialized',
    fix: 'leave it as it is, or add the account to trustedAccounts',
  },
  InitializedDuplicate: {
    code: 422,
    kind: 'Duplicate',
    says: 'the condition Initialized is given once',
    fix: 'remove the others',
  },
  InitializedFinal: {
    code: 422,
    kind: 'Forbidden',
    says: 'Initialized stays True once it is: gates have come off on its word',
    fix: 'keep the condition when you write status; send a patch of your own conditions only',
  },
  InitializedTooEarly: {
    code: 422,
    kind: 'Invalid',
    says: 'Initialized is True only when every group refers to at least minReplicas Pods',
    fix: 'write podReferences first',
  },
  GroupsFixed: {
    code: 422,
    kind: 'Forbidden',
    says: 'the groups of an Initialized gang are fixed',
    fix: 'create another PodGang for them',
  },
  ReferencesProtected: {
    code: 403,
    kind: 'Forbidden',
    says: 'only trusted accounts change the references of an Initialized gang',
    fix: 'leave podReferences as they are, or add the account to trustedAccounts',
  },
  // PodGangs: what a scheduler cannot do
  BackendCannotExpress: {
    code: 422,
    kind: 'NotSupported',
    says: 'the scheduler of this gang cannot do this',
    fix: 'change it, or choose another backend with the label grove.io/scheduler-name',
  },
  ...hpcRules,
  ...hpcPodRules,
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof rules;

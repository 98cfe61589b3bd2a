import type { Decision } from '../../../src/admission/review.ts';
import type { Json } from '../../../src/json/json.ts';
import { completeGroups, group, INITIALIZED, podGang, references } from '../../support/pod-gangs.ts';
import type { PodGangParts } from '../../support/pod-gangs.ts';
import { priorityClasses } from '../../support/priority-classes.ts';
import { policy } from '../../support/policy.ts';
import { validatePodGang } from '../../support/reviews.ts';
import type { RuleExample } from './rule-examples-pods.ts';

const create = (parts: PodGangParts): Decision => validatePodGang({ object: podGang(parts) });
const update = (before: PodGangParts, after: PodGangParts): Decision =>
  validatePodGang({ oldObject: podGang(before), object: podGang(after) });
const withGroups = (...groups: Json[]): Decision => create({ groups });

const withPriorities = (after: PodGangParts, before?: PodGangParts): Decision =>
  validatePodGang(
    { object: podGang(after), ...(before && { oldObject: podGang(before) }) },
    policy({ classes: priorityClasses() }),
  );
const costing = (name: string): PodGangParts => ({
  spec: { priorityClassName: 'high' },
  annotations: { 'muster.dev/preemption-priority-class': name },
});

const ZONE = 'topology.kubernetes.io/zone';
const RACK = 'example.com/rack';
const pack = (packConstraint: Json): Json => ({ packConstraint });
const withTopology = (packConstraint: Json): Decision =>
  validatePodGang(
    { object: podGang({ spec: { topologyConstraint: pack(packConstraint) } }) },
    policy({ levels: [ZONE, RACK] }),
  );
const withConfigs = (...topologyConstraintGroupConfigs: Json[]): Decision =>
  create({ spec: { topologyConstraintGroupConfigs } });

/** What is wrong with a PodGang as it stands. */
export const podGangExamples: readonly RuleExample[] = [
  {
    rule: 'FieldRequired',
    mistake: 'a group without name',
    decide: () => withGroups({ minReplicas: 1, podReferences: [] }),
    says: 'spec.podgroups[0].name: Required value: must be given (a string); add it [FieldRequired]',
  },
  {
    rule: 'FieldType',
    mistake: 'a number for a name',
    decide: () => withGroups(group('a'), { name: 7, minReplicas: 1, podReferences: [] }),
    says: 'spec.podgroups[1].name: Invalid value: 7: has the wrong type (a string is needed); correct it [FieldType]',
  },
  {
    rule: 'GangNameTooLong',
    mistake: 'a name of 64 characters',
    decide: () => create({ metadata: { name: 'a'.repeat(64) } }),
    says: 'metadata.name: Too long: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": the name of a PodGang is a label value of its Pods: at most 63 characters (this one has 64); choose a shorter name [GangNameTooLong]',
  },
  {
    rule: 'GroupsRequired',
    mistake: 'no groups',
    decide: () => withGroups(),
    says: 'spec.podgroups: Required value: a gang has at least one group; add a group with name, minReplicas and podReferences: [] [GroupsRequired]',
  },
  {
    rule: 'GroupNameInvalid',
    mistake: 'a group name with a space',
    decide: () => withGroups(group('my group')),
    says: 'spec.podgroups[0].name: Invalid value: "my group": a group name is a label value of its Pods: at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends; rename the group [GroupNameInvalid]',
  },
  {
    rule: 'GroupNameDuplicate',
    mistake: 'two groups of one name',
    decide: () => withGroups(group('a'), group('b'), group('a')),
    says: 'spec.podgroups[2].name: Duplicate value: "a": group names are unique in a gang (also spec.podgroups[0]); rename one of them [GroupNameDuplicate]',
  },
  {
    rule: 'MinReplicasInvalid',
    mistake: 'half a Pod',
    decide: () => withGroups(group('a'), group('b', { minReplicas: 1.5 })),
    says: 'spec.podgroups[1].minReplicas: Invalid value: 1.5: minReplicas is a whole number from 0 to 2147483647; give the number of Pods that must start together [MinReplicasInvalid]',
  },
  {
    rule: 'MinReplicasAllZero',
    mistake: 'nothing to wait for',
    decide: () => withGroups(group('a', { minReplicas: 0 }), group('b', { minReplicas: 0 })),
    says: 'spec.podgroups: Invalid value: at least one group has minReplicas over 0, or there is no gang to wait for; raise minReplicas of the group that must start together [MinReplicasAllZero]',
  },
  {
    rule: 'ExpectedPodsInvalid',
    mistake: 'the count of a group that there is not',
    decide: () => create({ annotations: { 'muster.dev/expected-pods': 'w=x' } }),
    says: 'metadata.annotations[muster.dev/expected-pods]: Invalid value: says how many Pods each group will have, which is at least its minReplicas ("w=x" is not group=count); write group=count for groups of the gang, joined by commas [ExpectedPodsInvalid]',
  },
  {
    rule: 'ReferenceForeign',
    mistake: 'a Pod of another namespace',
    decide: () => withGroups(group('a', { podReferences: [{ namespace: 'web', name: 'a-0' }] })),
    says: 'spec.podgroups[0].podReferences[0].namespace: Invalid value: "web": a gang refers to Pods of its own namespace only; remove the reference; the loop fills in the right ones [ReferenceForeign]',
  },
  {
    rule: 'ReferenceInvalid',
    mistake: 'a reference that is no Pod name',
    decide: () => withGroups(group('a', { podReferences: references('A_0') })),
    says: 'spec.podgroups[0].podReferences[0].name: Invalid value: "A_0": must be the name of a Pod: a lower-case DNS name of at most 253 characters; remove the reference; the loop fills in the right ones [ReferenceInvalid]',
  },
  {
    rule: 'ReferenceDuplicate',
    mistake: 'one Pod in two groups',
    decide: () =>
      withGroups(
        group('a', { podReferences: references('p-0') }),
        group('b', { podReferences: references('p-1', 'p-0') }),
      ),
    says: 'spec.podgroups[1].podReferences[1]: Duplicate value: "p-0": a Pod is referenced once, in one group (also spec.podgroups[0].podReferences[0]); remove the reference that does not match the label grove.io/podclique of the Pod [ReferenceDuplicate]',
  },
  {
    rule: 'TopologyKeyInvalid',
    mistake: 'a domain with a value',
    decide: () => withTopology({ required: 'zone=eu' }),
    says: 'spec.topologyConstraint.packConstraint.required: Invalid value: "zone=eu": must be a node label key, such as topology.kubernetes.io/zone; give the key of the label, not the name of a domain or its value [TopologyKeyInvalid]',
  },
  {
    rule: 'TopologyLevelUnknown',
    mistake: 'a key that is no level',
    decide: () => withTopology({ preferred: 'example.com/block' }),
    says: 'spec.topologyConstraint.packConstraint.preferred: Unsupported value: "example.com/block": is no level of topologyAwareScheduling.levels (levels: topology.kubernetes.io/zone, example.com/rack); use a configured key, or have the level configured [TopologyLevelUnknown]',
  },
  {
    rule: 'TopologyOrder',
    mistake: 'a preference broader than the requirement',
    decide: () => withTopology({ required: RACK, preferred: ZONE }),
    says: 'spec.topologyConstraint.packConstraint.preferred: Invalid value: "topology.kubernetes.io/zone": the preferred level must not be broader than the required one (required is example.com/rack); prefer the required level or a narrower one, or leave preferred out [TopologyOrder]',
  },
  {
    rule: 'GroupConfigDuplicate',
    mistake: 'two group configurations of one name',
    decide: () =>
      withConfigs({ name: 'c', podGroupNames: ['leader'] }, { name: 'c', podGroupNames: ['worker'] }),
    says: 'spec.topologyConstraintGroupConfigs[1].name: Duplicate value: "c": names of group configurations are unique in a gang (also spec.topologyConstraintGroupConfigs[0]); rename one of them [GroupConfigDuplicate]',
  },
  {
    rule: 'GroupConfigUnknownGroup',
    mistake: 'a group that is not there',
    decide: () => withConfigs({ name: 'c', podGroupNames: ['leader', 'wroker'] }),
    says: 'spec.topologyConstraintGroupConfigs[0].podGroupNames[1]: Unsupported value: "wroker": is no group of this gang (groups: leader, worker); use a name from spec.podgroups [GroupConfigUnknownGroup]',
  },
  {
    rule: 'GroupConfigOverlap',
    mistake: 'a group in two configurations',
    decide: () =>
      withConfigs({ name: 'c', podGroupNames: ['leader'] }, { name: 'd', podGroupNames: ['leader'] }),
    says: 'spec.topologyConstraintGroupConfigs[1].podGroupNames[0]: Duplicate value: "leader": a group is in one group configuration only (also spec.topologyConstraintGroupConfigs[0].podGroupNames[0]); remove it from one of them [GroupConfigOverlap]',
  },
  {
    rule: 'PriorityClassInvalid',
    mistake: 'no name of a PriorityClass',
    decide: () => create({ spec: { priorityClassName: 'High!' } }),
    says: 'spec.priorityClassName: Invalid value: "High!": must be the name of a PriorityClass: a lower-case DNS name of at most 253 characters; correct it or leave it out [PriorityClassInvalid]',
  },
  {
    rule: 'PriorityClassUnknown',
    mistake: 'a class that is not there',
    decide: () => withPriorities({ spec: { priorityClassName: 'hihg' } }),
    says: 'spec.priorityClassName: Unsupported value: "hihg": is no PriorityClass of this cluster; create it, or name another; one that was made a moment ago is known in a moment: try again [PriorityClassUnknown]',
  },
  {
    rule: 'PriorityClassImmutable',
    mistake: 'another class once there are Pods',
    decide: () =>
      withPriorities(
        { spec: { priorityClassName: 'high' }, groups: completeGroups() },
        { spec: { priorityClassName: 'low' }, groups: completeGroups() },
      ),
    says: 'spec.priorityClassName: Forbidden: the priority of a gang that has Pods never changes: its Pods keep theirs (was low, now high); create the gang and its Pods anew; what it costs to preempt it may change, by muster.dev/preemption-priority-class [PriorityClassImmutable]',
  },
  {
    rule: 'PreemptionPriorityBelow',
    mistake: 'a gang that is cheaper to preempt than it may preempt',
    decide: () => withPriorities(costing('low')),
    says: 'metadata.annotations[muster.dev/preemption-priority-class]: Invalid value: "low": a gang is preempted at its scheduling priority or above, or two gangs could preempt each other for ever (10 is below 1000); name a PriorityClass at least as high as that of spec.priorityClassName [PreemptionPriorityBelow]',
  },
  {
    rule: 'PreemptionPriorityAbove',
    mistake: 'a gang that has itself kept from whoever is above it',
    decide: () => withPriorities(costing('system-cluster-critical')),
    says: 'metadata.annotations[muster.dev/preemption-priority-class]: Forbidden: "system-cluster-critical": a gang costs no more to preempt than it may preempt with, unless the class allows it (2000000000 is above 1000); leave it out, or name a class with muster.dev/preemption-priority-for [PreemptionPriorityAbove]',
  },
  {
    rule: 'PreemptionPolicyInvalid',
    mistake: 'a policy that there is not',
    decide: () => withPriorities({ annotations: { 'muster.dev/preemption-policy': 'Always' } }),
    says: 'metadata.annotations[muster.dev/preemption-policy]: Unsupported value: "Always": must be PreemptLowerPriority or Never; correct it, or leave it out for that of the PriorityClass [PreemptionPolicyInvalid]',
  },
  {
    rule: 'DisruptionModeInvalid',
    mistake: 'a mode that there is not',
    decide: () => withPriorities({ annotations: { 'muster.dev/disruption-mode': 'pod' } }),
    says: 'metadata.annotations[muster.dev/disruption-mode]: Unsupported value: "pod": must be Pod or PodGroup; correct it, or leave it out for Pod [DisruptionModeInvalid]',
  },
  {
    rule: 'DisruptionModeImmutable',
    mistake: 'another mode later',
    decide: () => withPriorities({ annotations: { 'muster.dev/disruption-mode': 'PodGroup' } }, {}),
    says: 'metadata.annotations[muster.dev/disruption-mode]: Forbidden: whether the Pods of a gang are disrupted together never changes (was Pod, now PodGroup); create the gang anew [DisruptionModeImmutable]',
  },
  {
    rule: 'SchedulerNotEnabled',
    mistake: 'a label that names no backend',
    decide: () => create({ labels: { 'grove.io/scheduler-name': 'slurm' } }),
    says: 'metadata.labels[grove.io/scheduler-name]: Unsupported value: "slurm": no enabled backend has this name (enabled: default-scheduler, kai-scheduler, volcano, coscheduling); choose an enabled one, or leave it out for the default [SchedulerNotEnabled]',
  },
  {
    rule: 'BackendCannotExpress',
    mistake: 'a group name that KAI cannot take',
    decide: () =>
      create({ labels: { 'grove.io/scheduler-name': 'kai-scheduler' }, groups: [group('Leader')] }),
    says: 'spec.podgroups[0].name: Unsupported value: "Leader": the scheduler of this gang cannot do this (KAI asks for lower-case letters, digits and "-"); change it, or choose another backend with the label grove.io/scheduler-name [BackendCannotExpress]',
  },
  {
    rule: 'SchedulerLabelImmutable',
    mistake: 'another backend',
    decide: () => update({}, { labels: { 'grove.io/scheduler-name': 'kai-scheduler' } }),
    says: 'metadata.labels[grove.io/scheduler-name]: Forbidden: the backend of a gang never changes: its Pods are prepared for it (was not set, now kai-scheduler); delete the gang and create it with the label you want [SchedulerLabelImmutable]',
  },
  {
    rule: 'ManagerProtected',
    mistake: 'a gang that its owner declares to be the Grove operator’s',
    decide: () => update({}, { labels: { 'app.kubernetes.io/managed-by': 'grove-operator' } }),
    says: 'metadata.labels[app.kubernetes.io/managed-by]: Forbidden: only trusted accounts hand a gang over to the Grove operator, or take it back (was not set, now grove-operator); leave the label as it is, or add the account to trustedAccounts [ManagerProtected]',
  },
  {
    rule: 'PreemptionPlanProtected',
    mistake: 'a plan that its owner has made',
    decide: () => update({}, { annotations: { 'muster.dev/preemption-plan': '{}' } }),
    says: 'metadata.annotations[muster.dev/preemption-plan]: Forbidden: only trusted accounts write whom a gang preempts: Muster evicts them on its word; leave the annotation as it is; what you want of preemption goes into the other annotations [PreemptionPlanProtected]',
  },
  ...initializedExamples(),
];

/** What may no longer, or not yet, be done to a PodGang. */
function initializedExamples(): RuleExample[] {
  const initialized = { groups: completeGroups(), status: { conditions: [INITIALIZED] } };
  const incomplete = {
    groups: [group('leader', { minReplicas: 3, podReferences: references('l-0', 'l-1') })],
  };
  const trusted = { username: 'system:serviceaccount:muster-system:muster', subResource: 'status' };
  return [
    {
      rule: 'InitializedProtected',
      mistake: 'Initialized written by an ordinary account',
      decide: () =>
        validatePodGang({
          subResource: 'status',
          oldObject: podGang({ groups: completeGroups() }),
          object: podGang(initialized),
        }),
      says: 'status.conditions[Initialized]: Forbidden: only trusted accounts change the condition Initialized; leave it as it is, or add the account to trustedAccounts [InitializedProtected]',
    },
    {
      rule: 'InitializedDuplicate',
      mistake: 'Initialized given twice',
      decide: () =>
        validatePodGang({
          ...trusted,
          oldObject: podGang(initialized),
          object: podGang({ ...initialized, status: { conditions: [INITIALIZED, INITIALIZED] } }),
        }),
      says: 'status.conditions[1]: Duplicate value: the condition Initialized is given once; remove the others [InitializedDuplicate]',
    },
    {
      rule: 'InitializedFinal',
      mistake: 'conditions written without the one that stays',
      decide: () =>
        validatePodGang({
          ...trusted,
          oldObject: podGang(initialized),
          object: podGang({ ...initialized, status: { conditions: [] } }),
        }),
      says: 'status.conditions[Initialized]: Forbidden: Initialized stays True once it is: gates have come off on its word (asked for its removal); keep the condition when you write status; send a patch of your own conditions only [InitializedFinal]',
    },
    {
      rule: 'InitializedTooEarly',
      mistake: 'Initialized before the references',
      decide: () =>
        validatePodGang({
          ...trusted,
          oldObject: podGang(incomplete),
          object: podGang({ ...incomplete, status: { conditions: [INITIALIZED] } }),
        }),
      says: 'spec.podgroups[0].podReferences: Invalid value: Initialized is True only when every group refers to at least minReplicas Pods (group leader has 2 of 3); write podReferences first [InitializedTooEarly]',
    },
    {
      rule: 'GroupsFixed',
      mistake: 'one more group',
      decide: () =>
        update(initialized, { ...initialized, groups: [...(completeGroups() as Json[]), group('late')] }),
      says: 'spec.podgroups[2].name: Forbidden: the groups of an Initialized gang are fixed (late is new); create another PodGang for them [GroupsFixed]',
    },
    {
      rule: 'ReferencesProtected',
      mistake: 'another Pod smuggled in',
      decide: () =>
        update(initialized, {
          ...initialized,
          groups: [
            (completeGroups() as Json[])[0] ?? null,
            group('worker', { minReplicas: 2, podReferences: references('worker-0', 'mine') }),
          ],
        }),
      says: 'spec.podgroups[1].podReferences: Forbidden: only trusted accounts change the references of an Initialized gang; leave podReferences as they are, or add the account to trustedAccounts [ReferencesProtected]',
    },
  ];
}

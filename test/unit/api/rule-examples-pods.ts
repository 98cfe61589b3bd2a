import type { Decision } from '../../../src/admission/review.ts';
import type { RuleName } from '../../../src/api/rules.ts';
import { PodRefused } from '../../../src/backends/backend.ts';
import { backend } from '../../support/backends.ts';
import { gangPod, pod, storedPod } from '../../support/pods.ts';
import { policy } from '../../support/policy.ts';
import { priorityClasses } from '../../support/priority-classes.ts';
import { mutatePod, validatePod } from '../../support/reviews.ts';

/** One mistake, and word for word what its maker is told. */
export interface RuleExample {
  readonly rule: RuleName;
  readonly mistake: string;
  readonly decide: () => Decision;
  readonly says: string;
}

const update = (before: ReturnType<typeof pod>, after: ReturnType<typeof pod>): Decision =>
  validatePod({ oldObject: before, object: after });

const refusing = backend('choosy', {
  preparePod: () => {
    throw new PodRefused('metadata.annotations[choosy/queue]', 'no such queue "night"');
  },
});

export const podExamples: readonly RuleExample[] = [
  {
    rule: 'GangNameInvalid',
    mistake: 'a gang name that no object can have',
    decide: () => mutatePod({ object: gangPod({ labels: { 'grove.io/podgang': 'Train' } }) }),
    says: 'metadata.labels[grove.io/podgang]: Invalid value: "Train": must be the name of a PodGang: a lower-case DNS name of at most 63 characters; correct the label, or remove it if the Pod belongs to no gang [GangNameInvalid]',
  },
  {
    rule: 'GroupLabelRequired',
    mistake: 'no group',
    decide: () => mutatePod({ object: pod({ labels: { 'grove.io/podgang': 'train' } }) }),
    says: 'metadata.labels[grove.io/podclique]: Required value: a gang Pod names its group; add the label grove.io/podclique with a name from spec.podgroups of the PodGang [GroupLabelRequired]',
  },
  {
    rule: 'NodeNameForbidden',
    mistake: 'a Pod that names its node',
    decide: () => mutatePod({ object: gangPod({ spec: { nodeName: 'n1' } }) }),
    says: 'spec.nodeName: Forbidden: "n1": gang pods must not set nodeName: that goes past the scheduler and past the gate; remove it; use nodeSelector or node affinity to steer the Pod [NodeNameForbidden]',
  },
  {
    rule: 'SchedulerNotEnabled',
    mistake: 'an unknown scheduler in the spec',
    decide: () => mutatePod({ object: gangPod({ spec: { schedulerName: 'volcano-2' } }) }),
    says: 'spec.schedulerName: Unsupported value: "volcano-2": no enabled backend has this name (enabled: default-scheduler, kai-scheduler, volcano, coscheduling); choose an enabled one, or leave it out for the default [SchedulerNotEnabled]',
  },
  {
    rule: 'SchedulerNotEnabled',
    mistake: 'a known scheduler that is not enabled, in the label',
    decide: () =>
      mutatePod(
        { object: gangPod({ labels: { 'grove.io/scheduler-name': 'kai-scheduler' } }) },
        policy({ enabled: ['default-scheduler'] }),
      ),
    says: 'metadata.labels[grove.io/scheduler-name]: Unsupported value: "kai-scheduler": no enabled backend has this name (enabled: default-scheduler); choose an enabled one, or leave it out for the default [SchedulerNotEnabled]',
  },
  {
    rule: 'BackendFailed',
    mistake: 'a Pod that the backend refuses',
    decide: () => mutatePod({ object: gangPod() }, policy({ factories: [refusing] })),
    says: 'metadata.annotations[choosy/queue]: Invalid value: this Pod could not be prepared (choosy: no such queue "night"); correct what it names, or tell whoever runs Muster [BackendFailed]',
  },
  {
    rule: 'GateMissing',
    mistake: 'a Pod that was labelled after the mutating webhook had passed',
    decide: () => validatePod({ object: gangPod() }),
    says: 'spec.schedulingGates: Required value: a gang Pod is created with the gate grove.io/podgang-pending-creation; put the gang labels into the manifest: a label added by a later webhook comes too late; or add the gate [GateMissing]',
  },
  {
    rule: 'SchedulerMismatch',
    mistake: 'a label for another backend added after the mutating webhook had passed',
    decide: () =>
      validatePod({ object: storedPod({ labels: { 'grove.io/scheduler-name': 'kai-scheduler' } }) }),
    says: `spec.schedulerName: Invalid value: "default-scheduler": must be the scheduler of the gang's backend (backend kai-scheduler needs kai-scheduler); put the gang labels into the manifest, and let no other webhook set schedulerName after Muster [SchedulerMismatch]`,
  },
  {
    rule: 'SchedulerNotEnabled',
    mistake:
      'a Pod in a Namespace whose annotation names no backend: what it says is not repeated to whoever asks',
    decide: () =>
      mutatePod(
        { object: gangPod() },
        policy({ placement: { ofGang: () => null, ofNamespace: () => 'a secret' } }),
      ),
    says: 'Namespace: metadata.annotations[grove.io/scheduler-name]: Unsupported value: no enabled backend has this name (enabled: default-scheduler, kai-scheduler, volcano, coscheduling); choose an enabled one, or leave it out for the default [SchedulerNotEnabled]',
  },
  {
    rule: 'SchedulerNotEnabled',
    mistake: 'a Pod of a gang whose label names no backend: nor is that',
    decide: () =>
      mutatePod(
        { object: gangPod() },
        policy({ placement: { ofGang: () => 'a secret', ofNamespace: () => null } }),
      ),
    says: 'PodGang train: metadata.labels[grove.io/scheduler-name]: Unsupported value: no enabled backend has this name (enabled: default-scheduler, kai-scheduler, volcano, coscheduling); choose an enabled one, or leave it out for the default [SchedulerNotEnabled]',
  },
  {
    rule: 'BackendOfGang',
    mistake: 'a Pod that names another backend than its gang',
    decide: () =>
      mutatePod(
        { object: gangPod({ spec: { schedulerName: 'kai-scheduler' } }) },
        policy({ placement: { ofGang: () => 'volcano', ofNamespace: () => null } }),
      ),
    says: 'spec.schedulerName: Invalid value: "kai-scheduler": a Pod goes to the scheduler of its gang, all others of which go there (PodGang train is of volcano); create the Pod again without this: it gets the backend of its gang [BackendOfGang]',
  },
  {
    rule: 'PriorityMismatch',
    mistake: 'a class that a webhook has exchanged, with the number of the first',
    decide: () =>
      validatePod(
        { object: storedPod({ spec: { priorityClassName: 'low', priority: 1000 } }) },
        policy({ classes: priorityClasses() }),
      ),
    says: 'spec.priority: Invalid value: 1000: the priority of a Pod is the value of its PriorityClass ("low" is 10); leave spec.priority to Kubernetes, and let no other webhook set spec.priorityClassName after Muster [PriorityMismatch]',
  },
  {
    rule: 'GangLabelImmutable',
    mistake: 'a Pod that joins a gang after its creation',
    decide: () => update(pod({ labels: { 'grove.io/podclique': 'worker' } }), gangPod()),
    says: 'metadata.labels[grove.io/podgang]: Forbidden: the gang labels of a Pod never change (added as train); delete the Pod and create it with the label you want [GangLabelImmutable]',
  },
  {
    rule: 'GangLabelImmutable',
    mistake: 'a Pod that leaves its group',
    decide: () => update(storedPod(), storedPod({ labels: { 'grove.io/podclique': 'leader' } })),
    says: 'metadata.labels[grove.io/podclique]: Forbidden: the gang labels of a Pod never change (was worker, now leader); delete the Pod and create it with the label you want [GangLabelImmutable]',
  },
  {
    rule: 'GangLabelImmutable',
    mistake: 'a Pod that drops its base gang',
    decide: () => update(storedPod({ labels: { 'grove.io/base-podgang': 'base' } }), storedPod()),
    says: 'metadata.labels[grove.io/base-podgang]: Forbidden: the gang labels of a Pod never change (removed, was base); delete the Pod and create it with the label you want [GangLabelImmutable]',
  },
  {
    rule: 'GateProtected',
    mistake: 'a gate taken away by an ordinary account',
    decide: () => update(storedPod(), gangPod()),
    says: 'spec.schedulingGates: Forbidden: only trusted accounts take the gate grove.io/podgang-pending-creation away; wait until the gang is complete, or add the account to trustedAccounts [GateProtected]',
  },
];

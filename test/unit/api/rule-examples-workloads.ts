import { askingWorkload } from '../../support/asking-workloads.ts';
import { mutatePod, validatePod, validateWorkload } from '../../support/reviews.ts';
import { workloadPod } from '../../support/workload-pods.ts';
import type { RuleExample } from './rule-examples-pods.ts';

const asked = (labels: Readonly<Record<string, string>>) => workloadPod('job', 'train', 'main', { labels });
const early = workloadPod('lws', 'vllm', 'leader', {
  labels: { 'leaderworkerset.sigs.k8s.io/group-index': undefined },
});

/** What is asked of Pods with the label `muster.dev/gang`. */
export const workloadExamples: readonly RuleExample[] = [
  {
    rule: 'GangLabelValue',
    mistake: 'another value of the label',
    decide: () => mutatePod({ object: asked({ 'muster.dev/gang': 'yes' }) }),
    says: 'metadata.labels[muster.dev/gang]: Unsupported value: "yes": the label muster.dev/gang is "true", or not there; write "true", in quotes; leave the label out of Pods that are no gang [GangLabelValue]',
  },
  {
    rule: 'GangWorkloadUnknown',
    mistake: 'the label on a Pod of nobody',
    decide: () =>
      mutatePod({ object: workloadPod('job', 'train', 'main', { metadata: { ownerReferences: [] } }) }),
    says: 'metadata.labels[muster.dev/gang]: Invalid value: the gang of a Pod with this label is that of its workload (nobody controls this Pod); use a kind of docs/workloads.md or workloads[], or grove.io/podgang and grove.io/podclique [GangWorkloadUnknown]',
  },
  {
    rule: 'GangWorkloadMismatch',
    mistake: 'another job’s name written into a template',
    decide: () => mutatePod({ object: asked({ 'batch.kubernetes.io/job-name': 'yours' }) }),
    says: 'metadata.labels[batch.kubernetes.io/job-name]: Forbidden: this label of the workload is not what the owner reference of the Pod says (batch/v1 Job train controls this Pod); leave the label to the controller that writes it [GangWorkloadMismatch]',
  },
  {
    rule: 'GangNotNamed',
    mistake: 'a label that never came',
    decide: () => validatePod({ object: early }),
    says: 'metadata.labels[grove.io/podgang]: Required value: Muster has not named the gang of this Pod (leaderworkerset.sigs.k8s.io/group-index is missing); see that the API server calls Muster (muster doctor), and again after others (reinvocationPolicy: IfNeeded) [GangNotNamed]',
  },
  {
    rule: 'GangNameForeign',
    mistake: 'a gang besides that of the workload',
    decide: () => mutatePod({ object: asked({ 'grove.io/podgang': 'other' }) }),
    says: 'metadata.labels[grove.io/podgang]: Forbidden: "other": the gang of a Pod with muster.dev/gang is that of its workload (that is job-train); leave grove.io/podgang and grove.io/podclique to Muster, or muster.dev/gang out [GangNameForeign]',
  },
  {
    rule: 'PodsOneByOne',
    mistake: 'a StatefulSet as it is where nothing else is asked',
    decide: () =>
      validateWorkload('apps/v1 StatefulSet', {
        object: askingWorkload(
          'apps/v1 StatefulSet db',
          'replicas: 3, podManagementPolicy: OrderedReady, template: T',
        ),
      }),
    says: 'spec.podManagementPolicy: Invalid value: "OrderedReady": the next Pod is made once the one before is placed or ready, and a gated Pod never is (write podManagementPolicy: Parallel); let all Pods be made at once [PodsOneByOne]',
  },
  {
    rule: 'GangNumbersInvalid',
    mistake: 'a minimum above the number of Pods',
    decide: () =>
      validateWorkload('batch.volcano.sh/v1alpha1 Job', {
        object: askingWorkload(
          'batch.volcano.sh/v1alpha1 Job train',
          'minAvailable: 4, tasks: [{name: a, replicas: 3, template: T}]',
        ),
      }),
    says: 'spec.minAvailable: Invalid value: the numbers of this workload make no gang (a minimum of 4 is more than there are Pods (3); lower it); correct them, or take muster.dev/gang off its Pod templates [GangNumbersInvalid]',
  },
];

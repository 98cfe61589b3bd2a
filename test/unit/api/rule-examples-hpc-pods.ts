import { type Decision, orUntouched, parseReview } from '../../../src/admission/review.ts';
import { decideRequest, admissionWebhooks } from '../../../src/admission/endpoints.ts';
import type { Policy } from '../../../src/admission/policy.ts';
import type { Json, JsonObject } from '../../../src/json/json.ts';
import { HPC_POLICY_KIND, PATH_VALIDATE_HPC_POLICY } from '../../../src/api/names.ts';
import { hpcPolicy } from '../../support/hpc.ts';
import { hpcPod, underHpc } from '../../support/hpc-gangs.ts';
import { references, group, podGang } from '../../support/pod-gangs.ts';
import { mutatePod, operationsOf, review, validatePod, validatePodGang } from '../../support/reviews.ts';
import { applied } from '../../support/rfc6902.ts';
import { workloadPod } from '../../support/workload-pods.ts';
import type { RuleExample } from './rule-examples-pods.ts';

/** What becomes of a change of an HPCPolicy. */
export function validateHpcPolicy(object: JsonObject, oldObject: JsonObject | null, under: Policy): Decision {
  const endpoint = admissionWebhooks.find(({ path }) => path === PATH_VALIDATE_HPC_POLICY);
  if (endpoint === undefined) throw new Error('no endpoint for HPCPolicies');
  const { request, ...envelope } = review('PodGang', {
    object,
    oldObject: oldObject ?? undefined,
  }) as unknown as { request: JsonObject };
  const kind = { group: 'muster.dev', version: 'v1alpha1', kind: HPC_POLICY_KIND };
  const name = 'flux';
  const changed = { ...envelope, request: { ...request, kind, name } };
  return orUntouched(decideRequest(endpoint, parseReview(changed), under));
}

/** A Pod of the Indexed Job `lammps`, whose template names the policy. */
const plainPod = (policy: string): JsonObject => {
  const annotations = { 'muster.dev/hpc-policy': policy };
  const object = workloadPod('job', 'lammps', 'main', { annotations });
  const containers = [{ name: 'main', image: 'lammps', command: ['lmp'] }];
  return { ...object, spec: { ...(object['spec'] as JsonObject), hostname: 'lammps-0', containers } };
};

const ofPod =
  (object: JsonObject, settings: Json = {}) =>
  (): Decision =>
    mutatePod({ object }, underHpc(settings));
const inContainer = (container: Json, settings: Json = {}) => ofPod(hpcPod({}, container), settings);
const inSpec = (spec: Record<string, Json>, settings: Json = {}) => ofPod(hpcPod({ spec }), settings);

/** The Pod as Muster would have it stored. */
export const preparedBy = (object: JsonObject, under: Policy): JsonObject => {
  const decision = mutatePod({ object }, under);
  if (decision.faults.length > 0) throw new Error(decision.faults[0]?.message);
  return applied(JSON.stringify(object), operationsOf(decision) as never);
};

const ofTorch =
  (container: Json, spec: Record<string, Json> = {}, torch: Json = {}) =>
  (): Decision =>
    mutatePod({ object: hpcPod({ spec }, container) }, underHpc({}, { spec: { torch } }));

/** What is wrong with the Pods of a gang with an HPCPolicy. */
export const hpcPodExamples: readonly RuleExample[] = [
  {
    rule: 'HpcPolicyUnusable',
    mistake: 'a policy that was stored without the webhook',
    decide: ofPod(hpcPod(), { 'queue-policy': 'easy' }),
    says: 'metadata.annotations[muster.dev/hpc-policy]: Invalid value: "flux": the HPCPolicy of its gang has faults (spec.hpc.settings[queue-policy]); correct the HPCPolicy: muster validate lists what is wrong with it [HpcPolicyUnusable]',
  },
  {
    rule: 'HpcPolicyInUse',
    mistake: 'an edit of a policy while a gang runs by it',
    decide: () =>
      validateHpcPolicy(
        hpcPolicy({ hpc: { settings: { interactive: 'true' } } }),
        hpcPolicy({ hpc: {} }),
        underHpc({}, { userOf: () => 'train' }),
      ),
    says: 'spec: Forbidden: an HPCPolicy stays as it is while a gang has Pods that were prepared by it (a PodGang has Pods); create another HPCPolicy and name it in the next PodGang, or delete the gang first [HpcPolicyInUse]',
  },
  {
    rule: 'HpcPolicyReplaced',
    mistake: 'a Pod beside those that run by a policy which came back with other settings',
    decide: () => mutatePod({ object: hpcPod() }, underHpc({}, { otherMark: () => 'flux@00000000' })),
    says: 'metadata.annotations[muster.dev/hpc-policy]: Forbidden: Pods of the gang run by other settings than its HPCPolicy has now (by 00000000, and it is 68cf5eaa); create the HPCPolicy as it was, or delete those Pods, so that the gang starts anew [HpcPolicyReplaced]',
  },
  {
    rule: 'HpcPolicyFixed',
    mistake: 'another policy for a gang that has Pods',
    decide: () => {
      const groups = [group('worker', { podReferences: references('worker-0') })];
      const annotations = { 'muster.dev/hpc-policy': 'flux' };
      return validatePodGang({ oldObject: podGang({ groups }), object: podGang({ groups, annotations }) });
    },
    says: 'metadata.annotations[muster.dev/hpc-policy]: Forbidden: the HPCPolicy of a gang that has Pods never changes: they are prepared by it (was not set, now flux); delete the gang and create it with the annotation that you want [HpcPolicyFixed]',
  },
  {
    rule: 'HpcHostsFixed',
    mistake: 'more hosts for a gang that runs',
    decide: () => {
      const groups = [group('worker', { podReferences: references('worker-0') })];
      const listed = (hosts: string) =>
        podGang({ groups, annotations: { 'muster.dev/hpc-policy': 'flux', 'muster.dev/hosts': hosts } });
      return validatePodGang({ oldObject: listed('worker=a-[0-1]'), object: listed('worker=a-[0-2]') });
    },
    says: 'metadata.annotations[muster.dev/hosts]: Forbidden: the hosts of a gang that has Pods never change: they read them once (was worker=a-[0-1], now worker=a-[0-2]); delete its Pods first; scale a workload to 0, and its gang is made anew [HpcHostsFixed]',
  },
  {
    rule: 'HpcPodNotPrepared',
    mistake: 'a webhook that takes off what Muster has put on',
    decide: () => {
      const prepare = underHpc({ 'one-pod-per-node': 'none' });
      const stored = preparedBy(hpcPod(), prepare);
      const metadata = { ...(stored['metadata'] as JsonObject), annotations: {} };
      return validatePod({ object: { ...stored, metadata } }, prepare);
    },
    says: 'metadata.annotations.muster.dev/prepared: Invalid value: the Pod is not as the HPCPolicy of its gang asks (by which it was prepared); create it again; let no other webhook change after Muster what this field names [HpcPodNotPrepared]',
  },
  {
    rule: 'HpcNameReserved',
    mistake: 'a volume of its own where the scripts come',
    decide: inSpec({ volumes: [{ name: 'flux-config', emptyDir: {} }] }),
    says: 'spec.volumes[0].name: Invalid value: "flux-config": is what Muster adds for the HPCPolicy of the gang, and the Pod has something else there; rename or move that of the Pod [HpcNameReserved]',
  },
  {
    rule: 'HpcCommandRequired',
    mistake: 'only arguments',
    decide: inContainer({ command: [], args: ['-in', 'x'] }),
    says: 'spec.containers[0].command: Required value: what runs under Flux is given by command: the entry point of an image cannot be seen here; write the program and its arguments into command, or set interactive: "true" in the HPCPolicy [HpcCommandRequired]',
  },
  {
    rule: 'HpcRunnerUnknown',
    mistake: 'two containers',
    decide: inSpec({
      containers: [
        { name: 'a', command: ['x'] },
        { name: 'b', command: ['y'] },
      ],
    }),
    says: 'spec.containers: Invalid value: one container runs under the HPCPolicy, and it is not clear which (the Pod has a, b); name it in the HPCPolicy: by the setting runner-container, or by spec.torch.container [HpcRunnerUnknown]',
  },
  {
    rule: 'HpcPolicyForeign',
    mistake: 'another policy on the template of a workload than on the PodGang of that name',
    decide: () =>
      mutatePod(
        { object: plainPod('torch') },
        underHpc({}, { gang: podGang({ metadata: { name: 'job-lammps' }, groups: [group('main')] }) }),
      ),
    says: 'metadata.annotations[muster.dev/hpc-policy]: Invalid value: "torch": the PodGang of this Pod has another HPCPolicy, or none (it has none); name the policy of the PodGang; one that Muster made goes with its workload, so create that again [HpcPolicyForeign]',
  },
  {
    rule: 'HpcGangUnmade',
    mistake: 'PyTorch in a Job without a PodGang',
    decide: () => mutatePod({ object: plainPod('flux') }, underHpc({}, { spec: { torch: {} } })),
    says: 'metadata.annotations[muster.dev/hpc-policy]: Forbidden: "flux": the PodGang is made from the Pods of this workload, which cannot be prepared before it (spec.torch tells each Pod the number of all); write the PodGang, with this annotation, or see docs/hpc.md for what Flux prepares [HpcGangUnmade]',
  },
  {
    rule: 'HpcHostRequired',
    mistake: 'a Pod of a Deployment',
    decide: ofPod(
      hpcPod({ metadata: { name: undefined, generateName: 'x-' }, spec: { hostname: undefined } }),
    ),
    says: 'spec.hostname: Required value: a Pod of an HPC gang has a host name that is known before it starts; make it by an Indexed Job, a JobSet or a StatefulSet, or give it metadata.name or spec.hostname [HpcHostRequired]',
  },
  {
    rule: 'HpcHostUnlisted',
    mistake: 'one more Pod than are expected',
    decide: inSpec({ hostname: 'worker-4' }),
    says: 'spec.hostname: Invalid value: "worker-4": the hosts of the gang, <group>-0 and so on, are not called so (group worker has 4 hosts); name the group as its workload, or list more (muster.dev/hosts, /expected-pods); scale a grown workload to 0 first [HpcHostUnlisted]',
  },
  {
    rule: 'HpcHostInvalid',
    mistake: 'a domain that no Service can have',
    decide: inSpec({ subdomain: '9a' }),
    says: 'metadata.name: Invalid value: "worker-0.9a.ml.svc.cluster.local": its host name has to be a DNS label, and 253 characters at most with its domain; give the workload, the PodGang or the namespace a shorter name of letters, digits and "-" [HpcHostInvalid]',
  },
  {
    rule: 'HpcNetworkForbidden',
    mistake: 'the network of the node',
    decide: inSpec({ hostNetwork: true }),
    says: 'spec.hostNetwork: Forbidden: true: the Pods of the gang know each other by host names, which this takes away; leave it out of the Pods of this gang [HpcNetworkForbidden]',
  },
  {
    rule: 'HpcRdmaRequired',
    mistake: 'no RDMA device',
    decide: inContainer({ resources: { limits: { cpu: '4' } } }, { network: 'rdma' }),
    says: 'spec.containers[0].resources.limits: Required value: with network: rdma the runner container asks for an RDMA device; add a resource such as rdma/hca or vpc.amazonaws.com/efa to its limits, or set network to device [HpcRdmaRequired]',
  },
  {
    rule: 'HpcGpusUneven',
    mistake: '4 GPUs for 3 tasks',
    decide: inContainer({ resources: { limits: { 'nvidia.com/gpu': '4' } } }, { 'tasks-per-node': '3' }),
    says: 'spec.containers[0].resources.limits[nvidia.com/gpu]: Invalid value: 4: the GPUs of a Pod are shared out evenly among its tasks (tasks-per-node is 3); ask for a multiple of the setting tasks-per-node of the HPCPolicy [HpcGpusUneven]',
  },
  {
    rule: 'HpcCoresTooFew',
    mistake: '4 tasks of 2 cores within 4',
    decide: inContainer(
      { resources: { limits: { cpu: '4' } } },
      { 'tasks-per-node': '4', 'cores-per-task': '2' },
    ),
    says: 'spec.containers[0].resources.limits[cpu]: Invalid value: 4: the tasks of a Pod have a core each at least, or cores-per-task of them, within its CPU limit (tasks-per-node is 4, cores-per-task 2); raise the limit, or lower tasks-per-node or cores-per-task of the HPCPolicy [HpcCoresTooFew]',
  },
  {
    rule: 'TorchVariableTaken',
    mistake: 'another port',
    decide: ofTorch({ env: [{ name: 'A' }, { name: 'MASTER_PORT', value: '23456' }] }),
    says: 'spec.containers[0].env[1]: Forbidden: "MASTER_PORT": Muster sets this variable for the HPCPolicy of the gang, and the container has another value for it (it is 29500); remove it from env [TorchVariableTaken]',
  },
  {
    rule: 'TorchGpusMissing',
    mistake: 'a process for each of no GPUs',
    decide: ofTorch({ resources: { limits: { cpu: '4' } } }, {}, { procPerNode: 'gpu' }),
    says: 'spec.containers[0].resources.limits: Required value: with procPerNode: gpu the container asks for GPUs, a process each; add them to its limits, or give procPerNode of the HPCPolicy as a number [TorchGpusMissing]',
  },
  {
    rule: 'TorchDnsMissing',
    mistake: 'the network of the node, and its names',
    decide: ofTorch({}, { hostNetwork: true, dnsPolicy: 'ClusterFirst' }),
    says: 'spec.dnsPolicy: Invalid value: "ClusterFirst": the first Pod of the gang is found by its name in the cluster, which this Pod cannot look up (with hostNetwork); set dnsPolicy to ClusterFirst, or with hostNetwork to ClusterFirstWithHostNet [TorchDnsMissing]',
  },
  {
    rule: 'HpcAffinityForeign',
    mistake: 'nodes of its own beside those of the policy',
    decide: inSpec(
      {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [] }] },
          },
        },
      },
      { 'node-affinity': 'pool=hpc' },
    ),
    says: 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Forbidden: the Pod has required node affinity of its own, beside which that of the HPCPolicy would be a choice; write all of it into the Pod and take node-affinity out of the HPCPolicy, or the other way round [HpcAffinityForeign]',
  },
];

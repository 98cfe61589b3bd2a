import type { Rule } from './rule.ts';

/** Rules about the Pods of a gang that an HPCPolicy prepares, and about the objects that these Pods depend on. */
export const hpcPodRules = {
  HpcPolicyUnusable: {
    code: 422,
    kind: 'Invalid',
    says: 'the HPCPolicy of its gang has faults',
    fix: 'correct the HPCPolicy: muster validate lists what is wrong with it',
  },
  HpcPolicyInUse: {
    code: 403,
    kind: 'Forbidden',
    says: 'an HPCPolicy stays as it is while a gang has Pods that were prepared by it',
    fix: 'create another HPCPolicy and name it in the next PodGang, or delete the gang first',
  },
  HpcPolicyReplaced: {
    code: 403,
    kind: 'Forbidden',
    says: 'Pods of the gang run by other settings than its HPCPolicy has now',
    fix: 'create the HPCPolicy as it was, or delete those Pods, so that the gang starts anew',
  },
  HpcPolicyFixed: {
    code: 422,
    kind: 'Forbidden',
    says: 'the HPCPolicy of a gang that has Pods never changes: they are prepared by it',
    fix: 'delete the gang and create it with the annotation that you want',
  },
  HpcHostsFixed: {
    code: 422,
    kind: 'Forbidden',
    says: 'the hosts of a gang that has Pods never change: they read them once',
    fix: 'delete its Pods first; scale a workload to 0, and its gang is made anew',
  },
  HpcPolicyForeign: {
    code: 422,
    kind: 'Invalid',
    says: 'the PodGang of this Pod has another HPCPolicy, or none',
    fix: 'name the policy of the PodGang; one that Muster made goes with its workload, so create that again',
  },
  HpcGangUnmade: {
    code: 422,
    kind: 'Forbidden',
    says: 'the PodGang is made from the Pods of this workload, which cannot be prepared before it',
    fix: 'write the PodGang, with this annotation, or see docs/hpc.md for what Flux prepares',
  },
  HpcPodNotPrepared: {
    code: 403,
    kind: 'Invalid',
    says: 'the Pod is not as the HPCPolicy of its gang asks',
    fix: 'create it again; let no other webhook change after Muster what this field names',
  },
  HpcNameReserved: {
    code: 422,
    kind: 'Invalid',
    says: 'is what Muster adds for the HPCPolicy of the gang, and the Pod has something else there',
    fix: 'rename or move that of the Pod',
  },
  HpcCommandRequired: {
    code: 422,
    kind: 'Required',
    says: 'what runs under Flux is given by command: the entry point of an image cannot be seen here',
    fix: 'write the program and its arguments into command, or set interactive: "true" in the HPCPolicy',
  },
  HpcRunnerUnknown: {
    code: 422,
    kind: 'Invalid',
    says: 'one container runs under the HPCPolicy, and it is not clear which',
    fix: 'name it in the HPCPolicy: by the setting runner-container, or by spec.torch.container',
  },
  HpcHostRequired: {
    code: 422,
    kind: 'Required',
    says: 'a Pod of an HPC gang has a host name that is known before it starts',
    fix: 'make it by an Indexed Job, a JobSet or a StatefulSet, or give it metadata.name or spec.hostname',
  },
  HpcHostUnlisted: {
    code: 422,
    kind: 'Invalid',
    says: 'the hosts of the gang, <group>-0 and so on, are not called so',
    fix: 'name the group as its workload, or list more (muster.dev/hosts, /expected-pods); scale a grown workload to 0 first',
  },
  HpcHostInvalid: {
    code: 422,
    kind: 'Invalid',
    says: 'its host name has to be a DNS label, and 253 characters at most with its domain',
    fix: 'give the workload, the PodGang or the namespace a shorter name of letters, digits and "-"',
  },
  HpcNetworkForbidden: {
    code: 422,
    kind: 'Forbidden',
    says: 'the Pods of the gang know each other by host names, which this takes away',
    fix: 'leave it out of the Pods of this gang',
  },
  HpcRdmaRequired: {
    code: 422,
    kind: 'Required',
    says: 'with network: rdma the runner container asks for an RDMA device',
    fix: 'add a resource such as rdma/hca or vpc.amazonaws.com/efa to its limits, or set network to device',
  },
  HpcGpusUneven: {
    code: 422,
    kind: 'Invalid',
    says: 'the GPUs of a Pod are shared out evenly among its tasks',
    fix: 'ask for a multiple of the setting tasks-per-node of the HPCPolicy',
  },
  HpcCoresTooFew: {
    code: 422,
    kind: 'Invalid',
    says: 'the tasks of a Pod have a core each at least, or cores-per-task of them, within its CPU limit',
    fix: 'raise the limit, or lower tasks-per-node or cores-per-task of the HPCPolicy',
  },
  HpcAffinityForeign: {
    code: 422,
    kind: 'Forbidden',
    says: 'the Pod has required node affinity of its own, beside which that of the HPCPolicy would be a choice',
    fix: 'write all of it into the Pod and take node-affinity out of the HPCPolicy, or the other way round',
  },
  TorchVariableTaken: {
    code: 422,
    kind: 'Forbidden',
    says: 'Muster sets this variable for the HPCPolicy of the gang, and the container has another value for it',
    fix: 'remove it from env',
  },
  TorchGpusMissing: {
    code: 422,
    kind: 'Required',
    says: 'with procPerNode: gpu the container asks for GPUs, a process each',
    fix: 'add them to its limits, or give procPerNode of the HPCPolicy as a number',
  },
  TorchDnsMissing: {
    code: 422,
    kind: 'Invalid',
    says: 'the first Pod of the gang is found by its name in the cluster, which this Pod cannot look up',
    fix: 'set dnsPolicy to ClusterFirst, or with hostNetwork to ClusterFirstWithHostNet',
  },
} as const satisfies Record<string, Rule>;

import type { Rule } from './rule.ts';

/** Rules about an HPCPolicy, and about the gangs and Pods that it prepares. */
export const hpcRules = {
  HpcPolicyEmpty: {
    code: 422,
    kind: 'Required',
    says: 'an HPCPolicy says who prepares the Pods',
    fix: 'add spec.hpc with manager: flux, or spec.torch',
  },
  HpcPolicyTwofold: {
    code: 422,
    kind: 'Forbidden',
    says: 'an HPCPolicy has spec.hpc or spec.torch, not both: Flux gives every task the environment of the first Pod',
    fix: 'remove one of the two',
  },
  HpcFieldUnknown: {
    code: 422,
    kind: 'NotSupported',
    says: 'is no field of an HPCPolicy',
    fix: 'correct it or remove it',
  },
  HpcManagerUnknown: {
    code: 422,
    kind: 'NotSupported',
    says: 'is no workload manager that Muster knows',
    fix: 'correct it, leave it out for flux, or name its module in hpc.preparations of the configuration',
  },
  HpcSettingUnknown: {
    code: 422,
    kind: 'NotSupported',
    says: 'is no setting of flux',
    fix: 'correct it or remove it; docs/hpc.md lists the settings',
  },
  HpcSettingInvalid: {
    code: 422,
    kind: 'Invalid',
    says: 'this setting cannot be so',
    fix: 'correct it, or leave it out for its default',
  },
  HpcPolicyMissing: {
    code: 422,
    kind: 'Invalid',
    says: 'the namespace of the gang does not have this HPCPolicy',
    fix: 'create the HPCPolicy there, or correct the annotation muster.dev/hpc-policy',
  },
  HpcExpectedInvalid: {
    code: 422,
    kind: 'Invalid',
    says: 'every host of a gang with an HPCPolicy has to be known beforehand',
    fix: 'write group=count for groups of the gang, joined by commas',
  },
  HpcHostsInvalid: {
    code: 422,
    kind: 'Invalid',
    says: 'every host of a gang with an HPCPolicy has to be known beforehand',
    fix: 'write group=prefix-[0-3] for each group, with all of its expected Pods, joined by commas',
  },
  HpcHostsNone: {
    code: 422,
    kind: 'Required',
    says: 'a gang with an HPCPolicy has at least one Pod to wait for',
    fix: 'raise minReplicas of the group that must start together',
  },
  HpcHostNameInvalid: {
    code: 422,
    kind: 'Invalid',
    says: 'its Pods are called group-0 and so on: at most 63 of a-z, 0-9 and "-"',
    fix: 'rename the group, and the workload that its Pods are of',
  },
  HpcServiceNameInvalid: {
    code: 422,
    kind: 'Invalid',
    says: 'a Service is made of this name: at most 63 lower-case letters, digits and "-", beginning with a letter',
    fix: 'rename the gang, or give its Pods a subdomain',
  },
  HpcDomainTooLong: {
    code: 422,
    kind: 'TooLong',
    says: 'the name of a host with its domain has at most 253 characters',
    fix: 'choose shorter names for gang, group, namespace or cluster-domain',
  },
  HpcLeadGroupUnknown: {
    code: 422,
    kind: 'NotSupported',
    says: 'is no group of the gang, or one without Pods',
    fix: 'name a group of the gang, or leave lead-group out for the first',
  },
  HpcQuorumTooLarge: {
    code: 422,
    kind: 'Invalid',
    says: 'the quorum is at most the number of Pods that are expected',
    fix: 'lower it, raise muster.dev/expected-pods of the gang, or leave it out',
  },
  TorchProcPerNodeInvalid: {
    code: 422,
    kind: 'Invalid',
    says: 'procPerNode is a whole number from 1 to 1024, or auto, cpu or gpu',
    fix: 'give the number of processes of one Pod, not quoted, or leave it out for 1',
  },
  TorchContainerInvalid: {
    code: 422,
    kind: 'Invalid',
    says: 'is no name of a container',
    fix: 'name the container that PyTorch runs in, or leave it out for the only one',
  },
} as const satisfies Record<string, Rule>;

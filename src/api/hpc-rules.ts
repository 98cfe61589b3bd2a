import type { Rule } from './rule.ts';

/** What is asked of an HPCPolicy, and of the gangs and Pods that are prepared by one. */
export const hpcRules = {
  HpcPolicyEmpty: {
    code: 422,
    kind: 'Required',
    says: 'an HPCPolicy says who prepares the Pods',
    fix: 'add spec.hpc with manager: flux, or spec.torch',
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
    fix: 'write flux, or leave it out for flux',
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
  TorchProcPerNodeInvalid: {
    code: 422,
    kind: 'Invalid',
    says: 'procPerNode is a whole number from 1 to 1024',
    fix: 'give the number of processes of one Pod, or leave it out for 1',
  },
} as const satisfies Record<string, Rule>;

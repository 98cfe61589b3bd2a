import type { Decision } from '../../../src/admission/review.ts';
import type { Fault } from '../../../src/api/fault.ts';
import { parseHpcPolicy, policyMissing } from '../../../src/preparers/policy/hpc-policy.ts';
import { checkFluxGang } from '../../../src/preparers/flux/preparer.ts';
import type { FluxSettings } from '../../../src/preparers/flux/settings.ts';
import { gangOf, hpcPolicy, settings as settingsWith, type GangParts } from '../../support/hpc.ts';
import type { Json } from '../../../src/json/json.ts';
import type { RuleExample } from './rule-examples-pods.ts';

const refused = (faults: readonly Fault[]): Decision => ({
  faults,
  changes: [],
  warnings: [],
  backend: undefined,
  gang: undefined,
});
const policyOf = (spec: Json) => (): Decision => refused(parseHpcPolicy(hpcPolicy(spec), 'ml').faults);
const settings = (given: Json) => policyOf({ hpc: { manager: 'flux', settings: given } });

const gang =
  (minimums: Readonly<Record<string, number>>, parts: GangParts = {}, given: Partial<FluxSettings> = {}) =>
  (): Decision =>
    refused(checkFluxGang(gangOf(minimums, parts), settingsWith(given)));

/** What is wrong with an HPCPolicy, or with a gang that names one. */
export const hpcExamples: readonly RuleExample[] = [
  {
    rule: 'HpcPolicyEmpty',
    mistake: 'an HPCPolicy that says nothing',
    decide: policyOf({}),
    says: 'spec: Required value: an HPCPolicy says who prepares the Pods; add spec.hpc with manager: flux, or spec.torch [HpcPolicyEmpty]',
  },
  {
    rule: 'HpcPolicyTwofold',
    mistake: 'PyTorch under Flux',
    decide: policyOf({ hpc: {}, torch: {} }),
    says: 'spec.torch: Forbidden: an HPCPolicy has spec.hpc or spec.torch, not both: Flux gives every task the environment of the first Pod; remove one of the two [HpcPolicyTwofold]',
  },
  {
    rule: 'HpcFieldUnknown',
    mistake: 'a slip in a field',
    decide: policyOf({ hpc: { setings: {} } }),
    says: 'spec.hpc.setings: Unsupported value: is no field of an HPCPolicy (did you mean "settings"?); correct it or remove it [HpcFieldUnknown]',
  },
  {
    rule: 'HpcManagerUnknown',
    mistake: 'another manager',
    decide: policyOf({ hpc: { manager: 'slurm' } }),
    says: 'spec.hpc.manager: Unsupported value: "slurm": is no workload manager that Muster knows (known: flux); correct it, leave it out for flux, or name its module in hpc.preparations of the configuration [HpcManagerUnknown]',
  },
  {
    rule: 'HpcSettingUnknown',
    mistake: 'a slip in a setting',
    decide: settings({ 'flux-queue-polcy': 'easy' }),
    says: 'spec.hpc.settings[flux-queue-polcy]: Unsupported value: is no setting of flux (did you mean "flux-queue-policy"?); correct it or remove it; docs/hpc.md lists the settings [HpcSettingUnknown]',
  },
  {
    rule: 'HpcSettingInvalid',
    mistake: 'a queue policy that Muster does not know',
    decide: settings({ 'flux-queue-policy': 'hybrid' }),
    says: 'spec.hpc.settings[flux-queue-policy]: Invalid value: "hybrid": this setting cannot be so (must be fcfs or easy); correct it, or leave it out for its default [HpcSettingInvalid]',
  },
  {
    rule: 'TorchProcPerNodeInvalid',
    mistake: 'no process',
    decide: policyOf({ torch: { procPerNode: 0 } }),
    says: 'spec.torch.procPerNode: Invalid value: 0: procPerNode is a whole number from 1 to 1024, or auto, cpu or gpu; give the number of processes of one Pod, not quoted, or leave it out for 1 [TorchProcPerNodeInvalid]',
  },
  {
    rule: 'TorchContainerInvalid',
    mistake: 'a container by its number',
    decide: policyOf({ torch: { container: 0 } }),
    says: 'spec.torch.container: Invalid value: 0: is no name of a container; name the container that PyTorch runs in, or leave it out for the only one [TorchContainerInvalid]',
  },
  {
    rule: 'HpcPolicyMissing',
    mistake: 'no HPCPolicy of that name',
    decide: () => refused([policyMissing('flux', [])]),
    says: 'metadata.annotations[muster.dev/hpc-policy]: Invalid value: "flux": the namespace of the gang does not have this HPCPolicy; create the HPCPolicy there, or correct the annotation muster.dev/hpc-policy [HpcPolicyMissing]',
  },
  {
    rule: 'HpcExpectedInvalid',
    mistake: 'expected Pods of no group',
    decide: gang({ worker: 2 }, { expected: 'wroker=4' }),
    says: 'metadata.annotations[muster.dev/expected-pods]: Invalid value: every host of a gang with an HPCPolicy has to be known beforehand ("wroker" is no group of this gang); write group=count for groups of the gang, joined by commas [HpcExpectedInvalid]',
  },
  {
    rule: 'HpcHostsInvalid',
    mistake: 'fewer hosts than Pods are expected',
    decide: () => {
      const annotations = new Map([['muster.dev/hosts', 'worker=lammps-[0-2]']]);
      return refused(checkFluxGang({ ...gangOf({ worker: 4 }), annotations }, settingsWith()));
    },
    says: 'metadata.annotations[muster.dev/hosts]: Invalid value: every host of a gang with an HPCPolicy has to be known beforehand (3 of group worker, of which 4 Pods are expected); write group=prefix-[0-3] for each group, with all of its expected Pods, joined by commas [HpcHostsInvalid]',
  },
  {
    rule: 'HpcHostsNone',
    mistake: 'nobody to wait for',
    decide: gang({ worker: 0 }),
    says: 'spec.podgroups: Required value: a gang with an HPCPolicy has at least one Pod to wait for; raise minReplicas of the group that must start together [HpcHostsNone]',
  },
  {
    rule: 'HpcHostNameInvalid',
    mistake: 'a group of 62 characters',
    decide: gang({ ['w'.repeat(62)]: 1 }),
    says: `spec.podgroups[0].name: Invalid value: "${'w'.repeat(62)}-0": its Pods are called group-0 and so on: at most 63 of a-z, 0-9 and "-" (64 characters); rename the group, and the workload that its Pods are of [HpcHostNameInvalid]`,
  },
  {
    rule: 'HpcServiceNameInvalid',
    mistake: 'a gang with a dot in its name',
    decide: gang({ worker: 1 }, { name: 'train.v2' }),
    says: 'metadata.name: Invalid value: "train.v2": a Service is made of this name: at most 63 lower-case letters, digits and "-", beginning with a letter; rename the gang, or give its Pods a subdomain [HpcServiceNameInvalid]',
  },
  {
    rule: 'HpcDomainTooLong',
    mistake: 'a long cluster domain',
    decide: gang({ worker: 1 }, {}, { clusterDomain: 'd'.repeat(240) }),
    says: 'spec.podgroups[0].name: Too long: the name of a host with its domain has at most 253 characters (257 characters); choose shorter names for gang, group, namespace or cluster-domain [HpcDomainTooLong]',
  },
  {
    rule: 'HpcLeadGroupUnknown',
    mistake: 'a slip in the lead group',
    decide: gang({ leader: 1, worker: 4 }, {}, { leadGroup: 'laeder' }),
    says: 'spec.hpc.settings[lead-group]: Unsupported value: "laeder": is no group of the gang, or one without Pods (did you mean "leader"?); name a group of the gang, or leave lead-group out for the first [HpcLeadGroupUnknown]',
  },
  {
    rule: 'HpcQuorumTooLarge',
    mistake: 'a quorum that is never reached',
    decide: gang({ worker: 4 }, {}, { quorum: 5 }),
    says: 'spec.hpc.settings[quorum]: Invalid value: "5": the quorum is at most the number of Pods that are expected (4 are expected); lower it, raise muster.dev/expected-pods of the gang, or leave it out [HpcQuorumTooLarge]',
  },
];

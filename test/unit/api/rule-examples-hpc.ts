import type { Decision } from '../../../src/admission/review.ts';
import type { Fault } from '../../../src/api/fault.ts';
import { parseHpcPolicy } from '../../../src/hpc/hpc-policy.ts';
import { hpcPolicy } from '../../support/hpc.ts';
import type { Json } from '../../../src/api/json.ts';
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

/** What is wrong with an HPCPolicy. */
export const hpcExamples: readonly RuleExample[] = [
  {
    rule: 'HpcPolicyEmpty',
    mistake: 'an HPCPolicy that says nothing',
    decide: policyOf({}),
    says: 'spec: Required value: an HPCPolicy says who prepares the Pods; add spec.hpc with manager: flux, or spec.torch [HpcPolicyEmpty]',
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
    says: 'spec.hpc.manager: Unsupported value: "slurm": is no workload manager that Muster knows; write flux, or leave it out for flux [HpcManagerUnknown]',
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
    says: 'spec.torch.procPerNode: Invalid value: 0: procPerNode is a whole number from 1 to 1024; give the number of processes of one Pod, or leave it out for 1 [TorchProcPerNodeInvalid]',
  },
];

import { fault, keyed, type Fault } from '../../api/fault.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { ANNOTATION_HPC_POLICY } from '../../api/names.ts';

export const HPC_POLICY_FIELD = keyed('metadata.annotations', ANNOTATION_HPC_POLICY);

/** The HPCPolicy that a gang names, of its own namespace; undefined where it is no HPC gang. */
export const policyNameOf = ({ annotations }: Pick<PodGang, 'annotations'>): string | undefined =>
  annotations.get(ANNOTATION_HPC_POLICY);

/** @param elsewhere the namespaces that have one of this name */
export function policyMissing(name: string, elsewhere: readonly string[]): Fault {
  const detail = elsewhere.length === 0 ? {} : { detail: `there is one in ${elsewhere.join(', ')}` };
  return fault('HpcPolicyMissing', HPC_POLICY_FIELD, { value: name, ...detail });
}

import { ownString, type JsonObject } from '../json/json.ts';
import { quoted } from '../text/printable.ts';
import { parseGroupVersion } from '../k8s/resource.ts';
import { MusterError } from '../errors.ts';
import { flinkKinds } from './flink.ts';
import { groveKinds } from './grove.ts';
import { jobSetKinds } from './job-sets.ts';
import { kubeflowKinds } from './kubeflow.ts';
import { plainKinds } from './plain.ts';
import { rayKinds } from './ray.ts';
import { volcanoKinds } from './volcano.ts';
import { titleOf, type TemplateKind, type WorkloadKind } from './workload-kind.ts';

/** The workloads that Muster understands by itself. */
export const workloadKinds: readonly WorkloadKind[] = [
  ...groveKinds,
  ...volcanoKinds,
  ...kubeflowKinds,
  ...jobSetKinds,
  ...rayKinds,
  ...flinkKinds,
  ...plainKinds,
];

export const kindOf = (
  object: JsonObject,
  kinds: readonly WorkloadKind[] = workloadKinds,
): WorkloadKind | undefined => kindAmong(kinds, object);

/** The kind of an object. Versions of a kind differ in other things than its templates. */
export function kindAmong<K extends TemplateKind>(kinds: readonly K[], object: JsonObject): K | undefined {
  const apiVersion = ownString(object, 'apiVersion') ?? '';
  const { group } = parseGroupVersion(apiVersion);
  const name = ownString(object, 'kind');
  return kinds.find((one) => one.kind === name && one.group === group);
}

/** @throws MusterError WORKLOAD_UNKNOWN */
export function knownKindOf(
  object: JsonObject,
  kinds: readonly WorkloadKind[] = workloadKinds,
): WorkloadKind {
  const found = kindOf(object, kinds);
  if (found !== undefined) return found;
  const title = `${ownString(object, 'apiVersion') ?? ''} ${ownString(object, 'kind') ?? ''}`.trim();
  throw new MusterError(
    'WORKLOAD_UNKNOWN',
    `${quoted(title)} is no workload whose Pod templates are known (known are ${kinds.map(titleOf).join(', ')})`,
    'tell in the configuration, under fleet.kinds, where this kind keeps its templates',
  );
}

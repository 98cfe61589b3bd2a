import { groupVersionString } from '../k8s/resource.ts';
import { kindFrom, type ConfiguredKind } from './configured-kinds.ts';
import type { GangKind } from './kind.ts';
import { gangKinds } from './kinds.ts';
import { SUCCEEDED } from './gang-numbers.ts';
import { MAIN } from './single-template.ts';

/** A kind of somebody else's whose Pods may be gangs, told of in the configuration. */
export interface ConfiguredWorkload extends ConfiguredKind {
  readonly plural?: string | undefined;
  readonly short?: string | undefined;
  /** In which the kind's controller writes the workload and the template that a Pod is made from. */
  readonly labels: { readonly gang: string; readonly group?: string | undefined };
}

/** Those that Muster knows and those of the configuration. */
export const gangKindsWith = (configured: readonly ConfiguredWorkload[]): readonly GangKind[] =>
  configured.length === 0 ? gangKinds : [...gangKinds, ...configured.map(gangKindFrom)];

function gangKindFrom(told: ConfiguredWorkload): GangKind {
  const { group, kind, labels } = told;
  const short = told.short ?? kind.toLowerCase();
  return {
    ...kindFrom(told),
    short,
    plural: told.plural ?? `${kind.toLowerCase()}s`,
    configured: true,
    phase: { path: 'status.phase', succeeded: SUCCEEDED },
    controllers: [`${group}/${kind}`],
    read: (pod, { name, uid }) => {
      const workload = pod.label(labels.gang);
      // Nobody knows here who writes them, and when: what is missing may still come.
      if (workload === undefined) return { late: labels.gang };
      if (workload !== name) return { differs: labels.gang };
      if (labels.group === undefined) return { name, uid, group: MAIN };
      const of = pod.label(labels.group);
      return of === undefined ? { late: labels.group } : { name, uid, group: of };
    },
    mark: (name, of) => ({
      labels: { [labels.gang]: name, ...(labels.group !== undefined && { [labels.group]: of }) },
      controller: { apiVersion: groupVersionString(told), kind, name },
    }),
  };
}

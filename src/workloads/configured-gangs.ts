import { groupVersionString } from '../k8s/resource.ts';
import { kindFrom, type ConfiguredKind } from './configured-kinds.ts';
import type { GangKind } from './kind.ts';
import { gangKinds } from './kinds.ts';
import { SUCCEEDED } from './gang-numbers.ts';
import { MAIN } from './single-template.ts';

/** A third party's kind from the configuration whose Pods may form gangs. */
export interface ConfiguredWorkload extends ConfiguredKind {
  readonly plural?: string | undefined;
  readonly short?: string | undefined;
  /** Labels in which the kind's controller writes the names of the workload and of the Pod's template. */
  readonly labels: { readonly gang: string; readonly group?: string | undefined };
}

/** Muster's kinds and the configured ones. */
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
      // Which webhook or controller writes the labels, and when, is unknown, so a missing one may still be added.
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

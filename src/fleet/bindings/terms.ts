import { own, ownList, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { ANNOTATION_FLEET_QUEUE, ANNOTATION_FLEET_TERMS, LABEL_FLEET_QUEUE } from '../../api/names.ts';
import { MusterError } from '../../errors.ts';
import type { WorkloadKind } from '../../workloads/workload-kind.ts';
import { ANNOTATION_MIN_AVAILABLE, ANNOTATION_STRATEGY } from '../assign/binding-annotations.ts';
import { multiGetReplicas } from '../multi-replicas.ts';

/**
 * The queue and annotations of a binding, read from its workload, policy and namespace, since Karmada copies none of them.
 */
export interface Terms {
  /** Name of the FleetQueue that the binding waits in; undefined: the binding waits in none. */
  readonly queue: string | undefined;
  /** Desired annotations; null: absent. */
  readonly annotations: Readonly<Record<string, string | null>>;
}

/** The objects that terms are read from. `policy` is undefined when the binding names none. */
export interface TermSources {
  readonly binding: JsonObject;
  readonly template: JsonObject;
  readonly policy: JsonObject | undefined;
  /** Namespace of the binding; undefined when it has none. */
  readonly namespace?: JsonObject | undefined;
}

/** The workload's annotations take precedence over its policy's, and these over the namespace's. */
export function bindingTermsOf(
  { binding, template, policy, namespace }: TermSources,
  kinds: readonly WorkloadKind[],
): Terms {
  const said = (key: string): string | undefined =>
    annotationOf(template, key) ?? annotationOf(policy, key) ?? undefined;
  const scheduling = own(own(own(policy, 'spec'), 'placement'), 'replicaScheduling');
  const labels = own(own(namespace, 'metadata'), 'labels');
  const queue = said(ANNOTATION_FLEET_QUEUE) ?? (ownString(labels, LABEL_FLEET_QUEUE) || undefined);
  return {
    queue,
    annotations: {
      [ANNOTATION_FLEET_TERMS]: null,
      [ANNOTATION_FLEET_QUEUE]: queue ?? null,
      [ANNOTATION_STRATEGY]:
        said(ANNOTATION_STRATEGY) ?? (ownString(scheduling, 'customSchedulingStrategy') || null),
      [ANNOTATION_MIN_AVAILABLE]:
        said(ANNOTATION_MIN_AVAILABLE) ?? minimumOf(binding, template, kinds) ?? null,
    },
  };
}

/**
 * Minimum of a gang as the value of the binding's annotation: `8`, or by template `leader=1,worker=6,eval=0`; undefined when
 * the gang needs all replicas or its minimum is unknown. Only templates with the same name in the binding are included:
 * another interpreter may have named the components.
 */
function minimumOf(
  binding: JsonObject,
  template: JsonObject,
  kinds: readonly WorkloadKind[],
): string | undefined {
  const found = replicasOf(template, kinds);
  const spec = own(binding, 'spec');
  const components = ownList(spec, 'components') ?? [];
  if (components.length === 0) {
    const replicas = countOf(own(spec, 'replicas'));
    const [only] = found;
    if (found.length !== 1 || only === undefined) return undefined;
    return only.minAvailable < replicas ? String(only.minAvailable) : undefined;
  }
  const parts = components.flatMap((component) => {
    const name = ownString(component, 'name') ?? '';
    const least = found.find((one) => one.name === name)?.minAvailable;
    if (least === undefined || /[=,]/.test(name)) return [];
    return least < countOf(own(component, 'replicas')) ? [`${name}=${least}`] : [];
  });
  return parts.length > 0 ? parts.join(',') : undefined;
}

function replicasOf(
  template: JsonObject,
  kinds: readonly WorkloadKind[],
): ReturnType<typeof multiGetReplicas> {
  try {
    return multiGetReplicas(template, kinds);
  } catch (error) {
    // An unknown kind, or a workload that only another interpreter can read, needs all of its Pods.
    if (error instanceof MusterError) return [];
    throw error;
  }
}

const countOf = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);

/** An empty annotation counts as absent. */
const annotationOf = (object: JsonObject | undefined, key: string): string | undefined =>
  ownString(own(own(object, 'metadata'), 'annotations'), key)?.trim() || undefined;

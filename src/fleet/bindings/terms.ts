import { own, ownList, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { ANNOTATION_FLEET_QUEUE, ANNOTATION_FLEET_TERMS, LABEL_FLEET_QUEUE } from '../../api/names.ts';
import { MusterError } from '../../errors.ts';
import type { WorkloadKind } from '../../workloads/workload-kind.ts';
import { ANNOTATION_MIN_AVAILABLE, ANNOTATION_STRATEGY } from '../assign/binding-annotations.ts';
import { multiGetReplicas } from '../multi-replicas.ts';

/** The queue and annotations of a binding, read from its workload, policy and namespace: Karmada carries none of them over. */
export interface Terms {
  /** The FleetQueue that lets it through; undefined: none has to. */
  readonly queue: string | undefined;
  /** What its annotations have to be; null: absent. */
  readonly annotations: Readonly<Record<string, string | null>>;
}

/** The objects that terms are read from. The policy is undefined where the binding names none. */
export interface TermSources {
  readonly binding: JsonObject;
  readonly template: JsonObject;
  readonly policy: JsonObject | undefined;
  /** Of the binding; undefined where it has none. */
  readonly namespace?: JsonObject | undefined;
}

/** The workload's own word counts before that of its policy, which is for many; that of its namespace is for all others. */
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
 * The least that a gang can run with, as its binding has to say it: `8`, or by template `leader=1,worker=6,eval=0`;
 * undefined where it needs all, or nobody knows. Only for templates that the binding knows by the same names: whoever told Karmada
 * of the workload may have called them otherwise.
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
    // A kind that nobody told of, or one that Karmada has understood better: all of its Pods are needed.
    if (error instanceof MusterError) return [];
    throw error;
  }
}

const countOf = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);

/** An empty one says nothing. */
const annotationOf = (object: JsonObject | undefined, key: string): string | undefined =>
  ownString(own(own(object, 'metadata'), 'annotations'), key)?.trim() || undefined;

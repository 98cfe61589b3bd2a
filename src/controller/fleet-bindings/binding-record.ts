import { isDeepStrictEqual } from 'node:util';
import { parsedJson, own, ownList, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { readBinding, type Binding } from '../../fleet/assign/binding.ts';
import { hasFinished } from '../../fleet/bindings/queued-binding.ts';
import { isManaged, isSuspended, schedulerOf } from '../../fleet/bindings/owner.ts';
import { FieldReader, type ObjectFault } from '../../k8s/field-reader.ts';
import type { KubeObject, Resource } from '../../kube/client/resources.ts';
import type { Identified } from '../../kube/loop/cache.ts';

/** The placement that a binding was last scheduled by; Karmada's scheduler writes the same annotation. */
export const ANNOTATION_APPLIED_PLACEMENT = 'policy.karmada.io/applied-placement';

/** A binding that Muster schedules, with the fields that its scheduling depends on. */
export interface BindingRecord extends Identified {
  readonly resource: Resource;
  readonly binding: Binding;
  /** The workload has finished in all its clusters. */
  readonly finished: boolean;
  /** Fields that cannot be read; a binding with such fields is not scheduled. */
  readonly faults: readonly ObjectFault[];
  readonly generation: number;
  readonly observedGeneration: number;
  readonly conditions: readonly Json[];
  /** The placement as JSON, and whether it equals the applied placement. */
  readonly placement: string;
  readonly applied: boolean;
  /** When a reschedule was requested, and when the binding was last scheduled (ms since 1970); NaN for never. */
  readonly triggeredAt: number;
  readonly scheduledAt: number;
}

/** Returns undefined when Muster does not schedule the binding, or not now. */
export function bindingRecordOf(
  object: KubeObject,
  resource: Resource,
  schedulerName: string,
): BindingRecord | undefined {
  const json = object as unknown as JsonObject;
  const { metadata } = object;
  if (schedulerOf(json) !== schedulerName || isSuspended(json) || !isManaged(json)) return undefined;
  if (metadata.deletionTimestamp !== undefined) return undefined;
  const reading = new FieldReader(`${resource.kind} ${metadata.name}`);
  const spec = own(json, 'spec');
  const status = own(json, 'status');
  const placement = own(spec, 'placement') ?? null;
  const binding = readBinding(json, reading);
  const applied = metadata.annotations?.[ANNOTATION_APPLIED_PLACEMENT];
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    resource,
    binding,
    finished: hasFinished(ownList(status, 'aggregatedStatus') ?? [], binding.clusters.length),
    faults: reading.faults,
    generation: metadata.generation ?? 0,
    observedGeneration: Number(own(status, 'schedulerObservedGeneration') ?? 0),
    conditions: ownList(status, 'conditions') ?? [],
    placement: JSON.stringify(placement),
    applied: applied !== undefined && isDeepStrictEqual(parsedJson(applied), placement),
    triggeredAt: Date.parse(ownString(spec, 'rescheduleTriggeredAt') ?? ''),
    scheduledAt: Date.parse(ownString(status, 'lastScheduledTime') ?? ''),
  };
}

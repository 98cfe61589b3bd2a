import { isDeepStrictEqual } from 'node:util';
import { parsedJson, own, ownList, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { readBinding, type Binding } from '../../fleet/assign/binding.ts';
import { hasFinished } from '../../fleet/bindings/queued-binding.ts';
import { isManaged, isSuspended, schedulerOf } from '../../fleet/bindings/owner.ts';
import { FieldReader, type ObjectFault } from '../../k8s/field-reader.ts';
import type { KubeObject, Resource } from '../../kube/client/resources.ts';
import type { Identified } from '../../kube/loop/cache.ts';

/** The placement by which a binding was placed, as Karmada's scheduler writes it down. */
export const ANNOTATION_APPLIED_PLACEMENT = 'policy.karmada.io/applied-placement';

/** A binding that is Muster's to place, with what its bookkeeping goes by. */
export interface BindingRecord extends Identified {
  readonly resource: Resource;
  readonly binding: Binding;
  /** It has come to its end wherever it was sent. */
  readonly finished: boolean;
  /** What cannot be read of it; then nothing is decided. */
  readonly faults: readonly ObjectFault[];
  readonly generation: number;
  readonly observedGeneration: number;
  readonly conditions: readonly Json[];
  /** Its placement as JSON; what it was placed by is the same where `applied`. */
  readonly placement: string;
  readonly applied: boolean;
  /** When it was told to be placed anew, and when it was placed last; NaN for never. */
  readonly triggeredAt: number;
  readonly scheduledAt: number;
}

/** undefined where it is not Muster's to place, or not now. */
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

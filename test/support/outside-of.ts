import {
  isObject,
  own,
  ownList,
  ownObject,
  ownString,
  type Json,
  type JsonObject,
} from '../../src/json/json.ts';
import type { PatchSurface } from '../../src/backends/backend.ts';

/** The Pod without anything that its backend declared, and without what is empty once that is gone. */
export function outsideOf(pod: JsonObject, surface: PatchSurface): string {
  const without = (map: Json | undefined, keys: readonly string[]): Json => {
    const kept = isObject(map) ? Object.entries(map).filter(([key]) => !keys.includes(key)) : [];
    return kept.map(([key, value]) => [key, value]);
  };
  const spec = ownObject(pod, 'spec');
  const foreignGates = (ownList(spec, 'schedulingGates') ?? []).filter((gate) => {
    const name = ownString(gate, 'name') ?? '';
    return name !== 'grove.io/podgang-pending-creation' && !surface.gates?.includes(name);
  });
  const touched = [
    'schedulingGates',
    'schedulerName',
    // Muster's own to set, from the gang's class.
    'priorityClassName',
    'priority',
    'preemptionPolicy',
    ...(surface.schedulingGroup ? ['schedulingGroup'] : []),
    ...(surface.workloadRef ? ['workloadRef'] : []),
  ];
  const metadata = own(pod, 'metadata');
  return JSON.stringify([
    without(pod, ['metadata', 'spec']),
    without(metadata, ['labels', 'annotations']),
    without(own(metadata, 'labels'), surface.labels ?? []),
    without(own(metadata, 'annotations'), surface.annotations ?? []),
    without(spec, touched),
    foreignGates,
  ]);
}

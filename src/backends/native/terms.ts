import type { Json, JsonObject } from '../../json/json.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { modeOf } from '../preemption-terms.ts';
import type { Composite } from './composite.ts';
import type { NativeConfig } from './config.ts';
import type { GangApi } from './gang-api.ts';
import type { Fields } from './probe.ts';
import { requiredLevel } from './topology.ts';
import type { Layout, Unit } from './units.ts';

/** What a cluster serves and a profile asks for: all that the objects of a gang depend on beside the gang. */
export interface Native extends Pick<NativeConfig, 'disruptionMode'> {
  readonly api: GangApi;
  readonly fields: Fields;
  readonly layout: Layout;
}

/** What a PodGroup asks of the scheduler, and its template as well. */
export function termsOf(gang: PodGang, unit: Unit, native: Native, alone: boolean): JsonObject {
  const { minCount } = unit;
  const isGang = minCount > 0 && !alone;
  return {
    [native.api.policy]: isGang ? { gang: { minCount } } : { basic: {} },
    ...sharedTerms(gang, native, requiredLevel(gang, unit), isGang),
  };
}

/** The same of a CompositePodGroup: all that is in it have to reach their minimums. */
export const compositeTerms = (gang: PodGang, composite: Composite, native: Native): JsonObject => ({
  schedulingPolicy: { gang: { minGroupCount: composite.units.length + composite.parts.length } },
  ...sharedTerms(gang, native, composite.level, true),
});

function sharedTerms(
  gang: PodGang,
  { api, fields, disruptionMode }: Native,
  level: string | undefined,
  isGang: boolean,
): Readonly<Record<string, Json>> {
  const key = fields.topology ? level : undefined;
  const { priorityClassName } = gang.spec;
  const asked = disruptionOf(gang) ?? disruptionMode;
  const mode = isGang && fields.priority && asked && api.disruptionMode?.[asked];
  return {
    ...(key && { schedulingConstraints: { topology: [{ key }] } }),
    ...(mode && { disruptionMode: mode }),
    ...(fields.priority && priorityClassName && { priorityClassName }),
  };
}

/** What the gang itself asks for goes before what the profile says of all gangs. */
function disruptionOf(gang: PodGang): NativeConfig['disruptionMode'] {
  const mode = modeOf(gang);
  return mode && (mode === 'PodGroup' ? 'gang' : 'pod');
}

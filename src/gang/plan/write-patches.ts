import {
  GATE_POD_GANG_PENDING,
  LABEL_BASE_POD_GANG,
  LABEL_POD_CLIQUE,
  LABEL_POD_GANG,
} from '../../api/names.ts';
import type { JsonObject } from '../../json/json.ts';
import type { PatchOperation } from '../../json/patch-operation.ts';
import type { ReferencesWrite, StatusWrite, Ungate } from './gang-plan.ts';

const label = (key: string): string => `/metadata/labels/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/**
 * JSON patch of a PodGang. Setting the resourceVersion makes the API server answer 409 where the gang has changed;
 * the names guard against a reordered list. Nothing else of the spec is touched, known to us or not.
 */
export function referencesPatch(write: ReferencesWrite): PatchOperation[] {
  return [
    { op: 'test', path: '/metadata/uid', value: write.uid },
    { op: 'replace', path: '/metadata/resourceVersion', value: write.resourceVersion },
    ...write.groups.flatMap(({ index, name, references }): PatchOperation[] => [
      { op: 'test', path: `/spec/podgroups/${index}/name`, value: name },
      {
        op: 'add',
        path: `/spec/podgroups/${index}/podReferences`,
        value: references.map((reference) => ({ namespace: reference.namespace, name: reference.name })),
      },
    ]),
  ];
}

/** JSON merge patch of `podgangs/status`: 409 where the gang has changed; other fields of the status stay. */
export function statusPatch(write: StatusWrite): JsonObject {
  return {
    metadata: { uid: write.uid, resourceVersion: write.resourceVersion },
    status: {
      phase: write.phase,
      conditions: write.conditions.map((condition) => ({
        type: condition.type,
        status: condition.status,
        reason: condition.reason ?? 'Unknown',
        message: condition.message ?? '',
        ...(condition.observedGeneration === undefined
          ? {}
          : { observedGeneration: condition.observedGeneration }),
        ...(condition.lastTransitionTime === undefined
          ? {}
          : { lastTransitionTime: condition.lastTransitionTime }),
      })),
    },
  };
}

/**
 * JSON patch of a Pod that takes away our gate and nothing else. It tests what the judgement rests on (this Pod, in
 * this group, with our gate at this place) and not the resourceVersion: the scheduler writes a condition into every
 * gated Pod just after its creation, and each of those would cost a retry.
 */
export function ungatePatch(ungate: Ungate): PatchOperation[] {
  const gate = `/spec/schedulingGates/${ungate.gateIndex}`;
  return [
    { op: 'test', path: '/metadata/uid', value: ungate.uid },
    { op: 'test', path: label(LABEL_POD_GANG), value: ungate.gang },
    { op: 'test', path: label(LABEL_POD_CLIQUE), value: ungate.group },
    ...(ungate.baseGang === undefined
      ? []
      : [{ op: 'test', path: label(LABEL_BASE_POD_GANG), value: ungate.baseGang } as const]),
    { op: 'test', path: `${gate}/name`, value: GATE_POD_GANG_PENDING },
    { op: 'remove', path: gate },
  ];
}

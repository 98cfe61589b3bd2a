import { keyed, type Fault } from '../api/fault.ts';
import type { JsonObject } from '../json/json.ts';
import { LABEL_GANG } from '../api/names.ts';
import type { AskingWorkload } from './asking-workload.ts';
import { gangNumbers } from './gang-numbers.ts';

/**
 * Findings for a workload that has Pods when its template gets the label: these Pods are not in the gang, which waits for as
 * many new ones.
 * @param before the workload without the label
 * @returns faults as objects, warnings as texts
 */
export function labelAdded(workload: AskingWorkload, before: JsonObject): readonly (Fault | string)[] {
  const { by, object, templates } = workload;
  // An object that creates workloads creates new ones from the changed template.
  if (by === undefined || by.workload !== object) return [];
  // PodsOneByOne has already been reported.
  if (templates.some(({ oneByOne }) => oneByOne !== undefined)) return [];
  if (!hasPods(by.kind, before) || !hasPods(by.kind, object)) return [];
  const replaced = by.kind.replaces?.(object, templates[0]?.pods ?? 1) ?? 'by hand';
  if (replaced === 'together') return [];
  if (replaced !== 'by hand') return [replaced];
  const field = keyed(`${templates[0]?.path}.metadata.labels`, LABEL_GANG);
  return [
    `${field}: Pods that are there already do not get the label, and the gang waits for as many new ones: delete them together, or make the workload anew`,
  ];
}

function hasPods(kind: NonNullable<AskingWorkload['by']>['kind'], workload: JsonObject): boolean {
  const { suspended, groups } = gangNumbers(workload, kind);
  return !suspended && groups.some(({ replicas }) => replicas > 0);
}

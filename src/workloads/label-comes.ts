import { fault, keyed, type Fault } from '../api/fault.ts';
import { own, ownString, type Json, type JsonObject } from '../json/json.ts';
import { LABEL_GANG } from '../api/names.ts';
import type { AskingWorkload } from './asking-workload.ts';
import { gangNumbers } from './gang-numbers.ts';

/** Their templates stay as they are while they have Pods, or they replace all Pods of a gang together. */
const NEVER_HALF = ['job', 'jobset', 'lws'];

/**
 * A workload that has Pods when its template gets the label: these are not of the gang, which waits for as many new ones.
 * @param before as it was without the label. A text is a warning
 */
export function labelComes(workload: AskingWorkload, before: JsonObject): readonly (Fault | string)[] {
  const { by, object, templates } = workload;
  // What makes others makes new ones of the new template.
  if (by === undefined || by.workload !== object || NEVER_HALF.includes(by.kind.short)) return [];
  // Said already, of a field that stands for it.
  if (templates.some(({ oneByOne }) => oneByOne !== undefined)) return [];
  if (!hasPods(by.kind, before) || !hasPods(by.kind, object)) return [];
  if (by.kind.short === 'statefulset') {
    const one = replacing(object, templates[0]?.pods ?? 1);
    if (one === 'together') return [];
    if (one === 'one by one') {
      // Those that are there have no label, and each new one would wait for the next.
      const detail = 'scale it to 0 before, or write type: OnDelete and delete all of its Pods together';
      return [fault('PodsOneByOne', 'spec.updateStrategy', { detail })];
    }
  }
  const field = keyed(`${templates[0]?.path}.metadata.labels`, LABEL_GANG);
  return [
    `${field}: Pods that are there already do not get the label, and the gang waits for as many new ones: delete them together, or make the workload anew`,
  ];
}

function hasPods(kind: NonNullable<AskingWorkload['by']>['kind'], workload: JsonObject): boolean {
  const { suspended, groups } = gangNumbers(workload, kind);
  return !suspended && groups.some(({ replicas }) => replicas > 0);
}

/** How the Pods of a StatefulSet are replaced. */
function replacing(set: JsonObject, pods: number): 'by hand' | 'together' | 'one by one' {
  const strategy = own(own(set, 'spec'), 'updateStrategy');
  if (ownString(strategy, 'type') === 'OnDelete') return 'by hand';
  const most: Json | undefined = own(own(strategy, 'rollingUpdate'), 'maxUnavailable');
  const together = most === '100%' || (typeof most === 'number' && most >= pods);
  return together || pods < 2 ? 'together' : 'one by one';
}

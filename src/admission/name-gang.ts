import { fault, keyed, type Fault } from '../api/fault.ts';
import { isObject, own, type JsonObject } from '../json/json.ts';
import { LABEL_GANG, LABEL_POD_CLIQUE, LABEL_POD_GANG } from '../api/names.ts';
import { workloadTitle } from '../api/pod-origin.ts';
import type { PodPatch } from '../preparers/preparer.ts';
import type { GangKind } from '../workloads/kind.ts';
import { namesAsLabels, namesOf } from '../workloads/pod-names.ts';
import type { ReceivedPod } from './pod-reader.ts';

/** What the workload of a Pod makes of it. */
export interface Named {
  readonly faults: readonly Fault[];
  /** Writes the names that are missing into the patch. */
  readonly write: (patch: Pick<PodPatch, 'label'>) => void;
  /** The Pod with these names, for a backend that gets the whole of it. */
  readonly on: (pod: JsonObject) => JsonObject;
}

const NAMED_ALREADY: Named = { faults: [], write: () => undefined, on: (pod) => pod };

/** Gives a Pod with the label `muster.dev/gang` its gang and its group. `later`: another webhook has to go first. */
export function nameGang(pod: ReceivedPod, kinds?: readonly GangKind[]): Named | 'later' {
  if (pod.label(LABEL_GANG) === undefined) return NAMED_ALREADY;
  const told = namesOf(pod, kinds);
  if (told.is === 'late') return 'later';
  if (told.is === 'wrong') return { ...NAMED_ALREADY, faults: told.faults };
  const { gang, group, origin } = told;
  pod.withNames(gang, group);
  return {
    faults: [],
    write: (patch) => {
      const why = `${workloadTitle(origin)} is a gang`;
      patch.label(LABEL_POD_GANG, gang, why);
      patch.label(LABEL_POD_CLIQUE, group, why);
    },
    on: (object) => {
      const metadata = own(object, 'metadata');
      const labels = own(metadata, 'labels');
      return {
        ...object,
        metadata: {
          ...(isObject(metadata) && metadata),
          labels: { ...(isObject(labels) && labels), ...Object.fromEntries(namesAsLabels(told)) },
        },
      };
    },
  };
}

/** Of a Pod that is about to be stored: that it has the names which its workload gives it. */
export function checkNamed(pod: ReceivedPod, kinds?: readonly GangKind[]): readonly Fault[] {
  if (pod.label(LABEL_GANG) === undefined) return [];
  const told = namesOf(pod, kinds);
  if (told.is === 'wrong') return told.faults;
  if (told.is === 'late') {
    const detail = `${told.label} is missing`;
    return [fault('GangNotNamed', keyed('metadata.labels', LABEL_POD_GANG), { detail })];
  }
  const missing = namesAsLabels(told).filter(([key]) => pod.label(key) === undefined);
  return missing.map(([key]) => fault('GangNotNamed', keyed('metadata.labels', key)));
}

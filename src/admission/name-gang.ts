import { fault, keyed, type Fault } from '../api/fault.ts';
import { isObject, own, type JsonObject } from '../api/json.ts';
import { LABEL_GANG, LABEL_POD_CLIQUE, LABEL_POD_GANG } from '../api/names.ts';
import { workloadTitle } from '../api/pod-origin.ts';
import type { PodPatch } from '../preparers/preparer.ts';
import { belongingOf, type Belonging } from '../workloads/pod-origin.ts';
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
export function nameGang(pod: ReceivedPod): Named | 'later' {
  if (pod.label(LABEL_GANG) === undefined) return NAMED_ALREADY;
  const value = checkValue(pod);
  if (value.length > 0) return { ...NAMED_ALREADY, faults: value };
  const belonging = belongingOf(pod);
  if (belonging.is === 'late') return 'later';
  if (belonging.is !== 'told') return { ...NAMED_ALREADY, faults: [untold(belonging)] };
  const names = { [LABEL_POD_GANG]: belonging.gang, [LABEL_POD_CLIQUE]: belonging.group };
  const foreign = otherNames(pod, names);
  if (foreign.length > 0) return { ...NAMED_ALREADY, faults: foreign };
  pod.withLabels(names);
  const why = `${workloadTitle(belonging.origin)} is a gang`;
  return {
    faults: [],
    write: (patch) => {
      for (const [key, name] of Object.entries(names)) patch.label(key, name, why);
    },
    on: (object) => {
      const metadata = own(object, 'metadata');
      const labels = own(metadata, 'labels');
      return {
        ...object,
        metadata: {
          ...(isObject(metadata) && metadata),
          labels: { ...(isObject(labels) && labels), ...names },
        },
      };
    },
  };
}

/** Of a Pod that is about to be stored: that it has the names which its workload gives it. */
export function checkNamed(pod: ReceivedPod): Fault[] {
  if (pod.label(LABEL_GANG) === undefined) return [];
  const value = checkValue(pod);
  if (value.length > 0) return value;
  const belonging = belongingOf(pod);
  if (belonging.is !== 'told') return [untold(belonging)];
  const { gang, group } = belonging;
  const foreign = otherNames(pod, { [LABEL_POD_GANG]: gang, [LABEL_POD_CLIQUE]: group });
  if (foreign.length > 0) return foreign;
  const missing = [LABEL_POD_GANG, LABEL_POD_CLIQUE].filter((key) => pod.label(key) === undefined);
  return missing.map((key) => fault('GangNotNamed', keyed('metadata.labels', key)));
}

function checkValue(pod: ReceivedPod): Fault[] {
  const value = pod.label(LABEL_GANG);
  return value === 'true' ? [] : [fault('GangLabelValue', keyed('metadata.labels', LABEL_GANG), { value })];
}

const otherNames = (pod: ReceivedPod, names: Readonly<Record<string, string>>): Fault[] =>
  Object.entries(names).flatMap(([key, name]) => {
    const value = pod.label(key);
    return value === undefined || value === name
      ? []
      : [fault('GangNameForeign', keyed('metadata.labels', key), { value, detail: `that is ${name}` })];
  });

function untold(belonging: Exclude<Belonging, { is: 'told' }>): Fault {
  if (belonging.is === 'late') {
    const detail = `${belonging.label} is missing`;
    return fault('GangNotNamed', keyed('metadata.labels', LABEL_POD_GANG), { detail });
  }
  const { controller } = belonging;
  const by =
    controller === undefined
      ? 'nobody controls this Pod'
      : `${controller.apiVersion} ${controller.kind} ${controller.name} controls this Pod`;
  return belonging.is === 'unknown'
    ? fault('GangWorkloadUnknown', keyed('metadata.labels', LABEL_GANG), { detail: by })
    : fault('GangWorkloadMismatch', keyed('metadata.labels', belonging.label), { detail: by });
}

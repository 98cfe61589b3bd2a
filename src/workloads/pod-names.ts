import { fault, keyed, type Fault } from '../api/fault.ts';
import { LABEL_GANG, LABEL_POD_CLIQUE, LABEL_POD_GANG } from '../api/names.ts';
import type { PodOrigin } from '../api/pod-origin.ts';
import type { GangKind, PodMarks } from './kind.ts';
import { belongingOf, type Belonging } from './pod-origin.ts';
import { ListeningMarks, RememberedNames } from './remembered-names.ts';

/** The labels for a Pod with the label `muster.dev/gang`, or why it can have none. */
export type PodNames =
  | { readonly is: 'given'; readonly gang: string; readonly group: string; readonly origin: PodOrigin }
  /** Another webhook has still to add this label. */
  | { readonly is: 'late'; readonly label: string }
  | { readonly is: 'wrong'; readonly faults: readonly Fault[] };

const given = new RememberedNames<PodNames>();

/** The names for a Pod with the label. */
export function namesOf(pod: PodMarks, kinds?: readonly GangKind[]): PodNames {
  const known = given.find(pod, kinds);
  if (known !== undefined) return known;
  const listening = new ListeningMarks(pod);
  const told = workedOut(listening, kinds);
  if (told.is === 'given') given.remember(listening, kinds, told);
  return told;
}

function workedOut(pod: PodMarks, kinds: readonly GangKind[] | undefined): PodNames {
  const value = pod.label(LABEL_GANG);
  const ofValue =
    value === 'true' ? [] : [fault('GangLabelValue', keyed('metadata.labels', LABEL_GANG), { value })];
  const belonging = belongingOf(pod, kinds);
  if (belonging.is === 'late') return ofValue.length > 0 ? wrong(...ofValue) : belonging;
  if (belonging.is !== 'told') return wrong(...ofValue, untold(belonging));
  const { gang, group, origin } = belonging;
  const foreign = namesAsLabels({ gang, group }).flatMap(([key, name]) => {
    const found = pod.label(key);
    return found === undefined || found === name
      ? []
      : [
          fault('GangNameForeign', keyed('metadata.labels', key), {
            value: found,
            detail: `that is ${name}`,
          }),
        ];
  });
  const faults = [...ofValue, ...foreign];
  return faults.length > 0 ? wrong(...faults) : { is: 'given', gang, group, origin };
}

/** The labels that make a Pod a member of a group. */
export const namesAsLabels = ({
  gang,
  group,
}: {
  readonly gang: string;
  readonly group: string;
}): readonly (readonly [key: string, value: string])[] => [
  [LABEL_POD_GANG, gang],
  [LABEL_POD_CLIQUE, group],
];

const wrong = (...faults: readonly Fault[]): PodNames => ({ is: 'wrong', faults });

function untold(belonging: Exclude<Belonging, { is: 'told' | 'late' }>): Fault {
  const { controller } = belonging;
  const detail =
    controller === undefined
      ? 'nobody controls this Pod'
      : `${controller.apiVersion} ${controller.kind} ${controller.name} controls this Pod`;
  return belonging.is === 'unknown'
    ? fault('GangWorkloadUnknown', keyed('metadata.labels', LABEL_GANG), { detail })
    : fault('GangWorkloadMismatch', keyed('metadata.labels', belonging.label), { detail });
}

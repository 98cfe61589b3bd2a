import { listed } from '../text/printable.ts';
import { completenessOf } from './completeness.ts';
import { bornAt, podNames, releasedAt, type Generation, type ReleasedLife } from './generations.ts';
import { schedulerRefusals } from './refusals.ts';
import type { Known, DatedStep, StepName } from './step.ts';

/** The steps of one generation: its Pods come, are let go, bound, run, and leave. */
export function generationSteps(generation: Generation, known: Known): DatedStep[] {
  const { number, lives } = generation;
  const refusals = schedulerRefusals(generation, known);
  const each = (
    step: StepName,
    momentOf: (life: ReleasedLife) => number | undefined,
    waitedFor: (pods: readonly ReleasedLife[]) => string,
    says?: (life: ReleasedLife) => string,
  ): DatedStep[] => {
    const taken = lives.filter((life) => momentOf(life) !== undefined);
    return [...Map.groupBy(taken, (life) => momentOf(life) ?? 0)].map(([at, together]) => {
      const said = [...new Set(together.map((life) => says?.(life) ?? ''))].filter((one) => one !== '');
      return {
        at,
        step,
        generation: number,
        pods: podNames(together),
        waitedFor: waitedFor(together),
        ...(said.length > 0 && { says: listed(said, 'reasons', 3) }),
      };
    });
  };
  return [
    ...arrivals(generation, known),
    ...each(
      'gates-off',
      ({ gateOff }) => gateOff,
      (pods) => beforeRelease(pods, number),
    ),
    ...refusals,
    ...each(
      'bound',
      ({ bound }) => bound,
      () => (refusals.length === 0 ? 'the scheduler' : 'the scheduler, which refused before'),
    ),
    ...each(
      'started',
      ({ started }) => started,
      () => 'the kubelet: images and containers',
    ),
    ...each(
      'ready',
      ({ ready }) => ready,
      () => 'the Pods to be ready',
    ),
    ...each(
      'evicted',
      ({ evicted }) => evicted?.at,
      () => '',
      ({ evicted }) => evicted?.says ?? '',
    ),
    ...each(
      'deleted',
      ({ deleted, evicted }) => (evicted === undefined ? deleted : undefined),
      () => '',
    ),
    ...each(
      'ended',
      ({ ended }) => ended,
      () => 'the Pods to end',
      ({ phase }) => phase,
    ),
  ];
}

function beforeRelease(pods: readonly ReleasedLife[], generation: number): string {
  const bases = [...new Set(pods.flatMap(({ baseGang }) => baseGang ?? []))].sort();
  if (bases.length > 0) return `the base gang ${listed(bases, 'gangs', 3)} to be scheduled`;
  return generation === 1
    ? 'Muster, to take the gates off'
    : 'Muster, to take the gates off once the generation before is gone';
}

/** When the Pods of a generation came: the first and last of those that it waited for, and those that joined later. */
function arrivals({ number, lives }: Generation, { gang }: Known): DatedStep[] {
  const born = lives.filter(({ created }) => created !== undefined);
  const [first] = [...born].sort((a, b) => bornAt(a) - bornAt(b));
  if (first === undefined) return [];
  const complete = gang && completenessOf(gang, born);
  const lacked = (at: number): string => complete?.lacking(at) ?? '';
  const released = releasedAt(lives);
  const formed = Math.max(
    complete?.at ?? -Infinity,
    released ?? (complete?.at === undefined ? Infinity : -Infinity),
  );
  const forming = born.filter((life) => bornAt(life) <= formed);
  const moment = (at: number): Pick<DatedStep, 'at' | 'generation' | 'pods'> => ({
    at,
    generation: number,
    pods: podNames(born.filter(({ created }) => created === at)),
  });
  const start = bornAt(first);
  const end = Math.max(start, ...forming.map(bornAt));
  const missing = lacked(start) === '' ? '' : `Pods: ${lacked(start)}`;
  const joined = Map.groupBy(
    born.filter((life) => bornAt(life) > formed),
    bornAt,
  );
  return [
    { ...moment(start), step: 'first-pod', waitedFor: 'whoever creates its Pods' },
    ...(end > start ? [{ ...moment(end), step: 'last-pod' as const, waitedFor: missing }] : []),
    ...(complete?.at === undefined
      ? []
      : [
          {
            at: complete.at,
            generation: number,
            pods: [],
            step: 'complete' as const,
            waitedFor: complete.at > start && complete.at !== end ? missing : '',
          },
        ]),
    ...[...joined].map(([at, pods]) => ({
      at,
      generation: number,
      pods: podNames(pods),
      step: 'joined' as const,
      waitedFor: '',
    })),
  ];
}

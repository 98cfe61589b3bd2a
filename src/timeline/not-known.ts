import { listed } from '../text/printable.ts';
import { podNames } from './generations.ts';
import { completenessOf } from './completeness.ts';
import type { Known } from './step.ts';

/** By default an API server keeps Events so long (ms). */
const EVENTS_KEPT = 60 * 60_000;

/** What cannot be told any more, a sentence each. */
export const notKnown = (known: Known, eventsUnread: string | undefined): string[] => [
  ...(known.gang === undefined
    ? ['the PodGang does not exist: when it was created, complete and Initialized is not known']
    : []),
  ...(eventsUnread === undefined ? eventsLost(known) : []),
  ...stepsLost(known),
];

function eventsLost({ created, generations, events, now }: Known): string[] {
  const isOld = created !== undefined && now - created > EVENTS_KEPT;
  if (events.length === 0 && generations.length > 0)
    return [
      `there are no Events of this gang${isOld ? ' any more, an API server keeps them for an hour' : ''}: refusals of the scheduler and evictions are not known`,
    ];
  return isOld
    ? ['an API server keeps Events for an hour: earlier refusals and evictions are not known any more']
    : [];
}

function stepsLost({ gang, created, initialized, generations }: Known): string[] {
  const lives = generations.flatMap((one) => one.lives);
  const first = generations[0];
  const told: string[] = [];
  const released = lives.filter(({ gated, gateOff, gone }) => !gated && gateOff === undefined && !gone);
  if (initialized !== undefined && released.length > 0)
    told.push(`when the gates of ${listed(podNames(released), 'Pods', 3)} came off: Events alone tell it`);
  if (initialized !== undefined && (first === undefined || first.number > 1))
    told.push('the Pods of generation 1 are gone, and there may have been more generations since');
  else if (initialized !== undefined && gang !== undefined && first !== undefined) {
    const { at } = completenessOf(gang, first.lives);
    if (at === undefined) told.push('when generation 1 was complete: some of its Pods are gone');
  }
  const restarted = lives.filter((life) => life.restarted);
  if (restarted.length > 0)
    told.push(
      `when containers of ${listed(podNames(restarted), 'Pods', 3)} began first: they have restarted since`,
    );
  if (created !== undefined && initialized !== undefined && initialized < created)
    told.push(
      `the clocks of Muster and the API server differ: Initialized is ${Math.ceil((created - initialized) / 1000)} s before the creation`,
    );
  return told;
}

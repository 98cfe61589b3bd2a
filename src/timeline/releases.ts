import type { EventRecord } from './event-record.ts';
import type { PodLife } from './pod-life.ts';

/** Gates that came off together, by the Event that the loop wrote about it. */
export interface Release {
  readonly at: number;
  readonly named: ReadonlySet<string>;
  /** Whether every Pod of it is named: an Event names the first few. */
  readonly namesAll: boolean;
}

const RELEASED = /^released (\d+) Pods? to the scheduler: (.*)$/;

/** The releases of a gang, the earliest first. @param events of the PodGang */
export function releasesOf(events: readonly EventRecord[]): Release[] {
  return events
    .flatMap((event): Release[] => {
      const [, count, list = ''] = (event.reason === 'GatesRemoved' && RELEASED.exec(event.note)) || [];
      if (count === undefined) return [];
      const named = new Set(list.replace(/ and \d+ more Pods$/, '').split(', '));
      const release = { at: event.at, named, namesAll: named.size >= Number(count) };
      // Pods of the same names were released again, as those of a StatefulSet are.
      return event.last > event.at ? [release, { ...release, at: event.last }] : [release];
    })
    .sort((a, b) => a.at - b.at);
}

/** Within this time (ms) of its binding the Pod's gate came off, where no Event is left: times are whole seconds. */
const AT_ONCE = 1_000;

/** When the gate of a Pod came off; undefined where it is on, or that is not known. */
export function gateOff(
  life: PodLife,
  releases: readonly Release[],
  initialized: number | undefined,
): number | undefined {
  const { pod, gated, created, bound } = life;
  if (gated) return undefined;
  const born = created ?? -Infinity;
  const after = releases.filter(({ at }) => at >= born);
  const release =
    after.find(({ named }) => named.has(pod)) ??
    after.find(({ namesAll, at }) => !namesAll && (bound === undefined || at <= bound + AT_ONCE));
  // The Event is written after the gate is off, and the scheduler may be faster.
  if (release !== undefined) return Math.max(Math.min(release.at, bound ?? release.at), born);
  if (bound === undefined || initialized === undefined) return undefined;
  return bound - Math.max(initialized, born) <= AT_ONCE ? bound : undefined;
}

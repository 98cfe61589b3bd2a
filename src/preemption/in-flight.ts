import { preemptionUnitsOf, type PreemptionUnit } from './units.ts';
import { parsedJson, own, ownList, ownString, type Json } from '../json/json.ts';
import type { Preemptor } from './preemptor.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * A preemption that was begun: its victims, and the nodes for the preemptor's Pods. It is plain JSON, so that it can be
 * stored before the first victim is evicted, and the next leader can continue with it.
 */
export interface InFlight {
  readonly nominations: readonly Nomination[];
  readonly victims: readonly Victim[];
  /**
   * True once the plan was given up: units whose eviction has begun are evicted whole, no other unit is, and no new plan is
   * made until they are gone.
   */
  readonly closing: boolean;
}

/** A node that is being cleared for a Pod of the preemptor. */
export interface Nomination {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
}

/** A unit that is to be evicted. */
export interface Victim extends Pick<PreemptionUnit, 'kind' | 'namespace' | 'name' | 'priority'> {
  readonly pods: readonly { readonly name: string; readonly uid: string }[];
}

/**
 * A plan in flight as the gang's annotation has it. It names victims by uid alone: readers of the gang need not learn what
 * runs in other namespaces, and a new Pod of the same name has another uid.
 */
export interface WrittenPlan {
  /** Milliseconds since 1970 at which the plan was begun. */
  readonly at: number;
  readonly closing: boolean;
  readonly nominations: readonly Nomination[];
  /** The uids of each unit's Pods. */
  readonly victims: readonly (readonly string[])[];
}

/** Writes a plan for the annotation. @param gang the uid of the gang, so that a plan copied to another gang is invalid */
export const writePlan = (gang: string, at: number, { nominations, victims, closing }: InFlight): string =>
  JSON.stringify({
    gang,
    at: new Date(at).toISOString(),
    ...(closing && { closing }),
    nominations,
    victims: victims.map(({ pods }) => pods.map(({ uid }) => uid)),
  });

/**
 * Reads the annotation. Returns undefined for anything but a plan of the gang with this uid, so that no Pod is evicted by
 * it.
 */
export function readPlan(text: string | undefined, gang: string): WrittenPlan | undefined {
  const value = text === undefined ? undefined : parsedJson(text);
  const at = Date.parse(ownString(value, 'at') ?? '');
  if (gang === '' || ownString(value, 'gang') !== gang || Number.isNaN(at)) return undefined;
  return {
    at,
    closing: own(value, 'closing') === true,
    nominations: (ownList(value, 'nominations') ?? []).flatMap(nominationOf),
    victims: (ownList(value, 'victims') ?? []).map((uids) =>
      (Array.isArray(uids) ? (uids as readonly Json[]) : []).filter((uid) => typeof uid === 'string'),
    ),
  };
}

/** Rebuilds the plan with what the cluster knows of its victims now. Victims that are gone have no name and need none. */
export function recalled(
  { closing, nominations, victims }: WrittenPlan,
  snapshot: Snapshot,
  preemptor: Preemptor,
): InFlight {
  const wanted = new Set(victims.flat());
  const pods = new Map(
    snapshot.pods.flatMap((pod) => (wanted.has(pod.uid) ? [[pod.uid, pod] as const] : [])),
  );
  const units = preemptionUnitsOf(snapshot, preemptor, 'kep');
  return {
    closing,
    nominations,
    victims: victims.map((uids) => {
      const unit = units.find((one) => one.pods.some(({ uid }) => uids.includes(uid)));
      const first = uids.flatMap((uid) => pods.get(uid) ?? [])[0];
      return {
        kind: unit?.kind ?? 'Pod',
        namespace: first?.namespace ?? '',
        name: unit?.name ?? first?.name ?? '',
        priority: unit?.priority ?? first?.priority ?? 0,
        pods: uids.map((uid) => ({ name: pods.get(uid)?.name ?? '', uid })),
      };
    }),
  };
}

function nominationOf(value: Json): Nomination[] {
  const [name, uid, node] = ['name', 'uid', 'node'].map((key) => ownString(value, key));
  return name && uid && node ? [{ name, uid, node }] : [];
}

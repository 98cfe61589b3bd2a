import { preemptionUnitsOf, type PreemptionUnit } from './units.ts';
import { parsedJson, own, ownList, ownString, type Json } from '../json/json.ts';
import type { Preemptor } from './preemptor.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * A plan on its way: who was told to go, and where the preemptor's Pods are to be. JSON as it stands, so that it can be
 * written down before the first Pod goes, and whoever reads it again goes on with it.
 */
export interface InFlight {
  readonly nominations: readonly Nomination[];
  readonly victims: readonly Victim[];
  /** Given up: units that were begun are brought to their end, no other is touched, and nothing new is planned till then. */
  readonly closing: boolean;
}

/** A node that is being cleared for a Pod of the preemptor. */
export interface Nomination {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
}

/** A unit that has to go. */
export interface Victim extends Pick<PreemptionUnit, 'kind' | 'namespace' | 'name' | 'priority'> {
  readonly pods: readonly { readonly name: string; readonly uid: string }[];
}

/**
 * A plan in flight as it stands in an annotation of its gang. Of the victims it has the uids and nothing else: whoever
 * may read the gang need not learn what runs in other namespaces, and a Pod of the same name is another Pod.
 */
export interface WrittenPlan {
  /** When it was begun, in milliseconds since 1970. */
  readonly at: number;
  readonly closing: boolean;
  readonly nominations: readonly Nomination[];
  /** The uids of each unit's Pods. */
  readonly victims: readonly (readonly string[])[];
}

/** @param gang the uid of the gang: a plan that was copied to another one is none */
export const writePlan = (gang: string, at: number, { nominations, victims, closing }: InFlight): string =>
  JSON.stringify({
    gang,
    at: new Date(at).toISOString(),
    ...(closing && { closing }),
    nominations,
    victims: victims.map(({ pods }) => pods.map(({ uid }) => uid)),
  });

/** undefined for what is no plan of the gang with this uid: nobody is evicted on the word of that. */
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

/** The plan with what the cluster knows of its victims now. Those that are gone have no name any more, and need none. */
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

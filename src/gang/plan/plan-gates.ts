import { GATE_POD_GANG_PENDING } from '../../api/names.ts';
import { quoted, statusText } from '../../text/printable.ts';
import {
  isBound,
  isGated,
  isScheduled,
  takeCensus,
  byAge,
  boundShortfall,
  type GroupCensus,
} from './census.ts';
import { referencesOf } from '../rules/check-spec.ts';
import { misplacedPod } from './holds.ts';
import type { Ungate, Violation, Waiting } from './gang-plan.ts';
import type { GangRecord, GangState, PodRecord, BaseGang, ReleaseOrder } from '../records.ts';
import { isInitialized } from '../rules/initialized.ts';
import { schedulerWords } from './why.ts';

export interface GateJudgement {
  readonly ungate: readonly Ungate[];
  readonly waiting: readonly Waiting[];
  readonly violations: readonly Violation[];
  /** Why Pods of this gang wait for a base gang; undefined where none does. */
  readonly baseWait: string | undefined;
}

/**
 * Decides which gates are removed now, and why each other Pod waits. A gate is removed from a Pod that the *observed* gang
 * refers to, once the *observed* gang is Initialized, its base gang is scheduled and the Pod's turn has come.
 * @param hold why no Pod may be released (gang not Initialized, deleted, or another operator's); undefined where Pods may be
 */
export function planGates(
  state: GangState,
  gang: GangRecord,
  census: readonly GroupCensus[],
  hold: string | undefined,
): GateJudgement {
  const turn = hold === undefined ? podsInTurn(census, state.backend.releaseOrder) : NOBODY;
  const bases = new Map<string, string | undefined>();
  const waitOf = (base: string): string | undefined => {
    if (!bases.has(base)) bases.set(base, baseGangWait(base, state.baseGangs.get(base), gang.name));
    return bases.get(base);
  };
  const ungate: Ungate[] = [];
  const waiting: Waiting[] = [];
  const violations: Violation[] = [];
  let baseWait: string | undefined;

  for (const group of census) {
    for (const pod of group.members) {
      if (!isGated(pod)) {
        const violation = ungatedEarly(gang, group, pod);
        if (violation !== undefined) violations.push(violation);
        const wait = waitingUngated(pod);
        if (wait !== undefined) waiting.push(wait);
        continue;
      }
      const wait = pod.baseGang === undefined ? undefined : waitOf(pod.baseGang);
      const reason =
        hold ??
        (group.referenced.has(pod.name)
          ? (wait ?? (turn.has(pod.name) ? undefined : notItsTurn(census)))
          : `not yet in the references of group ${group.name}`);
      baseWait ??= wait;
      if (reason === undefined) ungate.push(ungateOf(gang, pod));
      else waiting.push({ pod: pod.name, group: pod.group, state: 'gated', reason: statusText(reason) });
    }
    for (const pod of group.misplaced) {
      const reason = misplacedPod(state.backend, pod);
      waiting.push({ pod: pod.name, group: pod.group, state: isGated(pod) ? 'gated' : 'misplaced', reason });
    }
  }
  return { ungate, waiting, violations, baseWait };
}

const NOBODY: ReadonlySet<string> = new Set();

const notItsTurn = (census: readonly GroupCensus[]): string =>
  `comes after the minimum of every group: bound ${boundShortfall(census)}`;

const ungateOf = (gang: GangRecord, pod: PodRecord): Ungate => ({
  namespace: pod.namespace,
  pod: pod.name,
  uid: pod.uid,
  resourceVersion: pod.resourceVersion,
  gang: gang.name,
  gangUid: gang.uid,
  group: pod.group,
  baseGang: pod.baseGang,
  gateIndex: pod.gates.indexOf(GATE_POD_GANG_PENDING),
});

/**
 * Returns the ungates that still hold for the gang as just read from the API server (undefined: deleted). The watches of
 * gangs and Pods run at different speeds: if a gang and its Pods were deleted and created again under the same names, the
 * cache may have the old Initialized gang with the new Pods. A gang that was read after the Pods were seen rules that out.
 */
export function confirmUngates(ungates: readonly Ungate[], fresh: GangRecord | undefined): Ungate[] {
  if (fresh === undefined || fresh.deletionTimestamp !== undefined || !isInitialized(fresh)) return [];
  // Where two groups have the same name the first counts, as in the census.
  const named = new Map<string, Set<string>>();
  for (const group of fresh.spec.groups) {
    if (named.has(group.name)) continue;
    const own = referencesOf(group).filter((reference) => reference.namespace === fresh.namespace);
    named.set(group.name, new Set(own.map((reference) => reference.name)));
  }
  return ungates.filter(
    (ungate) =>
      ungate.gangUid === fresh.uid &&
      ungate.namespace === fresh.namespace &&
      ungate.gang === fresh.name &&
      named.get(ungate.group)?.has(ungate.pod) === true,
  );
}

/**
 * A violation for a Pod that is without Muster's gate too early: it was created without Muster's webhook, or somebody
 * removed the gate.
 */
function ungatedEarly(gang: GangRecord, group: GroupCensus, pod: PodRecord): Violation | undefined {
  const why = !isInitialized(gang)
    ? 'before the gang is Initialized'
    : group.referenced.has(pod.name)
      ? undefined
      : `before group ${group.name} refers to it`;
  if (why === undefined) return undefined;
  const message = `this Pod has no gate ${GATE_POD_GANG_PENDING} ${why}: it was created past the webhook, an earlier PodGang of this name released it, or somebody removed the gate`;
  return { kind: 'UngatedEarly', pod: pod.name, uid: pod.uid, message: statusText(message) };
}

function waitingUngated(pod: PodRecord): Waiting | undefined {
  const { name, group } = pod;
  const gates = pod.gates.map((gate) => quoted(gate)).join(', ');
  if (gates !== '') {
    return { pod: name, group, state: 'foreign', reason: statusText(`held by another gate: ${gates}`) };
  }
  if (pod.phase === 'Failed') return { pod: name, group, state: 'starting', reason: 'the Pod has failed' };
  if (!isBound(pod)) {
    return { pod: name, group, state: 'pending', reason: statusText(unboundBecause(pod)) };
  }
  if (pod.ready || pod.phase === 'Succeeded') return undefined;
  return {
    pod: name,
    group,
    state: 'starting',
    // A Pod that runs may have been ready before: a lost node looks the same as a container that fails.
    reason: statusText(
      pod.phase === 'Running'
        ? `on node ${pod.nodeName}, runs and is not ready: its containers or the node do not answer`
        : `on node ${pod.nodeName}, not ready yet`,
    ),
  };
}

function unboundBecause(pod: PodRecord): string {
  const words = schedulerWords(pod);
  if (words !== undefined) return `the scheduler says: ${words}`;
  return pod.podScheduled?.reason === 'Schedulable'
    ? 'the scheduler has room for it, and waits for others of the gang'
    : 'waiting for the scheduler';
}

/**
 * Why Pods with this base gang have to wait; undefined once the base gang is scheduled, so that each of its groups has its
 * minimum of Pods bound. A base gang that does not exist may still be created, so Pods wait for it too.
 */
function baseGangWait(
  name: string,
  base: BaseGang | 'missing' | undefined,
  ownName: string,
): string | undefined {
  if (name === ownName)
    return 'the label grove.io/base-podgang names the gang itself: correct it where the Pod comes from, and delete the Pod';
  if (base === undefined || base === 'missing') return `the base gang ${quoted(name)} does not exist`;
  const census = takeCensus(base.gang, base.pods, base.schedulerName);
  if (isScheduled(census)) return undefined;
  const missing = boundShortfall(census);
  return `the base gang ${quoted(name)} is not scheduled${missing === '' ? '' : `: bound ${missing}`}`;
}

/**
 * Names of the Pods that may be released now, by the release order.
 *
 * `all-at-once`: every Pod. `minimum-first`: exactly the minimum of every group, and the rest once every group has its
 * minimum bound. It is for a scheduler with one count for several groups, which the wrong Pods could reach otherwise (four
 * workers and no leader).
 *
 * `optional-groups-last`: Pods of groups without a minimum come last. It is for a scheduler that counts each group by
 * itself, where such Pods would take the capacity of Pods that have to start.
 *
 * Released Pods count. A replacement takes the place of the Pod that it replaces, and no further Pod is released while one
 * is slow to be bound. A Failed Pod does not count.
 */
export function podsInTurn(census: readonly GroupCensus[], order: ReleaseOrder): Set<string> {
  const all = order === 'all-at-once' || isScheduled(census);
  return new Set(
    census.flatMap((group) => {
      const optional = group.minReplicas === 0;
      if (all || (order === 'optional-groups-last' && !optional))
        return group.members.filter(isGated).map((pod) => pod.name);
      const released = group.present.filter((pod) => !isGated(pod)).length;
      const places = Math.max(0, group.minReplicas - released);
      return group.present
        .filter((pod) => isGated(pod) && group.referenced.has(pod.name))
        .sort(byAge)
        .slice(0, places)
        .map((pod) => pod.name);
    }),
  );
}

import { isGroveManaged, notSelected, type GangSelectors } from '../../gang/gang-selection.ts';
import { expectedPods } from '../../gang/expected-pods.ts';
import { isGated, isLive } from '../../gang/plan/census.ts';
import type { GangPlan, Ungate } from '../../gang/plan/gang-plan.ts';
import type { GangRecord, PodRecord } from '../../gang/records.ts';
import { keyOf, splitKey, type ObjectChange } from '../../kube/loop/cache.ts';
import { BY_GANG, type GangView } from '../watch/gang-view.ts';

export interface ReleaseClockOptions {
  readonly view: Pick<GangView, 'gangs' | 'pods' | 'namespaces'>;
  readonly selectors: GangSelectors;
  /** Milliseconds since an arbitrary moment. */
  readonly now: () => number;
  /**
   * Called with the milliseconds since a gang was complete, when its last gate is off (`released`), or when it is deleted or
   * lacks a Pod again before that (`unreleased`). Must not throw.
   */
  readonly ended: (how: ReleaseEnd, ms: number) => void;
}

export type ReleaseEnd = 'released' | 'unreleased';

interface GroupCount {
  expected: number;
  present: number;
}

/** A gang with at least one gated Pod. */
interface GatedGang {
  /** The version of the gang that the expected numbers are of; undefined while there is no gang. */
  gang: GangRecord | undefined;
  readonly groups: Map<string, GroupCount>;
  /** Number of groups that lack Pods. */
  short: number;
  /** Number of Pods with Muster's gate, without those whose gate the API server has answered to be off. */
  gated: number;
  /** When the gang became complete; undefined while it is not. */
  since: number | undefined;
  /** Whether the gang is measured. A gang that waits for a base gang, or that Muster does not manage, is not. */
  measured: boolean;
  /** uids of the Pods whose gate is off by an answer of the API server, until the watch shows it. */
  answered: Set<string>;
}

/** Shared by all gangs that nothing was answered for; never changed. */
const NONE = new Set<string>();

/**
 * Measures how long gangs take from complete to released: from the watch event that completes the gang to the API server's
 * answer that its last gate is off. It counts the Pods at each event, so that what waits in the work queue counts as well.
 * Runs on every replica: a new leader knows since when gangs have been complete.
 */
export class ReleaseClock {
  readonly #options: ReleaseClockOptions;
  readonly #gangs = new Map<string, GatedGang>();

  constructor(options: ReleaseClockOptions) {
    this.#options = options;
  }

  /** How long (ms) the gang that has been complete longest has had gates; 0 when there is none. */
  get oldestMs(): number {
    const now = this.#options.now();
    let oldest = now;
    for (const { since = now, measured } of this.#gangs.values()) {
      if (measured && since < oldest) oldest = since;
    }
    return now - oldest;
  }

  /** Takes an event of a gang or of one of its Pods, after the caches have taken it. */
  touched(key: string, change: ObjectChange<GangRecord> | ObjectChange<PodRecord>): void {
    const known = this.#gangs.get(key);
    const { old, new: now } = change;
    if ('gates' in (now ?? old)) this.#podChanged(key, known, change as ObjectChange<PodRecord>);
    else if (known !== undefined) this.#gangChanged(known, now as GangRecord | undefined);
  }

  /** Called when the API server has answered that a gate is off, or that its Pod is gone. */
  ungated({ namespace, pod, uid, gang }: Ungate): void {
    const key = keyOf(namespace, gang);
    const known = this.#gangs.get(key);
    const shown = this.#options.view.pods.get(namespace, pod);
    // Where the watch was faster, its event has been counted.
    if (known === undefined || shown?.uid !== uid || !waits(shown) || known.answered.has(uid)) return;
    if (known.answered === NONE) known.answered = new Set();
    known.answered.add(uid);
    known.gated -= 1;
    if (known.gated <= 0) this.#end(known, 'released');
  }

  /**
   * Corrects the counts by a judgement. It knows of Pods prepared for another scheduler, of those that the gang's workload
   * does not own, and of those that no gate will be taken off of.
   */
  judged(key: string, { summary }: GangPlan): void {
    const known = this.#gangs.get(key);
    if (known === undefined || summary === undefined) return;
    const { groups, gatesLeft } = summary;
    known.gated = Math.max(0, gatesLeft - known.answered.size);
    if (known.gated === 0) {
      this.#end(known, 'released');
      return;
    }
    const complete =
      groups.some(({ expected }) => expected > 0) &&
      groups.every(({ present, expected }) => present >= expected);
    if (!complete) known.since = undefined;
    else known.since ??= this.#options.now();
  }

  #podChanged(key: string, known: GatedGang | undefined, { old, new: now }: ObjectChange<PodRecord>): void {
    if (known === undefined) {
      // The cache has this Pod already, so it is counted with the others.
      if (now !== undefined && waits(now)) this.#begin(key);
      return;
    }
    // A Pod whose gang label has changed was in another gang before.
    const before = old?.gang === (now ?? old).gang ? old : undefined;
    const wasWaiting = isComplete(known) && known.gated > 0;
    if (before !== undefined) count(known, before, -1);
    if (now !== undefined) count(known, now, 1);
    if (before !== undefined && (now === undefined || !waits(now))) known.answered.delete(before.uid);
    this.#turn(known, wasWaiting);
    if (known.gated === 0 && known.answered.size === 0) this.#gangs.delete(key);
  }

  #gangChanged(known: GatedGang, gang: GangRecord | undefined): void {
    if (gang !== undefined) {
      this.#expect(known, gang);
      return;
    }
    known.gang = undefined;
    for (const group of known.groups.values()) group.expected = 0;
    known.short = 1;
    this.#turn(known, true);
  }

  #begin(key: string): void {
    const { namespace, name } = splitKey(key);
    const { view } = this.#options;
    const known: GatedGang = {
      gang: undefined,
      groups: new Map(),
      short: 1,
      gated: 0,
      since: undefined,
      measured: true,
      answered: NONE,
    };
    for (const pod of view.pods.byIndex(BY_GANG, key)) {
      count(known, pod, 1);
    }
    this.#gangs.set(key, known);
    const gang = view.gangs.get(namespace, name);
    if (gang !== undefined) this.#expect(known, gang);
  }

  /** Takes the expected numbers from this version of the gang. */
  #expect(known: GatedGang, gang: GangRecord): void {
    const { view, selectors } = this.#options;
    const wasWaiting = isComplete(known) && known.gated > 0;
    known.gang = gang;
    const counts = expectedPods(gang).counts;
    for (const group of known.groups.values()) group.expected = 0;
    let wanted = 0;
    for (const [index, { name }] of gang.spec.groups.entries()) {
      const expected = counts[index] ?? 0;
      wanted += expected;
      const group = known.groups.get(name);
      if (group === undefined) known.groups.set(name, { expected, present: 0 });
      else group.expected = expected;
    }
    known.short = wanted === 0 ? 1 : 0;
    for (const { expected, present } of known.groups.values()) if (present < expected) known.short += 1;
    const { namespace, labels } = gang;
    const place = view.namespaces.get('', namespace)?.labels;
    if (isGroveManaged(gang) || notSelected(selectors, namespace, place, labels) !== undefined)
      known.measured = false;
    this.#turn(known, wasWaiting);
  }

  /** Starts the clock of a gang that waits from now on, and stops that of one which does not wait any more. */
  #turn(known: GatedGang, wasWaiting: boolean): void {
    if (!isComplete(known)) this.#end(known, 'unreleased');
    else if (known.gated === 0) this.#end(known, 'released');
    else if (!wasWaiting) known.since ??= this.#options.now();
  }

  #end(known: GatedGang, how: ReleaseEnd): void {
    const { since, measured } = known;
    known.since = undefined;
    if (since !== undefined && measured) this.#options.ended(how, this.#options.now() - since);
  }
}

/** Adds or removes a Pod. */
function count(known: GatedGang, pod: PodRecord, by: 1 | -1): void {
  if (pod.baseGang !== undefined) known.measured = false;
  if (waits(pod) && !known.answered.has(pod.uid)) known.gated = Math.max(0, known.gated + by);
  if (!isPresent(pod)) return;
  const group = known.groups.getOrInsertComputed(pod.group, () => ({ expected: 0, present: 0 }));
  const wasShort = group.present < group.expected;
  group.present += by;
  const isShort = group.present < group.expected;
  if (wasShort !== isShort) known.short += isShort ? 1 : -1;
}

const isComplete = ({ short, gang }: GatedGang): boolean =>
  short === 0 && gang !== undefined && gang.deletionTimestamp === undefined;

/** Whether the Pod counts for its gang, as far as one event tells: {@link ReleaseClock.judged} corrects the rest. */
const isPresent = (pod: PodRecord): boolean => isLive(pod) && pod.phase !== 'Failed';

/** Whether the Pod waits for Muster: with its gate, and not being deleted. */
const waits = (pod: PodRecord): boolean => isGated(pod) && isLive(pod);

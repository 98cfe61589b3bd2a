import { isGated } from '../../gang/plan/census.ts';
import type { GangRecord, GangState, PodRecord } from '../../gang/records.ts';
import type { ObjectChange } from '../../kube/loop/cache.ts';

/** When a gang has to be judged after an event: at once, a moment later, or not because of this event. */
export type Urgency = 'now' | 'soon' | 'never';

interface Remembered {
  statusWrittenAt: number | undefined;
  /** The gang as the API server answered Muster's last write, until the cache shows that version. */
  answered: GangRecord | undefined;
  /** The resourceVersions that Muster's writes have replaced: a cache that shows one of them is behind. */
  replaced: readonly string[];
  /** The resourceVersion of the answer by which the gang was judged. */
  judged: string | undefined;
  /** uids of Pods whose gate Muster took off, until the cache shows it. */
  readonly released: Set<string>;
}

const NONE: readonly string[] = [];

/**
 * The writes of this leader that its caches may not show yet. It only saves writes that would fail: all writes are
 * conditional, and with an empty memory (after a restart) the result is the same.
 */
export class WriteMemory {
  readonly #gangs = new Map<string, Remembered>();

  statusWrittenAt(key: string): number | undefined {
    return this.#gangs.get(key)?.statusWrittenAt;
  }

  /** The newest known version of a gang: the cached one, or the API server's answer to a later write of Muster's. */
  newest(key: string, cached: GangRecord): GangRecord {
    const known = this.#gangs.get(key);
    return (known?.replaced.includes(cached.resourceVersion) === true ? known.answered : undefined) ?? cached;
  }

  /** Records that the gang is being judged by the answer to Muster's last write. */
  judged(key: string): void {
    const known = this.#gangs.get(key);
    if (known !== undefined) known.judged = known.answered?.resourceVersion;
  }

  /** Called when the cache shows this version of the gang. @returns when the gang has to be judged because of it */
  showsGang(key: string, { resourceVersion }: Pick<GangRecord, 'resourceVersion'>): Urgency {
    const known = this.#gangs.get(key);
    if (known?.answered === undefined) return 'now';
    if (known.replaced.includes(resourceVersion)) return 'never';
    if (known.answered.resourceVersion !== resourceVersion) return 'now';
    known.answered = undefined;
    known.replaced = NONE;
    return known.judged === resourceVersion ? 'never' : 'soon';
  }

  /** Called when the cache shows this Pod without Muster's gate. @returns when its gang has to be judged because of it */
  showsReleased(key: string, uid: string): Urgency {
    const released = this.#gangs.get(key)?.released;
    if (released?.delete(uid) !== true) return 'soon';
    return released.size === 0 ? 'now' : 'never';
  }

  isReleased(key: string, uid: string): boolean {
    return this.#gangs.get(key)?.released.has(uid) === true;
  }

  /** @param before the resourceVersion that the write was conditional on; equal to the answer's when nothing changed */
  wrote(key: string, before: string, answered: GangRecord): void {
    if (answered.resourceVersion === before) return;
    const known = this.#of(key);
    known.replaced = [...known.replaced, before];
    known.answered = answered;
  }

  wroteStatus(key: string, at: number): void {
    this.#of(key).statusWrittenAt = at;
  }

  released(key: string, uid: string): void {
    this.#of(key).released.add(uid);
  }

  /** Forgets the writes that the caches show by now. @param cached the gang and its Pods as the caches show them */
  catchUp(key: string, { gang, pods }: Pick<GangState, 'gang' | 'pods'>): void {
    const known = this.#gangs.get(key);
    if (known === undefined) return;
    if (gang === 'missing') {
      this.#gangs.delete(key);
      return;
    }
    if (known.answered !== undefined && !known.replaced.includes(gang.resourceVersion)) {
      known.answered = undefined;
      known.replaced = NONE;
    }
    if (known.released.size === 0) return;
    const gated = new Set(pods.filter(isGated).map((pod) => pod.uid));
    for (const uid of known.released) if (!gated.has(uid)) known.released.delete(uid);
  }

  #of(key: string): Remembered {
    let known = this.#gangs.get(key);
    if (known === undefined) {
      known = {
        statusWrittenAt: undefined,
        answered: undefined,
        replaced: NONE,
        judged: undefined,
        released: new Set(),
      };
      this.#gangs.set(key, known);
    }
    return known;
  }
}

/** Delay (ms) for changes that nothing waits for, which combines several of them into one reconciliation. */
export const SOON_MS = 50;

/**
 * When a gang has to be judged after a change. Most changes are Muster's own writes as the watch shows them: a gang
 * that was already judged by the answer, or a gate that is off. These need no judgement until the gang's last gate is
 * off.
 */
export function urgencyOf(
  key: string,
  { old, new: now }: ObjectChange<GangRecord> | ObjectChange<PodRecord>,
  memory: Pick<WriteMemory, 'showsGang' | 'showsReleased'>,
): Urgency {
  if (old === undefined || now === undefined) return 'now';
  if (!('gates' in now)) return memory.showsGang(key, now);
  if (!('gates' in old) || !hasOnlyLostGates(old, now)) return 'now';
  return isGated(now) ? 'soon' : memory.showsReleased(key, now.uid);
}

function hasOnlyLostGates(old: PodRecord, now: PodRecord): boolean {
  if (now.gates.length >= old.gates.length) return false;
  for (const field of Object.keys(now) as (keyof PodRecord)[]) {
    if (field !== 'gates' && field !== 'resourceVersion' && old[field] !== now[field]) return false;
  }
  return true;
}

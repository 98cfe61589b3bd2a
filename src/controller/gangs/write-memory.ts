import { isGated } from '../../gang/plan/census.ts';
import type { GangRecord, GangState, PodRecord } from '../../gang/records.ts';
import type { ObjectChange } from '../../kube/loop/cache.ts';

/** When a gang is to be judged for something that happened to it: at once, a moment later, or not for this alone. */
export type Urgency = 'now' | 'soon' | 'never';

interface Remembered {
  statusWrittenAt: number | undefined;
  /** The gang as the API server answered our last write of it, until the cache shows that, too. */
  answered: GangRecord | undefined;
  /** The resourceVersions that our writes replaced meanwhile: a cache that has one of them is behind. */
  replaced: readonly string[];
  /** The resourceVersion of an answer by which the gang was judged. */
  judged: string | undefined;
  /** uids of Pods whose gate we took off, until the cache shows it. */
  readonly released: Set<string>;
}

const NONE: readonly string[] = [];

/**
 * What this leader wrote and its caches may not have seen yet. Only saves writes that would fail: everything written is
 * conditional, and with an empty memory (after a restart) all comes out the same.
 */
export class WriteMemory {
  readonly #gangs = new Map<string, Remembered>();

  statusWrittenAt(key: string): number | undefined {
    return this.#gangs.get(key)?.statusWrittenAt;
  }

  /** The newest that is known of a gang: what a cache shows, or what the API server answered to our own write after that. */
  newest(key: string, cached: GangRecord): GangRecord {
    const known = this.#gangs.get(key);
    return (known?.replaced.includes(cached.resourceVersion) === true ? known.answered : undefined) ?? cached;
  }

  /** The gang is being judged by the answer to our last write. */
  judged(key: string): void {
    const known = this.#gangs.get(key);
    if (known !== undefined) known.judged = known.answered?.resourceVersion;
  }

  /** The cache shows the gang like this from now on. @returns when it has to be judged for that */
  showsGang(key: string, { resourceVersion }: Pick<GangRecord, 'resourceVersion'>): Urgency {
    const known = this.#gangs.get(key);
    if (known?.answered === undefined) return 'now';
    if (known.replaced.includes(resourceVersion)) return 'never';
    if (known.answered.resourceVersion !== resourceVersion) return 'now';
    known.answered = undefined;
    known.replaced = NONE;
    return known.judged === resourceVersion ? 'never' : 'soon';
  }

  /** The cache shows this Pod without our gate from now on. @returns when its gang has to be judged for that */
  showsReleased(key: string, uid: string): Urgency {
    const released = this.#gangs.get(key)?.released;
    if (released?.delete(uid) !== true) return 'soon';
    return released.size === 0 ? 'now' : 'never';
  }

  isReleased(key: string, uid: string): boolean {
    return this.#gangs.get(key)?.released.has(uid) === true;
  }

  /** @param before the resourceVersion that the write was conditional on; the same as after it where nothing changed */
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

  /** Forgets what the caches show by now. @param cached the gang and its Pods, as they show them */
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

/** Delay (ms) of changes that nothing waits for, so that several of them are one reconciliation. */
export const SOON_MS = 50;

/**
 * When a gang is to be judged for a change of it. Most changes are our own writes, as the watch shows them: a gang that was
 * judged by the answer already, and a gate that is off. For these nobody waits, and nothing is left to be done before the
 * last of the gates.
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

import { isGated } from '../../gang/plan/census.ts';
import type { GangRecord, GangState } from '../../gang/records.ts';

interface Remembered {
  statusWrittenAt: number | undefined;
  /** The resourceVersion that our last write of the gang replaced: a cache that still has it is behind. */
  replaced: string | undefined;
  /** uids of Pods whose gate we took off, until the cache shows it. */
  readonly released: Set<string>;
}

/**
 * What this leader wrote and its caches may not have seen yet. Only saves writes that would fail: everything written is
 * conditional, and with an empty memory (after a restart) all comes out the same.
 */
export class WriteMemory {
  readonly #gangs = new Map<string, Remembered>();

  statusWrittenAt(key: string): number | undefined {
    return this.#gangs.get(key)?.statusWrittenAt;
  }

  /** Whether what is known of the gang is older than our own last write. */
  isBehind(key: string, gang: GangRecord | 'missing'): boolean {
    return gang !== 'missing' && this.#gangs.get(key)?.replaced === gang.resourceVersion;
  }

  isReleased(key: string, uid: string): boolean {
    return this.#gangs.get(key)?.released.has(uid) === true;
  }

  /** @param now the resourceVersion after the write; the same as before where nothing changed */
  wrote(key: string, before: string, now: string | undefined): void {
    if (now !== undefined && now !== before) this.#of(key).replaced = before;
  }

  wroteStatus(key: string, at: number): void {
    this.#of(key).statusWrittenAt = at;
  }

  released(key: string, uid: string): void {
    this.#of(key).released.add(uid);
  }

  /** Forgets what the caches show by now. */
  catchUp(key: string, { gang, pods }: Pick<GangState, 'gang' | 'pods'>): void {
    const known = this.#gangs.get(key);
    if (known === undefined) return;
    if (gang === 'missing') {
      this.#gangs.delete(key);
      return;
    }
    if (known.replaced !== gang.resourceVersion) known.replaced = undefined;
    if (known.released.size === 0) return;
    const gated = new Set(pods.filter(isGated).map((pod) => pod.uid));
    for (const uid of known.released) if (!gated.has(uid)) known.released.delete(uid);
  }

  #of(key: string): Remembered {
    let known = this.#gangs.get(key);
    if (known === undefined) {
      known = { statusWrittenAt: undefined, replaced: undefined, released: new Set() };
      this.#gangs.set(key, known);
    }
    return known;
  }
}

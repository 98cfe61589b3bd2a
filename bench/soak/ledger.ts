import { startJudging, isGated, type Judging } from '../../test/cluster/support/gang-judge.ts';
import type { StoredGang, StoredPod, Version } from '../../test/cluster/support/etcd-history.ts';

/** What happened to one gang, in milliseconds of this process's clock. */
interface Account {
  needed: number | undefined;
  readonly there: Set<string>;
  readonly ungated: Set<string>;
  readonly bound: Set<string>;
  readonly ended: Set<string>;
  /** Its PodGang and all of its Pods are stored. */
  completeAt: number | undefined;
  /** The last of them has no gate. */
  releasedAt: number | undefined;
  over: boolean;
}

export interface Release {
  readonly at: number;
  /** From the event of the last object that the gang lacked to the event of the last gate (ms). */
  readonly lagMs: number;
}

/** What must not have happened, each as a sentence. */
export interface Early {
  readonly ungated: readonly string[];
  readonly bound: readonly string[];
  readonly other: readonly string[];
}

/**
 * The record of all gangs by etcd's own writes, in their one order: nothing that Muster says is asked. It holds for gangs
 * whose Pods are all needed and are created once.
 */
export class Ledger {
  readonly #judging: Judging = startJudging();
  readonly #gangs = new Map<string, Account>();
  /** Names of gangs that were taken away: a Pod of theirs may be written once more before it goes. */
  readonly #gone = new Set<string>();
  readonly #bound: string[] = [];
  readonly #ungated: string[] = [];
  readonly #ended: (gang: string) => void;
  readonly releases: Release[] = [];
  released = 0;
  podsEnded = 0;

  /** @param ended is called once all Pods of a gang have ended */
  constructor(ended: (gang: string) => void) {
    this.#ended = ended;
  }

  take(version: Version, at: number): void {
    this.#judging.take(version);
    const { name, object } = version;
    if (version.kind === 'gang') this.#takeGang(name, object as StoredGang | undefined, at);
    else this.#takePod(name, object as StoredPod | undefined, at, version.revision);
  }

  /** Complete, and not released yet: how many, and since when the first of them (ms). */
  waiting(now: number): { readonly gangs: number; readonly longestMs: number } {
    const since = [...this.#gangs.values()].flatMap(({ completeAt, releasedAt }) =>
      completeAt !== undefined && releasedAt === undefined ? [completeAt] : [],
    );
    return { gangs: since.length, longestMs: since.length === 0 ? 0 : now - Math.min(...since) };
  }

  /** Gangs that are not over, each with how far it came. */
  stuck(): string[] {
    return [...this.#gangs].map(
      ([gang, { needed = '?', there, ungated, bound, ended }]) =>
        `${gang}: of ${needed} Pods ${there.size} were created, ${ungated.size} ungated, ${bound.size} bound, ${ended.size} ended`,
    );
  }

  early(): Early {
    const { ungatedEarly, initializedTakenBack, referencesLost, foreignLost } =
      this.#judging.verdict().broken;
    return {
      ungated: [...new Set([...ungatedEarly, ...this.#ungated])],
      bound: this.#bound,
      other: [...initializedTakenBack, ...referencesLost, ...foreignLost],
    };
  }

  #account(gang: string): Account {
    const known = this.#gangs.get(gang);
    if (known !== undefined) return known;
    const account: Account = {
      needed: undefined,
      there: new Set(),
      ungated: new Set(),
      bound: new Set(),
      ended: new Set(),
      completeAt: undefined,
      releasedAt: undefined,
      over: false,
    };
    this.#gangs.set(gang, account);
    return account;
  }

  #takeGang(name: string, gang: StoredGang | undefined, at: number): void {
    if (gang === undefined) {
      const account = this.#gangs.get(name);
      if (account?.over !== true) return;
      this.#gangs.delete(name);
      this.#gone.add(name);
      return;
    }
    const account = this.#account(name);
    account.needed ??= gang.spec.podgroups.reduce((sum, { minReplicas }) => sum + minReplicas, 0);
    this.#look(account, at);
  }

  #takePod(name: string, pod: StoredPod | undefined, at: number, revision: number): void {
    const gang = pod?.metadata.labels?.['grove.io/podgang'];
    if (pod === undefined || gang === undefined || pod.metadata.deletionTimestamp !== undefined) return;
    if (this.#gone.has(gang)) return;
    const account = this.#account(gang);
    account.there.add(name);
    const { needed = Infinity } = account;
    if (!isGated(pod) && !account.ungated.has(name)) {
      account.ungated.add(name);
      if (account.there.size < needed)
        this.#ungated.push(`${name} at ${revision}: ${account.there.size} of ${needed} Pods were there`);
    }
    if (pod.spec.nodeName !== undefined && !account.bound.has(name)) {
      account.bound.add(name);
      if (account.ungated.size < needed)
        this.#bound.push(`${name} at ${revision}: ${account.ungated.size} of ${needed} Pods were released`);
    }
    if (pod.status?.phase === 'Succeeded' && !account.ended.has(name)) {
      account.ended.add(name);
      this.podsEnded += 1;
    }
    this.#look(account, at);
    if (account.ended.size < needed || account.over) return;
    account.over = true;
    this.#ended(gang);
  }

  #look(account: Account, at: number): void {
    const { needed = Infinity, there, ungated } = account;
    if (there.size >= needed) account.completeAt ??= at;
    if (ungated.size < needed || account.completeAt === undefined || account.releasedAt !== undefined) return;
    account.releasedAt = at;
    this.released += 1;
    this.releases.push({ at, lagMs: at - account.completeAt });
  }
}

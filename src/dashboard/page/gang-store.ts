import type { GangChanges, GangRow, StaleSince } from '../wire.ts';

/** A row with what sorting and searching compare, made once a change. */
export interface KnownGang extends GangRow {
  readonly key: string;
  readonly state: string;
  readonly order: string;
  readonly words: string;
}

/** What a phase is called where there is no PodGang. */
const MISSING = 'Missing';

/** In the order of the list: what waits is what people look for. */
const STATES = [MISSING, 'Failed', 'Pending', 'Starting', 'Running', 'Succeeded'];

/** All gangs that the server has told of. */
export class GangStore {
  readonly #gangs = new Map<string, KnownGang>();
  #sorted: readonly KnownGang[] = [];
  #dirty = false;
  /** Gangs of which the server has not told yet; undefined before its first message. */
  left: number | undefined;
  stale: StaleSince | null = null;

  apply({ changed, deleted, left, stale }: GangChanges): void {
    for (const row of changed) this.#gangs.set(keyFor(row), known(row));
    for (const gone of deleted) this.#gangs.delete(keyFor(gone));
    this.#dirty ||= changed.length + deleted.length > 0;
    this.left = left;
    this.stale = stale;
  }

  /** After a lost connection the server begins anew, and may not tell of what is gone meanwhile. */
  clear(): void {
    this.#gangs.clear();
    this.#dirty = true;
  }

  get sorted(): readonly KnownGang[] {
    if (this.#dirty)
      this.#sorted = [...this.#gangs.values()].sort((a, b) =>
        a.order < b.order ? -1 : a.order > b.order ? 1 : 0,
      );
    this.#dirty = false;
    return this.#sorted;
  }

  get(namespace: string, name: string): KnownGang | undefined {
    return this.#gangs.get(keyFor({ namespace, name }));
  }

  /** States that some gang has, with their number. */
  counts(): readonly (readonly [state: string, count: number])[] {
    const counts = new Map<string, number>();
    for (const { state } of this.#gangs.values()) counts.set(state, (counts.get(state) ?? 0) + 1);
    return [...counts].sort(([a], [b]) => rank(a) - rank(b));
  }
}

/** Gangs with every word of a search in their name, namespace, workload, scheduler, state or reason. */
export function matching(gangs: readonly KnownGang[], search: string, state: string): readonly KnownGang[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0 && state === '') return gangs;
  return gangs.filter(
    (gang) => (state === '' || gang.state === state) && words.every((word) => gang.words.includes(word)),
  );
}

const keyFor = ({ namespace, name }: Pick<GangRow, 'namespace' | 'name'>): string => `${namespace}/${name}`;

function rank(state: string): number {
  const index = STATES.indexOf(state);
  return index < 0 ? STATES.length : index;
}

function known(row: GangRow): KnownGang {
  const { phase, why, workload, backend } = row;
  const state = phase ?? MISSING;
  const key = keyFor(row);
  return {
    ...row,
    ...{ key, state },
    // Numbers compare by their value: worker-2 is before worker-10.
    order: `${rank(state)} ${key.replaceAll(/\d+/g, (digits) => digits.padStart(20, '0'))}`,
    words: `${key} ${state} ${workload ?? ''} ${backend} ${why}`.toLowerCase(),
  };
}

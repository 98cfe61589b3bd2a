import { ClusterState } from '../../../src/preemption/cluster-state.ts';
import { placeNeeded } from '../../../src/preemption/place.ts';
import type { Preemptor } from '../../../src/preemption/preemptor.ts';
import { slots } from '../../../src/preemption/predicates/node-predicates.ts';
import { fixedPredicates, judgeFor } from '../../../src/preemption/predicates/predicates.ts';
import { kindsOf, speaksOf, type Scope, type Snapshot } from '../../../src/preemption/snapshot.ts';
import {
  confined,
  domainsOf,
  domainsWith,
  overlap,
  type DomainChoice,
} from '../../../src/preemption/topology.ts';
import type { PreemptionUnit } from '../../../src/preemption/units.ts';

/** A domain, and the priority up to which units have to go for it at least. */
interface Listed {
  readonly value: string;
  readonly level: number;
}

/** The cluster as it is; without units and without Pods on their way out where some units are given. */
export function stateWithout(snapshot: Snapshot, gone: readonly PreemptionUnit[] | undefined): ClusterState {
  const state = new ClusterState(snapshot);
  for (const { pods } of gone ?? []) for (const one of pods) state.takeAway(one);
  if (gone !== undefined) for (const one of snapshot.pods) if (one.terminating) state.takeAway(one);
  return state;
}

/**
 * Searches domains as DomainChoices says, but each scope by itself, in states of its own, and with all nodes looked at. It
 * stops at no number of nodes.
 */
export class PlainDomains {
  readonly #preemptor: Preemptor;
  readonly #snapshot: Snapshot;
  readonly #gone: readonly PreemptionUnit[] | undefined;
  readonly #known = new Map<Scope, readonly Listed[]>();

  constructor(preemptor: Preemptor, snapshot: Snapshot, gone: readonly PreemptionUnit[] | undefined) {
    this.#preemptor = preemptor;
    this.#snapshot = snapshot;
    this.#gone = gone;
  }

  /** The domains that are large enough, in the order in which they are tried. */
  listed(scope: Scope): readonly Listed[] {
    return this.#known.getOrInsertComputed(scope, () => this.#list(scope));
  }

  /** The choices, and for each scope the domains that were not tried. */
  for(scopes: readonly Scope[], most: number): { found: DomainChoice[]; left: Listed[][] } {
    const tried = scopes.map(() => new Set<string>());
    let found = this.#search(scopes, { most, early: true, tried });
    if (found.length === 0 && scopes.length > 1) found = this.#search(scopes, { most, early: false, tried });
    const left = scopes.map((scope, at) =>
      this.listed(scope).filter(({ value }) => tried[at]?.has(value) !== true),
    );
    return { found, left };
  }

  #search(
    scopes: readonly Scope[],
    given: { readonly most: number; readonly early: boolean; readonly tried: readonly Set<string>[] },
  ): DomainChoice[] {
    const { most, early, tried } = given;
    const found: DomainChoice[] = [];
    const deeper = (chosen: DomainChoice): void => {
      const scope = scopes[chosen.length];
      if ((scope === undefined || (early && chosen.length > 0)) && !this.#fits(chosen)) return;
      if (scope === undefined) return void found.push(chosen);
      for (const { value } of this.listed(scope)) {
        if (found.length >= most) return;
        tried[chosen.length]?.add(value);
        const meets = (one: DomainChoice[number]): boolean =>
          this.#snapshot.nodes.some(
            ({ labels }) => labels.get(one.scope.key) === one.value && labels.get(scope.key) === value,
          );
        if (chosen.filter((one) => overlap(one.scope, scope)).every(meets))
          deeper([...chosen, { scope, value }]);
      }
    };
    deeper([]);
    return found;
  }

  #fits(choice: DomainChoice): boolean {
    return placeNeeded(confined(this.#preemptor, choice), stateWithout(this.#snapshot, this.#gone)).fits;
  }

  #list(scope: Scope): readonly Listed[] {
    const units = this.#gone ?? [];
    const members = this.#snapshot.pods.filter((one) => this.#preemptor.owns(one) && speaksOf(scope, one));
    const chosen = domainsWith(members, scope.key, new ClusterState(this.#snapshot));
    const wanted = this.#preemptor.minimums
      .filter(({ group = '' }) => this.#podsOf(scope, group).length > 0)
      .reduce((sum, { count }) => sum + count, 0);
    const levels = [-Infinity, ...new Set(units.map(({ priority }) => priority))].sort((a, b) => a - b);
    const rooms = levels.map((level) => {
      const gone = units.filter(({ priority }) => priority <= level);
      return { level, room: this.#takes(scope, this.#gone && gone) };
    });
    const free = ({ value }: Listed): number => rooms[0]?.room.get(value) ?? 0;
    const large = [...(rooms.at(-1)?.room.keys() ?? [])].flatMap((value) => {
      const enough = rooms.find(({ room }) => (room.get(value) ?? 0) >= wanted);
      const allowed = chosen.size === 0 || chosen.has(value);
      return enough === undefined || !allowed ? [] : [{ value, level: enough.level }];
    });
    if (units.length === 0) return large;
    return large.sort((a, b) => (a.level === b.level ? free(b) - free(a) : a.level - b.level));
  }

  /** How many of the scope's Pods that have to start each domain takes, if no others came. */
  #takes(scope: Scope, gone: readonly PreemptionUnit[] | undefined): Map<string, number> {
    const state = stateWithout(this.#snapshot, gone);
    const rooms = domainsOf(scope.key, state).map(({ value, nodes }): [string, number] => {
      let all = 0;
      for (const { group = '', count } of this.#preemptor.minimums) {
        let room = 0;
        for (const kind of kindsOf(this.#podsOf(scope, group))) {
          const judge = judgeFor(kind, state, fixedPredicates);
          for (const one of nodes) if (judge(one) === undefined) room += slots(kind, one, state);
        }
        all += Math.min(count, room);
      }
      return [value, all];
    });
    return new Map(rooms);
  }

  #podsOf(scope: Scope, group: string): Preemptor['pods'] {
    return this.#preemptor.pods.filter((one) => one.group === group && speaksOf(scope, one));
  }
}

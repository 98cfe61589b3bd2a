import type { JsonObject } from '../../../../src/json/json.ts';
import {
  EMPTY_GANG_PLAN,
  referencesPatch,
  statusPatch,
  ungatePatch,
  type GangPlan,
  type Ungate,
} from '../../../../src/gang/plan/gang-plan.ts';
import type {
  BackendState,
  BaseGang,
  GangRecord,
  GangState,
  PodRecord,
} from '../../../../src/gang/records.ts';
import { confirmUngates } from '../../../../src/gang/plan/plan-gates.ts';
import { droppedReferences, takesOutTheLiving } from '../../../../src/gang/plan/plan-references.ts';
import { planGang } from '../../../../src/gang/plan/plan.ts';
import { gangOf, podOf, Refused, revisionOf, type Draft, type Kind, type ModelStore } from './model-store.ts';
import { leavesOut } from './gang-states.ts';

/** The judgement under test, so that a broken one can take its place. */
export interface Judge {
  readonly plan: (state: GangState) => GangPlan;
  readonly confirmUngates: typeof confirmUngates;
  readonly takesOutTheLiving: typeof takesOutTheLiving;
  readonly referencesPatch: (...args: Parameters<typeof referencesPatch>) => readonly unknown[];
  readonly statusPatch: (...args: Parameters<typeof statusPatch>) => unknown;
  readonly ungatePatch: (ungate: Ungate, seen: PodRecord | undefined) => readonly unknown[];
}

export const JUDGE: Judge = {
  plan: planGang,
  confirmUngates,
  takesOutTheLiving,
  referencesPatch,
  statusPatch,
  ungatePatch,
};

/** What a leader does to the store; whoever watches the invariants is told of each before and after. */
export type Write =
  | { readonly kind: 'references'; readonly key: string }
  | { readonly kind: 'status'; readonly key: string }
  | { readonly kind: 'ungate'; readonly key: string };

type Task =
  | { readonly kind: 'references' | 'status'; readonly key: string; readonly plan: GangPlan }
  | {
      readonly kind: 'read-dropped';
      readonly key: string;
      readonly plan: GangPlan;
      readonly gang: GangRecord;
    }
  | { readonly kind: 'confirm'; readonly key: string; readonly ungates: readonly Ungate[] }
  | { readonly kind: 'ungate'; readonly key: string; readonly ungate: Ungate };

/** How an answer can fail to reach the leader. */
export type Mishap = 'none' | 'lost-request' | 'lost-answer' | 'duplicated';

/** One process that runs the loop: two watches at their own speeds, a cache, and what it is in the midst of. */
export class Leader {
  readonly #store: ModelStore;
  readonly #judge: Judge;
  readonly #position: Record<Kind, number> = { gang: 0, pod: 0 };
  /** The store as of `#position`, per kind. */
  readonly #at: Record<Kind, Map<string, JsonObject>> = { gang: new Map(), pod: new Map() };
  /** Answers to own writes, until the watch has caught up with them. */
  readonly #own: Record<Kind, Map<string, JsonObject>> = { gang: new Map(), pod: new Map() };
  /** Keys listed so far; undefined once the lists are complete. */
  #listed: Set<string> | undefined;
  /** Pods for which there is room while not all have it. */
  #kept: Set<string> | undefined;
  readonly #lastStatusWrite = new Map<string, number>();
  tasks: Task[] = [];

  constructor(store: ModelStore, judge: Judge) {
    this.#store = store;
    this.#judge = judge;
    this.restart();
  }

  /** A new process: nothing in memory, its lists taken now and read page by page. */
  restart(): void {
    this.tasks = [];
    this.#lastStatusWrite.clear();
    this.rewind('gang', this.#store.log.length);
    this.rewind('pod', this.#store.log.length);
    this.#listed = new Set();
    this.#kept = undefined;
  }

  /** From now on there is room for these Pods alone: their namespace stands still. */
  cut(keep: (key: string) => boolean): void {
    this.#kept = new Set([...this.#at.pod.keys()].filter(keep));
  }

  whole(): void {
    this.#kept = undefined;
  }

  get synced(): boolean {
    return this.#listed === undefined;
  }

  /** Reads a page of the lists. */
  listPage(take: (key: string) => boolean): void {
    for (const key of this.#at.pod.keys()) if (take(key)) this.#listed?.add(key);
  }

  finishLists(): void {
    this.#listed = undefined;
  }

  get behind(): number {
    const end = this.#store.log.length;
    return Math.max(end - this.#position.gang, end - this.#position.pod);
  }

  /** The next events of one watch. */
  follow(kind: Kind, count: number): void {
    for (let left = count; left > 0 && this.#position[kind] < this.#store.log.length;) {
      const entry = this.#store.log[this.#position[kind]];
      this.#position[kind] += 1;
      if (entry?.kind !== kind) continue;
      left -= 1;
      this.#apply(kind, entry.key, entry.object);
    }
  }

  #apply(kind: Kind, key: string, object: JsonObject | undefined): void {
    if (object === undefined) this.#at[kind].delete(key);
    else this.#at[kind].set(key, object);
    const own = this.#own[kind].get(key);
    if (own !== undefined && (object === undefined || revisionOf(own) <= revisionOf(object))) {
      this.#own[kind].delete(key);
    }
  }

  /** A list from an API server that lags: the cache goes back in time. */
  rewind(kind: Kind, position: number): void {
    this.#at[kind].clear();
    this.#own[kind].clear();
    this.#position[kind] = 0;
    for (const entry of this.#store.log.slice(0, position)) {
      this.#position[kind] += 1;
      if (entry.kind === kind) this.#apply(kind, entry.key, entry.object);
    }
  }

  lagOf(kind: Kind): number {
    return this.#position[kind];
  }

  /** The Pods that the last judgement could have known: its place in the log then, whatever was listed of it. */
  judgedOn: readonly PodRecord[] = [];
  /** The gang that it was about. */
  judgedGang: GangRecord | undefined;
  /** The Pods of the store when the names that a write takes out were read. */
  readBefore: readonly PodRecord[] = [];
  #schedulerName: string | undefined;

  #podsAsOf(): PodRecord[] {
    return [...new Map([...this.#at.pod, ...this.#own.pod]).values()].map(podOf);
  }

  #pods(): PodRecord[] {
    const all = [...new Map([...this.#at.pod, ...this.#own.pod])];
    const [listed, kept] = [this.#listed, this.#kept];
    return all
      .filter(([key]) => (listed?.has(key) ?? true) && (kept?.has(key) ?? true))
      .map(([, pod]) => podOf(pod));
  }

  #gang(key: string): GangRecord | undefined {
    const object = this.#own.gang.get(key) ?? this.#at.gang.get(key);
    return object && gangOf(object);
  }

  stateOf(key: string, backend: BackendState): GangState {
    const [namespace = '', name = ''] = key.split('/');
    const all = this.#pods();
    const pods = all.filter((pod) => pod.gang === name);
    const baseGangs = new Map<string, BaseGang | 'missing'>();
    for (const { baseGang } of pods) {
      if (baseGang === undefined) continue;
      const gang = this.#gang(`${namespace}/${baseGang}`);
      baseGangs.set(
        baseGang,
        gang === undefined
          ? 'missing'
          : {
              gang,
              pods: all.filter((pod) => pod.gang === baseGang),
              schedulerName: backend.schedulerName,
            },
      );
    }
    return {
      synced: this.synced,
      now: this.#store.clock * 1000,
      namespace,
      name,
      gang: this.#gang(key) ?? 'missing',
      pods,
      baseGangs,
      backend,
      notOurs: undefined,
      countsWhatIsLeft: leavesOut(this.#gang(key) ?? 'missing'),
      memoryExceeded: this.#kept && 'there is no room',
      lastStatusWrite: this.#lastStatusWrite.get(key),
    };
  }

  /** Judges one gang and queues what comes of it; carried out task by task, so that anything can come between. */
  reconcile(key: string, backend: BackendState): GangPlan {
    this.judgedOn = this.#podsAsOf();
    this.#schedulerName = backend.schedulerName;
    const state = this.stateOf(key, backend);
    const { gang } = state;
    this.judgedGang = gang === 'missing' ? undefined : gang;
    const next = this.#judge.plan(state);
    this.tasks = [
      ...(next.references === undefined || gang === 'missing'
        ? []
        : [{ kind: 'read-dropped', key, plan: next, gang } as const]),
      ...(next.status === undefined ? [] : [{ kind: 'status', key, plan: next } as const]),
      ...(next.ungate.length === 0 ? [] : [{ kind: 'confirm', key, ungates: next.ungate } as const]),
    ];
    return next;
  }

  /** Carries out the next task. Returns the write that went through, if one did. */
  work(mishap: Mishap, around: (write: Write, run: () => void) => void): boolean {
    const task = this.tasks.shift();
    if (task === undefined || mishap === 'lost-request') return false;
    if (task.kind === 'confirm') {
      const still = this.#judge.confirmUngates(task.ungates, this.#store.gang(task.key));
      const patches = still.map((ungate) => ({ kind: 'ungate', key: task.key, ungate }) as const);
      this.tasks.unshift(...patches);
      return false;
    }
    if (task.kind === 'read-dropped') {
      this.#readDropped(task);
      return false;
    }
    let answer: JsonObject | undefined;
    const write: Write =
      task.kind === 'ungate'
        ? { kind: 'ungate', key: `${task.ungate.namespace}/${task.ungate.pod}` }
        : { kind: task.kind, key: task.key };
    try {
      around(write, () => {
        answer = this.#send(task, write.key);
      });
      if (mishap === 'duplicated') around(write, () => (answer = this.#send(task, write.key)));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
    if (answer !== undefined && mishap !== 'lost-answer') {
      this.#own[task.kind === 'ungate' ? 'pod' : 'gang'].set(write.key, answer);
    }
    return answer !== undefined;
  }

  /** Reads the Pods whose names go; the write follows where none of them lives. */
  #readDropped({ key, plan: next, gang }: Extract<Task, { kind: 'read-dropped' }>): void {
    this.readBefore = this.#store.pods();
    const dropped = next.references === undefined ? [] : droppedReferences(gang, next.references);
    const pods = this.readBefore.filter(
      (pod) => pod.namespace === gang.namespace && dropped.some((reference) => reference.pod === pod.name),
    );
    if (this.#judge.takesOutTheLiving(gang, this.#schedulerName, dropped, pods)) return;
    this.tasks.unshift({ kind: 'references', key, plan: next });
  }

  #send(task: Exclude<Task, { kind: 'confirm' | 'read-dropped' }>, key: string): JsonObject {
    if (task.kind === 'ungate') {
      const seen = this.#own.pod.get(key) ?? this.#at.pod.get(key);
      const patch = this.#judge.ungatePatch(task.ungate, seen && podOf(seen));
      return this.#store.jsonPatch('pod', key, patch);
    }
    const { references, status } = task.plan ?? EMPTY_GANG_PLAN;
    if (task.kind === 'references' && references !== undefined) {
      return this.#store.jsonPatch('gang', key, this.#judge.referencesPatch(references));
    }
    if (task.kind === 'status' && status !== undefined) {
      const answer = this.#store.mergeStatus(key, this.#judge.statusPatch(status) as Partial<Draft>);
      this.#lastStatusWrite.set(key, this.#store.clock * 1000);
      return answer;
    }
    throw new Refused('nothing to send');
  }
}

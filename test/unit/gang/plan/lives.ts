import { planMadeGang } from '../../../../src/controller/workloads/plan-made-gang.ts';
import type { StatusWrite } from '../../../../src/gang/plan/gang-plan.ts';
import type { GangRecord, GangState, PodRecord, ReleaseOrder } from '../../../../src/gang/records.ts';
import { planGang as rightPlan } from '../../../../src/gang/plan/plan.ts';
import type { Random } from '../../../support/random.ts';
import {
  eachGroupHasItsOwn,
  minimumsOf,
  hasEnded,
  isBound,
  isForeign,
  isGated,
  isLive,
  SCHEDULER,
  works,
  World,
  type Kind,
} from './world.ts';
import { leavesOut } from './gang-states.ts';

/** Something that must never be in the life of a gang. */
export class Wrong extends Error {}

/**
 * Whether the scheduler goes by the gang's one count, by the minimum of each group while it tries none of a gang with a
 * gated Pod, or by Pods alone.
 */
export type Scheduler = 'native' | 'composite' | 'alone';

const isInitialized = ({ conditions }: Pick<GangRecord, 'conditions'>): boolean =>
  conditions.some(({ type, status }) => type === 'Initialized' && status === 'True');

/** A gang with its workload, its scheduler, its kubelets and Muster, a step at a time. */
export class Life extends World {
  readonly #scheduler: Scheduler;
  readonly #plan: typeof rightPlan;
  /** What the scheduler was told. */
  #count: number;
  #minimums: ReadonlyMap<string, number> = new Map();
  /** By uid: the minimum of each group that had to be bound together with the Pod. */
  readonly #begun = new Map<
    string,
    { readonly minimums: Readonly<Record<string, number>>; bound: boolean }
  >();
  /** Generations that were released. */
  generations = 0;
  /** Pods that were bound. */
  bound = 0;

  constructor(random: Random, kind: Kind, scheduler: Scheduler, judge = rightPlan) {
    super(random, kind);
    this.#scheduler = scheduler;
    this.#plan = judge;
    this.#count = this.#total;
    this.#minimums = minimumsOf(this.gang);
  }

  get #total(): number {
    return this.gang.spec.groups.reduce((sum, { minReplicas }) => sum + minReplicas, 0);
  }

  /** Muster's part that follows the workload. */
  maker(): boolean {
    if (this.kind.kind === 'written') return false;
    const groups = Object.entries(this.wanted).map(([name, replicas]) => ({
      ...{ name, replicas, minReplicas: replicas, left: Math.min(replicas, this.left) },
    }));
    const numbers = {
      groups,
      suspended: false,
      asked: { whole: true, parts: [], numbered: 0 },
      ended: undefined,
    };
    const { namespace, name } = this.gang;
    const record = { namespace, name: 'train', uid: 'w', resourceVersion: '1', version: 'v1', numbers };
    // The gang of a test is called as no workload would have it called.
    const pods = this.pods.map((one) => ({ ...one, gang: `${this.kind.kind}-train` }));
    const made = { ...this.gang, name: `${this.kind.kind}-train` };
    const deed = planMadeGang({ namespace, name: made.name, gang: made, pods, workload: () => record });
    if (deed.do === 'delete') throw new Wrong(`${name} would be deleted: ${deed.why}`);
    if (deed.do !== 'change') return false;
    const next = this.gang.spec.groups.map((one, index) => ({
      ...one,
      minReplicas: deed.change.minimums.get(index) ?? one.minReplicas,
    }));
    const annotations = new Map(this.gang.annotations);
    for (const [key, value] of Object.entries(deed.change.annotations))
      if (value === null) annotations.delete(key);
      else annotations.set(key, value);
    this.write({ spec: { ...this.gang.spec, groups: next }, annotations });
    // Its scheduler may go by any minimum that the gang has had since its Pods were let go.
    for (const [uid, { minimums, bound }] of this.#begun) {
      const least = next.map(
        (one) => [one.name, Math.min(one.minReplicas, minimums[one.name] ?? 0)] as const,
      );
      this.#begun.set(uid, { minimums: Object.fromEntries(least), bound });
    }
    return true;
  }

  /** Muster's part that tells the scheduler. */
  sync(): boolean {
    const told = this.#count !== this.#total;
    this.#count = this.#total;
    this.#minimums = minimumsOf(this.gang);
    return told;
  }

  get #order(): ReleaseOrder {
    if (this.#scheduler === 'composite') return 'optional-groups-last';
    return Object.keys(this.wanted).length > 1 ? 'minimum-first' : 'all-at-once';
  }

  get state(): GangState {
    return {
      synced: true,
      now: 1_800_000_000_000,
      namespace: this.gang.namespace,
      name: this.gang.name,
      gang: this.gang,
      pods: this.pods,
      baseGangs: new Map(),
      backend: {
        name: 'default-scheduler',
        schedulerName: SCHEDULER,
        ready: true,
        objectsExist: this.#count === this.#total,
        releaseOrder: this.#order,
        countsEnding: this.#scheduler !== 'alone',
      },
      notOurs: undefined,
      countsWhatIsLeft: leavesOut(this.gang),
      lastStatusWrite: undefined,
    };
  }

  /** The loop judges, and does as much of it as it comes to: it may be killed after any write. */
  loop(killed: boolean): boolean {
    const { state } = this;
    const todo = this.#plan(state);
    const why = todo.summary?.why ?? '';
    const stuck = this.pods.filter(
      (one) => works(one) && !isBound(one) && !todo.ungate.some(({ uid }) => uid === one.uid),
    );
    if (stuck.length > 0 && why === '') throw new Wrong(`${stuck[0]?.name ?? ''} waits without a word`);
    const before = this.version;
    const order =
      this.random.chance(50) && killed
        ? todo.ungate.slice(0, this.random.below(todo.ungate.length + 1))
        : todo.ungate;
    this.#release(order.map(({ uid }) => uid));
    if (killed && this.random.chance(50)) return true;
    if (todo.references !== undefined) {
      const groups = this.gang.spec.groups.map((one, index) => ({
        ...one,
        podReferences:
          todo.references?.groups.find((found) => found.index === index)?.references ?? one.podReferences,
      }));
      this.write({ spec: { ...this.gang.spec, groups } });
    } else if (todo.status !== undefined) {
      this.#writeStatus(todo.status);
    }
    return before !== this.version || order.length > 0;
  }

  /** Initialized is given once, to a gang that names as many Pods as each group is to have. */
  #writeStatus({ conditions, phase }: StatusWrite): void {
    const [was, is] = [isInitialized(this.gang), isInitialized({ conditions })];
    if (was && !is) throw new Wrong('Initialized went back');
    for (const { name, minReplicas, podReferences = [] } of this.gang.spec.groups)
      if (!was && is && podReferences.length < minReplicas)
        throw new Wrong(`Initialized without Pods of ${name}`);
    this.write({ conditions, phase });
  }

  /** Gates come off: of the generation that runs, or of a whole one. */
  #release(uids: readonly string[]): void {
    if (uids.length === 0) return;
    if (!isInitialized(this.gang)) throw new Wrong('Pods are let go before their gang is Initialized');
    const running = this.pods.filter((one) => works(one) && !isGated(one) && !isForeign(one));
    if (running.length === 0) {
      this.generations += 1;
      for (const { name, minReplicas, podReferences = [] } of this.gang.spec.groups) {
        const named = new Set(podReferences.map((reference) => reference.name));
        const whole = this.pods.filter(
          (one) => one.group === name && works(one) && named.has(one.name),
        ).length;
        if (whole < minReplicas)
          throw new Wrong(`a generation with ${whole} of ${minReplicas} of ${name} is let go`);
      }
      if (
        this.#scheduler !== 'alone' &&
        this.pods.some((one) => !isLive(one) && isBound(one) && !hasEnded(one))
      )
        throw new Wrong('a generation is let go while its scheduler counts Pods of the one before');
    }
    const minimums = Object.fromEntries(this.gang.spec.groups.map((one) => [one.name, one.minReplicas]));
    for (const uid of uids) {
      const one = this.pods.find((found) => found.uid === uid);
      if (one === undefined) continue;
      if (isForeign(one)) throw new Wrong(`${one.name} of another scheduler is let go`);
      const named = this.gang.spec.groups.find(({ name }) => name === one.group)?.podReferences ?? [];
      if (!named.some(({ name }) => name === one.name))
        throw new Wrong(`${one.name} is let go and not named`);
      this.change(uid, { gates: [] });
      if (running.length === 0) this.#begun.set(uid, { minimums, bound: false });
    }
  }

  /** A try of the scheduler: Kubernetes' own counts the Pods that have a node until they are gone or have ended. */
  schedule(): boolean {
    const waiting = this.pods.filter((one) => works(one) && !isBound(one) && !isGated(one));
    const on = this.pods.filter((one) => isBound(one) && !hasEnded(one));
    const fit = waiting.slice(0, Math.max(0, this.room - on.length));
    if (fit.length === 0 || (this.#scheduler === 'native' && on.length + fit.length < this.#count))
      return false;
    if (this.#scheduler === 'composite' && !eachGroupHasItsOwn(this.pods, [...on, ...fit], this.#minimums))
      return false;
    for (const { uid } of fit) this.change(uid, { nodeName: 'node-1' });
    this.bound += fit.length;
    if (this.#scheduler !== 'alone') this.#isWhole(fit);
    return true;
  }

  /** The first Pods of a generation have their nodes together with all that start with them. */
  #isWhole(fit: readonly PodRecord[]): void {
    const first = fit.map(({ uid }) => this.#begun.get(uid)).find((one) => one?.bound === false);
    for (const { uid } of fit) {
      const one = this.#begun.get(uid);
      if (one !== undefined) this.#begun.set(uid, { ...one, bound: true });
    }
    const others = this.pods.some(
      (one) => isBound(one) && works(one) && !fit.some(({ uid }) => uid === one.uid),
    );
    if (first === undefined || others) return;
    for (const { name, minReplicas } of this.gang.spec.groups) {
      const minimum = Math.min(minReplicas, first.minimums[name] ?? 0);
      const there = fit.filter((one) => one.group === name).length;
      if (there < minimum) throw new Wrong(`${there} of ${minimum} of ${name} start`);
    }
  }

  /** All goes well from now on: whatever is to run gets there. */
  comeToRest(): void {
    this.room = 1000;
    this.calm = true;
    this.pods = this.pods.filter((one) => !isForeign(one));
    for (let round = 0; round < 500; round += 1) {
      const moved = [
        ...[this.control(), this.maker(), this.sync(), this.loop(false)],
        ...[this.schedule(), this.gone(), this.kubelet()],
      ].some(Boolean);
      if (!moved) break;
    }
    const stuck = this.pods.find((one) => works(one) && !isBound(one));
    if (stuck !== undefined)
      throw new Wrong(`${stuck.name} never runs: ${rightPlan(this.state).summary?.why ?? ''} ${this.#count}`);
    if (this.kind.completions !== undefined && !this.done) throw new Wrong('the Job is not done');
  }
}

import { planMadeGang } from '../../../src/controller/workloads/plan-made-gang.ts';
import { GATE_POD_GANG_PENDING as GATE } from '../../../src/api/names.ts';
import type { StatusWrite } from '../../../src/gang/plan/gang-plan.ts';
import type { GangRecord, GangState, PodRecord } from '../../../src/gang/records.ts';
import { plan as rightPlan } from '../../../src/gang/plan/plan.ts';
import type { Random } from '../../support/random.ts';
import { gang, group, pod } from './gang-states.ts';

/** Something that must never be in the life of a gang. */
export class Wrong extends Error {}

/** What a gang is of. */
export interface Kind {
  readonly kind: 'job' | 'statefulset' | 'written';
  /** Pods of each group that are there at a time. */
  readonly groups: Readonly<Record<string, number>>;
  /** Of a Job: how many Pods are to succeed. */
  readonly completions?: number;
}

/** Whether the scheduler goes by the gang's count, or by Pods alone. */
export type Scheduler = 'native' | 'alone';

const isLive = (one: PodRecord): boolean => one.deletionTimestamp === undefined;
const hasEnded = ({ phase }: PodRecord): boolean => phase === 'Succeeded' || phase === 'Failed';
const isGated = ({ gates }: PodRecord): boolean => gates.includes(GATE);
const isBound = ({ nodeName }: PodRecord): boolean => nodeName !== '';
const SCHEDULER = 'default-scheduler';
const isForeign = ({ schedulerName }: PodRecord): boolean => schedulerName !== SCHEDULER;
const works = (one: PodRecord): boolean => isLive(one) && !hasEnded(one);
const isInitialized = ({ conditions }: Pick<GangRecord, 'conditions'>): boolean =>
  conditions.some(({ type, status }) => type === 'Initialized' && status === 'True');
const controller = { apiVersion: 'v1', kind: 'Any', name: 'train', uid: 'w' };

/** A gang with its workload, its scheduler, its kubelets and Muster, a step at a time. */
export class Life {
  readonly #random: Random;
  readonly #kind: Kind;
  readonly #scheduler: Scheduler;
  readonly #plan: typeof rightPlan;
  #wanted: Record<string, number>;
  #gang: GangRecord;
  #pods: PodRecord[] = [];
  #made = 0;
  #version = 1;
  /** What its controller has counted of a Job. */
  #succeeded = 0;
  /** What the scheduler was told. */
  #count: number;
  /** Nodes that are left. */
  room = 0;
  /** By uid: the minimum of each group that had to be bound together with the Pod. */
  readonly #begun = new Map<
    string,
    { readonly minimums: Readonly<Record<string, number>>; bound: boolean }
  >();
  /** Nothing goes wrong any more. */
  calm = false;
  /** Generations that were released. */
  generations = 0;
  /** Pods that were bound. */
  bound = 0;

  constructor(random: Random, kind: Kind, scheduler: Scheduler, judge = rightPlan) {
    this.#random = random;
    this.#kind = kind;
    this.#scheduler = scheduler;
    this.#plan = judge;
    this.#wanted = { ...kind.groups };
    this.#gang = gang({
      groups: Object.entries(kind.groups).map(([name, count]) => group(name, count)),
      annotations: new Map(kind.kind === 'written' ? [] : [['muster.dev/workload', `${kind.kind}/train`]]),
    });
    this.#count = this.#total;
  }

  get #total(): number {
    return this.#gang.spec.groups.reduce((sum, { minReplicas }) => sum + minReplicas, 0);
  }

  get #left(): number {
    return (this.#kind.completions ?? Infinity) - this.#succeeded;
  }

  get done(): boolean {
    return this.#left === 0;
  }

  #change(uid: string, parts: Partial<PodRecord>): void {
    this.#pods = this.#pods.map((one) => (one.uid === uid ? { ...one, ...parts } : one));
  }

  #write(parts: Partial<GangRecord>): void {
    this.#version += 1;
    this.#gang = { ...this.#gang, ...parts, resourceVersion: String(this.#version) };
  }

  #pick(which: (one: PodRecord) => boolean): PodRecord | undefined {
    const found = this.#pods.filter(which);
    return found[this.#random.below(Math.max(1, found.length))];
  }

  /** The workload's controller makes one Pod that is missing, or counts what has succeeded. */
  control(): boolean {
    const succeeded = this.#pods.filter(({ phase }) => phase === 'Succeeded').length;
    if (this.#kind.completions !== undefined && succeeded > this.#succeeded) {
      this.#succeeded = Math.min(succeeded, this.#kind.completions);
      return true;
    }
    for (const [name, wanted] of Object.entries(this.#wanted)) {
      const active = this.#pods.filter((one) => one.group === name && works(one));
      if (active.length > wanted) {
        this.#end(active.at(-1)?.uid ?? '');
        return true;
      }
      if (active.length >= Math.min(wanted, this.#left)) continue;
      this.#made += 1;
      const at = `${name}-${this.#made}`;
      const origin = {
        kind: this.#kind.kind,
        name: 'train',
        uid: 'w',
        part: undefined,
        size: undefined,
        controller,
      };
      this.#pods.push(
        pod(at, {
          creationTimestamp: new Date(1_800_000_000_000 + this.#made * 1000).toISOString(),
          schedulerName: !this.calm && this.#random.chance(3) ? 'kai-scheduler' : SCHEDULER,
          ...(this.#kind.kind !== 'written' && { origin }),
        }),
      );
      return true;
    }
    return false;
  }

  /** What is gated, or has no node, is gone at once. */
  #end(uid: string): void {
    const one = this.#pods.find((found) => found.uid === uid);
    if (one !== undefined && isBound(one) && !hasEnded(one)) this.#change(uid, { deletionTimestamp: 'now' });
    else this.#pods = this.#pods.filter((found) => found.uid !== uid);
  }

  /** A Pod runs, ends, is lost, or all of them are. */
  suffer(): void {
    const dice = this.#random.below(10);
    const any = this.#pick(works);
    if (dice === 0) for (const { uid } of this.#pods.filter(isLive)) this.#end(uid);
    else if (dice === 1 && any !== undefined) this.#end(any.uid);
    else if (dice === 2 && any !== undefined && isBound(any))
      this.#change(any.uid, { phase: 'Failed', ready: false });
    else if (dice === 3 && this.#kind.kind === 'job')
      // At the same time, as Pods of one program end.
      for (const { uid } of this.#pods.filter((one) => works(one) && isBound(one))) this.#succeed(uid);
    else if (dice < 6 && any !== undefined && this.#kind.kind === 'job' && isBound(any))
      this.#succeed(any.uid);
    else if (dice === 6 && this.#kind.kind === 'statefulset')
      this.#wanted = { main: 1 + this.#random.below(5) };
    else if (dice === 7) this.room = Math.max(0, this.room + this.#random.below(7) - 3);
    else this.gone();
  }

  #succeed(uid: string): void {
    this.#change(uid, { phase: 'Succeeded', ready: false });
  }

  /** A Pod that was on its way out is gone. */
  gone(): boolean {
    const leaving = this.#pick((one) => !isLive(one));
    this.#pods = this.#pods.filter((one) => one !== leaving);
    return leaving !== undefined;
  }

  /** What runs does its work. */
  kubelet(): boolean {
    const one = this.#pick(
      (found) => works(found) && isBound(found) && (found.phase !== 'Running' || this.#kind.kind === 'job'),
    );
    if (one === undefined) return false;
    if (one.phase !== 'Running') this.#change(one.uid, { phase: 'Running', ready: true });
    else this.#succeed(one.uid);
    return true;
  }

  /** Muster's part that follows the workload. */
  maker(): boolean {
    if (this.#kind.kind === 'written') return false;
    const groups = Object.entries(this.#wanted).map(([name, replicas]) => ({
      ...{ name, replicas, minReplicas: replicas, left: Math.min(replicas, this.#left) },
    }));
    const numbers = {
      groups,
      suspended: false,
      asked: { whole: true, parts: [], numbered: 0 },
      ended: undefined,
    };
    const { namespace, name } = this.#gang;
    const record = { namespace, name: 'train', uid: 'w', resourceVersion: '1', version: 'v1', numbers };
    // The gang of a test is called as no workload would have it called.
    const pods = this.#pods.map((one) => ({ ...one, gang: `${this.#kind.kind}-train` }));
    const made = { ...this.#gang, name: `${this.#kind.kind}-train` };
    const deed = planMadeGang({ namespace, name: made.name, gang: made, pods, workload: () => record });
    if (deed.do === 'delete') throw new Wrong(`${name} would be deleted: ${deed.why}`);
    if (deed.do !== 'change') return false;
    const next = this.#gang.spec.groups.map((one, index) => ({
      ...one,
      minReplicas: deed.change.minimums.get(index) ?? one.minReplicas,
    }));
    const annotations = new Map(this.#gang.annotations);
    for (const [key, value] of Object.entries(deed.change.annotations))
      if (value === null) annotations.delete(key);
      else annotations.set(key, value);
    this.#write({ spec: { ...this.#gang.spec, groups: next }, annotations });
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
    return told;
  }

  get state(): GangState {
    return {
      synced: true,
      now: 1_800_000_000_000,
      namespace: this.#gang.namespace,
      name: this.#gang.name,
      gang: this.#gang,
      pods: this.#pods,
      baseGangs: new Map(),
      backend: {
        name: 'default-scheduler',
        schedulerName: SCHEDULER,
        ready: true,
        objectsExist: this.#count === this.#total,
        releaseOrder: Object.keys(this.#wanted).length > 1 ? 'minimum-first' : 'all-at-once',
        countsEnding: this.#scheduler === 'native',
      },
      notOurs: undefined,
      lastStatusWrite: undefined,
    };
  }

  /** The loop judges, and does as much of it as it comes to: it may be killed after any write. */
  loop(killed: boolean): boolean {
    const { state } = this;
    const todo = this.#plan(state);
    const why = todo.summary?.why ?? '';
    const stuck = this.#pods.filter(
      (one) => works(one) && !isBound(one) && !todo.ungate.some(({ uid }) => uid === one.uid),
    );
    if (stuck.length > 0 && why === '') throw new Wrong(`${stuck[0]?.name ?? ''} waits without a word`);
    const before = this.#version;
    const order =
      this.#random.chance(50) && killed
        ? todo.ungate.slice(0, this.#random.below(todo.ungate.length + 1))
        : todo.ungate;
    this.#release(order.map(({ uid }) => uid));
    if (killed && this.#random.chance(50)) return true;
    if (todo.references !== undefined) {
      const groups = this.#gang.spec.groups.map((one, index) => ({
        ...one,
        podReferences:
          todo.references?.groups.find((found) => found.index === index)?.references ?? one.podReferences,
      }));
      this.#write({ spec: { ...this.#gang.spec, groups } });
    } else if (todo.status !== undefined) {
      this.#writeStatus(todo.status);
    }
    return before !== this.#version || order.length > 0;
  }

  /** Initialized is given once, to a gang that names as many Pods as each group is to have. */
  #writeStatus({ conditions, phase }: StatusWrite): void {
    const [was, is] = [isInitialized(this.#gang), isInitialized({ conditions })];
    if (was && !is) throw new Wrong('Initialized went back');
    for (const { name, minReplicas, podReferences = [] } of this.#gang.spec.groups)
      if (!was && is && podReferences.length < minReplicas)
        throw new Wrong(`Initialized without Pods of ${name}`);
    this.#write({ conditions, phase });
  }

  /** Gates come off: of the generation that runs, or of a whole one. */
  #release(uids: readonly string[]): void {
    if (uids.length === 0) return;
    if (!isInitialized(this.#gang)) throw new Wrong('Pods are let go before their gang is Initialized');
    const running = this.#pods.filter((one) => works(one) && !isGated(one) && !isForeign(one));
    if (running.length === 0) {
      this.generations += 1;
      for (const { name, minReplicas, podReferences = [] } of this.#gang.spec.groups) {
        const named = new Set(podReferences.map((reference) => reference.name));
        const whole = this.#pods.filter(
          (one) => one.group === name && works(one) && named.has(one.name),
        ).length;
        if (whole < minReplicas)
          throw new Wrong(`a generation with ${whole} of ${minReplicas} of ${name} is let go`);
      }
      if (
        this.#scheduler === 'native' &&
        this.#pods.some((one) => !isLive(one) && isBound(one) && !hasEnded(one))
      )
        throw new Wrong('a generation is let go while its scheduler counts Pods of the one before');
    }
    const minimums = Object.fromEntries(this.#gang.spec.groups.map((one) => [one.name, one.minReplicas]));
    for (const uid of uids) {
      const one = this.#pods.find((found) => found.uid === uid);
      if (one === undefined) continue;
      if (isForeign(one)) throw new Wrong(`${one.name} of another scheduler is let go`);
      const named = this.#gang.spec.groups.find(({ name }) => name === one.group)?.podReferences ?? [];
      if (!named.some(({ name }) => name === one.name))
        throw new Wrong(`${one.name} is let go and not named`);
      this.#change(uid, { gates: [] });
      if (running.length === 0) this.#begun.set(uid, { minimums, bound: false });
    }
  }

  /** A try of the scheduler: Kubernetes' own counts the Pods that have a node until they are gone or have ended. */
  schedule(): boolean {
    const waiting = this.#pods.filter((one) => works(one) && !isBound(one) && !isGated(one));
    const on = this.#pods.filter((one) => isBound(one) && !hasEnded(one));
    const fit = waiting.slice(0, Math.max(0, this.room - on.length));
    if (fit.length === 0 || (this.#scheduler === 'native' && on.length + fit.length < this.#count))
      return false;
    for (const { uid } of fit) this.#change(uid, { nodeName: 'node-1' });
    this.bound += fit.length;
    if (this.#scheduler === 'native') this.#isWhole(fit);
    return true;
  }

  /** The first Pods of a generation have their nodes together with all that start with them. */
  #isWhole(fit: readonly PodRecord[]): void {
    const first = fit.map(({ uid }) => this.#begun.get(uid)).find((one) => one?.bound === false);
    for (const { uid } of fit) {
      const one = this.#begun.get(uid);
      if (one !== undefined) this.#begun.set(uid, { ...one, bound: true });
    }
    const others = this.#pods.some(
      (one) => isBound(one) && works(one) && !fit.some(({ uid }) => uid === one.uid),
    );
    if (first === undefined || others) return;
    for (const { name, minReplicas } of this.#gang.spec.groups) {
      const minimum = Math.min(minReplicas, first.minimums[name] ?? 0);
      const there = fit.filter((one) => one.group === name).length;
      if (there < minimum) throw new Wrong(`${there} of ${minimum} of ${name} start`);
    }
  }

  /** All goes well from now on: whatever is to run gets there. */
  comeToRest(): void {
    this.room = 1000;
    this.calm = true;
    this.#pods = this.#pods.filter((one) => !isForeign(one));
    for (let round = 0; round < 500; round += 1) {
      const moved = [
        ...[this.control(), this.maker(), this.sync(), this.loop(false)],
        ...[this.schedule(), this.gone(), this.kubelet()],
      ].some(Boolean);
      if (!moved) break;
    }
    const stuck = this.#pods.find((one) => works(one) && !isBound(one));
    if (stuck !== undefined)
      throw new Wrong(`${stuck.name} never runs: ${rightPlan(this.state).summary?.why ?? ''} ${this.#count}`);
    if (this.#kind.completions !== undefined && !this.done) throw new Wrong('the Job is not done');
  }
}

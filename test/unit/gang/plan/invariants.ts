import { isDeepStrictEqual } from 'node:util';
import { GATE_POD_GANG_PENDING as GATE } from '../../../../src/api/names.ts';
import { CONDITION_REASONS } from '../../../../src/gang/plan/conditions.ts';
import type { GangRecord, PodRecord, ReleaseOrder } from '../../../../src/gang/records.ts';
import type { JsonObject } from '../../../../src/json/json.ts';
import type { Leader, Write } from './model-leader.ts';
import { draftOf, gangOf, podOf, type Draft, type ModelStore } from './model-store.ts';

/** An invariant of DESIGN.md that does not hold. */
export class Broken extends Error {
  readonly invariant: string;

  constructor(invariant: string, message: string) {
    super(`${invariant}: ${message}`);
    this.invariant = invariant;
  }
}

const OURS = new Set(['Initialized', 'Scheduled', 'Ready', 'Unhealthy', 'PodsNotMatchingPriority']);
const initialized = (gang: GangRecord | undefined): boolean =>
  gang?.conditions.find((condition) => condition.type === 'Initialized')?.status === 'True';
const names = (gang: GangRecord, pod: PodRecord): boolean =>
  gang.spec.groups.some(
    (group) =>
      group.name === pod.group && group.podReferences?.some((reference) => reference.name === pod.name),
  );

/**
 * The invariants, judged from the store alone with code of its own: nothing of `src/gang` but the readers of JSON.
 * `stepped` is called after every step of a history, `around` for every write of the loop.
 */
export class Invariants {
  readonly #store: ModelStore;
  readonly #scheduler: string;
  /** uid/gang/group of Pods that an Initialized gang has named while they existed. */
  readonly #justified = new Set<string>();
  /** Gangs (by uid) that were Initialized once. */
  readonly #initialized = new Set<string>();
  /** Keys of gangs that were scheduled at some moment, and their uids. */
  readonly #scheduled = new Set<string>();
  /** Pods that somebody else un-gated or relabelled: not ours to answer for. */
  readonly excused = new Set<string>();
  /** Checked only where one leader alone sees the answers to its writes. */
  releaseOrder: ReleaseOrder | undefined;
  writes = { references: 0, status: 0, ungate: 0 };

  /** @param scheduler the scheduler of every gang's backend */
  constructor(store: ModelStore, scheduler: string) {
    this.#store = store;
    this.#scheduler = scheduler;
  }

  stepped(): void {
    const pods = this.#store.pods();
    for (const [key, object] of this.#store.objects.gang) {
      const gang = gangOf(object);
      if (initialized(gang)) this.#initialized.add(gang.uid);
      else if (this.#initialized.has(gang.uid))
        throw new Broken('I2', `${key} was Initialized and is no more`);
      if (scheduled(gang, pods.filter(this.#isPlaced))) this.#scheduled.add(key).add(gang.uid);
    }
    for (const pod of pods) {
      const gang = this.#store.gang(`${pod.namespace}/${pod.gang}`);
      if (gang !== undefined && initialized(gang) && names(gang, pod)) {
        this.#justified.add(`${pod.uid}/${pod.gang}/${pod.group}`);
      }
      if (pod.gates.includes(GATE) || this.excused.has(pod.uid)) continue;
      if (!this.#justified.has(`${pod.uid}/${pod.gang}/${pod.group}`)) {
        throw new Broken('I1', `${pod.name} runs free without an Initialized gang that names it`);
      }
    }
  }

  /** One write of the loop. */
  around(leader: Leader, write: Write, run: () => void): void {
    const kind = write.kind === 'ungate' ? 'pod' : 'gang';
    const before = this.#store.objects[kind].get(write.key);
    run();
    const after = this.#store.objects[kind].get(write.key);
    if (before === undefined || after === undefined)
      throw new Broken('I9', 'a write made or unmade an object');
    this.writes[write.kind] += 1;
    if (write.kind === 'ungate') this.#ungated(leader, before, after);
    else this.#gangWritten(leader, write.kind, before, after);
  }

  readonly #isPlaced = (pod: PodRecord): boolean => pod.schedulerName === this.#scheduler;

  #ungated(leader: Leader, before: JsonObject, after: JsonObject): void {
    const [old, pod] = [podOf(before), podOf(after)];
    const rest = old.gates.filter((gate) => gate !== GATE);
    if (!isDeepStrictEqual(pod.gates, rest)) {
      throw new Broken('I4', `gates of ${pod.name}: ${old.gates.join()} became ${pod.gates.join()}`);
    }
    const bare = (object: Draft): unknown => ({
      ...object,
      metadata: { ...object.metadata, resourceVersion: '', generation: 0 },
      spec: { ...object.spec, schedulingGates: [] },
    });
    if (!isDeepStrictEqual(bare(draftOf(before)), bare(draftOf(after)))) {
      throw new Broken('I4', `more than the gate changed in ${pod.name}`);
    }
    if (old.gates.length === pod.gates.length) throw new Broken('I9', `nothing changed in ${pod.name}`);
    if (pod.baseGang !== undefined && !this.#scheduled.has(`${pod.namespace}/${pod.baseGang}`)) {
      throw new Broken('base gang', `${pod.name} was released before ${pod.baseGang} was scheduled`);
    }
    this.#inOrder(pod);
    this.#toOneScheduler(leader, pod);
  }

  /** No Pod of another scheduler, and no other Pod while such Pods stand where the minimum of a group should. */
  #toOneScheduler(leader: Leader, released: PodRecord): void {
    if (!this.#isPlaced(released)) throw new Broken('I11', `${released.name} is of another scheduler`);
    const gang = leader.judgedGang;
    for (const group of gang?.spec.groups ?? []) {
      const all = members(gang as GangRecord, group.name, leader.judgedOn);
      const placed = all.filter((pod) => this.#isPlaced(pod) && pod.phase !== 'Failed');
      if (all.every(this.#isPlaced) || placed.length >= group.minReplicas) continue;
      const foreign = all.find((pod) => !this.#isPlaced(pod))?.name ?? '';
      throw new Broken(
        'I11',
        `${released.name} was released beside ${foreign}, which is of another scheduler`,
      );
    }
  }

  /** Exactly the minimum of every group first. */
  #inOrder(pod: PodRecord): void {
    const gang = this.#store.gang(`${pod.namespace}/${pod.gang}`);
    const group = gang?.spec.groups.find((one) => one.name === pod.group);
    if (this.releaseOrder !== 'minimum-first' || gang === undefined || group === undefined) return;
    if (this.#scheduled.has(gang.uid)) return;
    const free = members(gang, pod.group, this.#store.pods()).filter(
      (one) =>
        !one.gates.includes(GATE) &&
        !this.excused.has(one.uid) &&
        one.phase !== 'Failed' &&
        this.#isPlaced(one),
    );
    if (free.length > group.minReplicas) {
      throw new Broken(
        'order',
        `${free.length} of ${pod.group} are free, the minimum is ${group.minReplicas}`,
      );
    }
  }

  #gangWritten(leader: Leader, kind: 'references' | 'status', before: JsonObject, after: JsonObject): void {
    const [old, gang] = [gangOf(before), gangOf(after)];
    if (old.uid !== gang.uid) throw new Broken('I9', 'another object was written');
    const foreign = (object: Draft): unknown => ({
      metadata: { ...object.metadata, resourceVersion: '', generation: 0 },
      spec: {
        ...object.spec,
        podgroups: object.spec.podgroups.map((group) => ({ ...group, podReferences: [] })),
      },
      status: {
        ...object.status,
        phase: '',
        conditions: (object.status?.conditions ?? []).filter((one) => !OURS.has(one.type)),
      },
    });
    if (!isDeepStrictEqual(foreign(draftOf(before)), foreign(draftOf(after)))) {
      throw new Broken('I4', `something foreign of ${gang.name} did not survive a write of ${kind}`);
    }
    if (kind === 'references') {
      this.#referencesWritten(leader, old, gang);
      if (isDeepStrictEqual(before['spec'], after['spec']))
        throw new Broken('I9', 'references were not changed');
      return;
    }
    if (gang.phase === undefined) throw new Broken('status', 'no phase');
    if (isDeepStrictEqual(before['status'], after['status']))
      throw new Broken('I9', 'status was not changed');
    for (const { type, reason = '' } of gang.conditions) {
      const known: readonly string[] = CONDITION_REASONS[type as keyof typeof CONDITION_REASONS] ?? [reason];
      if (!known.includes(reason)) throw new Broken('status', `nobody knows the reason ${reason} of ${type}`);
    }
    if (initialized(old) && !initialized(gang)) throw new Broken('I2', `${gang.name} was taken back`);
    if (!initialized(old) && initialized(gang)) {
      for (const group of gang.spec.groups) {
        if ((group.podReferences?.length ?? 0) < group.minReplicas) {
          throw new Broken('I2', `${gang.name} is Initialized and ${group.name} lacks references`);
        }
      }
    }
  }

  /** Members that lived when the names that a write takes out were read, and still do. */
  #liveThen(leader: Leader, gang: GangRecord, group: string): string[] {
    const now = new Set(members(gang, group, this.#store.pods()).map((pod) => pod.uid));
    return members(gang, group, leader.readBefore)
      .filter((pod) => now.has(pod.uid) && this.#isPlaced(pod))
      .map((pod) => pod.name);
  }

  /** Sorted, and the live members at the place in the log where the leader stood: all of them, or some taken out. */
  #referencesWritten(leader: Leader, old: GangRecord, gang: GangRecord): void {
    const seen = new Set<string>();
    const pods = leader.judgedOn;
    const written = gang.spec.groups.map((group, index) => {
      // A name in another namespace is another Pod's: it goes, whoever of this one is called the same.
      const before = (old.spec.groups[index]?.podReferences ?? []).filter(
        (reference) => reference.namespace === gang.namespace,
      );
      const list = group.podReferences ?? [];
      const sorted = list.map((reference) => reference.name).sort((a, b) => (a < b ? -1 : 1));
      list.forEach((reference, place) => {
        if (reference.namespace !== gang.namespace)
          throw new Broken('I3', 'a reference leaves the namespace');
        if (reference.name !== sorted[place]) throw new Broken('I3', 'references are not sorted');
        if (seen.has(reference.name)) throw new Broken('I3', `${reference.name} is referred to twice`);
        seen.add(reference.name);
      });
      const all = members(gang, group.name, pods);
      const foreign = all.find((pod) => !this.#isPlaced(pod) && sorted.includes(pod.name));
      if (foreign !== undefined)
        throw new Broken('I11', `${foreign.name} of another scheduler is referred to`);
      const wanted = all.filter(this.#isPlaced).map((pod) => pod.name);
      const dead = sorted.find((name) => !wanted.includes(name));
      if (dead !== undefined) throw new Broken('I3', `${dead} is no live member of ${group.name}`);
      const lost = before.find(({ name }) => wanted.includes(name) && !sorted.includes(name));
      if (lost !== undefined) throw new Broken('I3', `${lost.name} is live and was taken out`);
      const unread = this.#liveThen(leader, gang, group.name).find(
        (name) => !sorted.includes(name) && before.some((reference) => reference.name === name),
      );
      if (unread !== undefined) throw new Broken('I3', `${unread} lived when it was to be read`);
      return wanted.every((name) => sorted.includes(name));
    });
    if (initialized(gang) && !written.every(Boolean)) {
      throw new Broken(
        'I3',
        `a live Pod of ${gang.name} is not referred to: a cache that was not read to its end?`,
      );
    }
  }
}

const members = (gang: GangRecord, group: string, pods: readonly PodRecord[]): PodRecord[] =>
  pods.filter(
    (pod) =>
      pod.namespace === gang.namespace &&
      pod.gang === gang.name &&
      pod.group === group &&
      pod.deletionTimestamp === undefined,
  );

const scheduled = (gang: GangRecord, pods: readonly PodRecord[]): boolean =>
  gang.spec.groups.every(
    (group) =>
      members(gang, group.name, pods).filter((pod) => pod.nodeName !== '' && pod.phase !== 'Failed').length >=
      group.minReplicas,
  );

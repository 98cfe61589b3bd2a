import { GATE_POD_GANG_PENDING as GATE } from '../../../../src/api/names.ts';
import type { GangRecord, PodRecord } from '../../../../src/gang/records.ts';
import type { Random } from '../../../support/random.ts';
import { gang, group, pod } from './gang-states.ts';

/** What a gang is of. */
export interface Kind {
  readonly kind: 'job' | 'statefulset' | 'written';
  /** Pods of each group that are there at a time. */
  readonly groups: Readonly<Record<string, number>>;
  /** Of a Job: how many Pods are to succeed. */
  readonly completions?: number;
}

export const isLive = (one: PodRecord): boolean => one.deletionTimestamp === undefined;
export const hasEnded = ({ phase }: PodRecord): boolean => phase === 'Succeeded' || phase === 'Failed';
export const isGated = ({ gates }: PodRecord): boolean => gates.includes(GATE);
export const isBound = ({ nodeName }: PodRecord): boolean => nodeName !== '';
export const SCHEDULER = 'default-scheduler';
export const isForeign = ({ schedulerName }: PodRecord): boolean => schedulerName !== SCHEDULER;
export const works = (one: PodRecord): boolean => isLive(one) && !hasEnded(one);
const controller = { apiVersion: 'v1', kind: 'Any', name: 'train', uid: 'w' };

export const minimumsOf = ({ spec }: GangRecord): ReadonlyMap<string, number> =>
  new Map(spec.groups.map(({ name, minReplicas }) => [name, minReplicas]));

/** Whether a scheduler that counts each group by itself would place these: none of a gang while one of it has a gate. */
export function eachGroupHasItsOwn(
  all: readonly PodRecord[],
  placed: readonly PodRecord[],
  minimums: ReadonlyMap<string, number>,
): boolean {
  const gated = all.some((one) => works(one) && isGated(one) && (minimums.get(one.group) ?? 0) > 0);
  return (
    !gated &&
    [...minimums].every(([group, minimum]) => placed.filter((one) => one.group === group).length >= minimum)
  );
}

/** The Pods of a gang with all that makes and takes them, but for its scheduler and Muster; a step at a time. */
export class World {
  protected readonly random: Random;
  protected readonly kind: Kind;
  protected wanted: Record<string, number>;
  protected gang: GangRecord;
  protected pods: PodRecord[] = [];
  protected version = 1;
  #made = 0;
  /** What its controller has counted of a Job. */
  #succeeded = 0;
  /** Nodes that are left. */
  room = 0;
  /** Nothing goes wrong any more. */
  calm = false;

  constructor(random: Random, kind: Kind) {
    this.random = random;
    this.kind = kind;
    this.wanted = { ...kind.groups };
    this.gang = gang({
      groups: Object.entries(kind.groups).map(([name, count]) => group(name, count)),
      annotations: new Map(kind.kind === 'written' ? [] : [['muster.dev/workload', `${kind.kind}/train`]]),
    });
  }

  protected get left(): number {
    return (this.kind.completions ?? Infinity) - this.#succeeded;
  }

  get done(): boolean {
    return this.left === 0;
  }

  protected change(uid: string, parts: Partial<PodRecord>): void {
    this.pods = this.pods.map((one) => (one.uid === uid ? { ...one, ...parts } : one));
  }

  protected write(parts: Partial<GangRecord>): void {
    this.version += 1;
    this.gang = { ...this.gang, ...parts, resourceVersion: String(this.version) };
  }

  protected pick(which: (one: PodRecord) => boolean): PodRecord | undefined {
    const found = this.pods.filter(which);
    return found[this.random.below(Math.max(1, found.length))];
  }

  /** The workload's controller makes one Pod that is missing, or counts what has succeeded. */
  control(): boolean {
    const succeeded = this.pods.filter(({ phase }) => phase === 'Succeeded').length;
    if (this.kind.completions !== undefined && succeeded > this.#succeeded) {
      this.#succeeded = Math.min(succeeded, this.kind.completions);
      return true;
    }
    for (const [name, wanted] of Object.entries(this.wanted)) {
      const active = this.pods.filter((one) => one.group === name && works(one));
      if (active.length > wanted) {
        this.#end(active.at(-1)?.uid ?? '');
        return true;
      }
      if (active.length >= Math.min(wanted, this.left)) continue;
      this.#made += 1;
      const at = `${name}-${this.#made}`;
      const origin = {
        kind: this.kind.kind,
        name: 'train',
        uid: 'w',
        part: undefined,
        size: undefined,
        controller,
      };
      this.pods.push(
        pod(at, {
          creationTimestamp: new Date(1_800_000_000_000 + this.#made * 1000).toISOString(),
          schedulerName: !this.calm && this.random.chance(3) ? 'kai-scheduler' : SCHEDULER,
          ...(this.kind.kind !== 'written' && { origin }),
        }),
      );
      return true;
    }
    return false;
  }

  /** What is gated, or has no node, is gone at once. */
  #end(uid: string): void {
    const one = this.pods.find((found) => found.uid === uid);
    if (one !== undefined && isBound(one) && !hasEnded(one)) this.change(uid, { deletionTimestamp: 'now' });
    else this.pods = this.pods.filter((found) => found.uid !== uid);
  }

  /** A Pod runs, ends, is lost, or all of them are. */
  suffer(): void {
    const dice = this.random.below(10);
    const any = this.pick(works);
    if (dice === 0) for (const { uid } of this.pods.filter(isLive)) this.#end(uid);
    else if (dice === 1 && any !== undefined) this.#end(any.uid);
    else if (dice === 2 && any !== undefined && isBound(any))
      this.change(any.uid, { phase: 'Failed', ready: false });
    else if (dice === 3 && this.kind.kind === 'job')
      // At the same time, as Pods of one program end.
      for (const { uid } of this.pods.filter((one) => works(one) && isBound(one))) this.#succeed(uid);
    else if (dice < 6 && any !== undefined && this.kind.kind === 'job' && isBound(any))
      this.#succeed(any.uid);
    else if (dice === 6 && this.kind.kind === 'statefulset') this.wanted = { main: 1 + this.random.below(5) };
    else if (dice === 7) this.room = Math.max(0, this.room + this.random.below(7) - 3);
    else this.gone();
  }

  #succeed(uid: string): void {
    this.change(uid, { phase: 'Succeeded', ready: false });
  }

  /** A Pod that was on its way out is gone. */
  gone(): boolean {
    const leaving = this.pick((one) => !isLive(one));
    this.pods = this.pods.filter((one) => one !== leaving);
    return leaving !== undefined;
  }

  /** What runs does its work. */
  kubelet(): boolean {
    const one = this.pick(
      (found) => works(found) && isBound(found) && (found.phase !== 'Running' || this.kind.kind === 'job'),
    );
    if (one === undefined) return false;
    if (one.phase !== 'Running') this.change(one.uid, { phase: 'Running', ready: true });
    else this.#succeed(one.uid);
    return true;
  }
}

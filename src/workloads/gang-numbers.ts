import { own, ownList, ownString, type Json, type JsonObject } from '../json/json.ts';
import { MusterError } from '../errors.ts';
import { hasLabel, isPart } from './gang-label.ts';
import { componentsOf, isMultiTemplate, templatesOf } from './components.ts';
import type { GangKind } from './kind.ts';
import { gangName, groupName } from './gang-names.ts';
import { MAIN } from './single-template.ts';
import { valueAt, path } from './path.ts';
import { WorkloadReading } from './workload-reading.ts';

/** A group as a workload asks for it. */
export interface GroupNumbers {
  readonly name: string;
  readonly minReplicas: number;
  readonly replicas: number;
  /** How many of them are still to run, where that is less. */
  readonly left: number;
  /** How many Pods are to succeed in all; absent: as many as run at a time. */
  readonly completions?: number;
}

/** For which gangs there are Pod templates with the label. */
export interface AskedGangs {
  /** One of the whole workload. */
  readonly whole: boolean;
  readonly parts: readonly string[];
  /** One for each number below this, as parts. */
  readonly numbered: number;
}

/** What a workload says of its gangs, each of which has these numbers. */
export interface GangNumbers {
  readonly groups: readonly GroupNumbers[];
  readonly suspended: boolean;
  readonly asked: AskedGangs;
  /** How it ended; undefined where it has not, or never does. */
  readonly ended: 'Succeeded' | 'Failed' | undefined;
  /** Why its numbers cannot be told. */
  readonly wrong?: string;
}

/** Reads a workload, its status included. Never throws: what is wrong is said. */
export function gangNumbers(workload: JsonObject, kind: GangKind): GangNumbers {
  const told = {
    suspended: isSuspended(workload, kind),
    ended: endOf(workload, kind),
    asked: askedBy(workload, kind),
  };
  try {
    return { ...told, groups: groupsOf(workload, kind) };
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    return { ...told, groups: [], wrong: error.message };
  }
}

/** More are not looked through: their gangs are taken for asked for. */
const MANY = 5_000;

/** Whether Pods of this gang may still come from the templates of its workload. */
export function asksFor(
  { asked: { whole, parts, numbered } }: Pick<GangNumbers, 'asked'>,
  { short }: GangKind,
  workload: string,
  gang: string,
): boolean {
  const is = (part?: string): boolean => gangName(short, workload, part) === gang;
  if ((whole && is()) || parts.some(is)) return true;
  if (numbered > MANY) return true;
  return Array.from({ length: numbered }, (_, at) => String(at)).some((part) => is(part));
}

/** The groups of one gang: all of the workload, or those of a part. */
export const groupsOfPart = (
  { groups }: Pick<GangNumbers, 'groups'>,
  { partIsGroup }: Pick<GangKind, 'partIsGroup'>,
  part: string | undefined,
): readonly GroupNumbers[] =>
  part !== undefined && partIsGroup === true ? groups.filter(({ name }) => name === groupName(part)) : groups;

/** Whether there is no Pod to wait for, at `replicas: 0` and the like: no PodGang is made until there is one. */
export const isIdle = ({ groups, asked, wrong }: GangNumbers, { gangs }: Pick<GangKind, 'gangs'>): boolean =>
  wrong === undefined &&
  (gangs === undefined ? groups.every(({ minReplicas }) => minReplicas === 0) : asked.numbered === 0);

/** The groups of the Pods that are made from the templates of a workload. */
export function groupsByTemplate(workload: JsonObject, kind: GangKind): ReadonlyMap<JsonObject, string> {
  const all = templatesOf(workload, kind, new WorkloadReading(workload));
  const group = (name: string): string => (isMultiTemplate(kind) ? name : MAIN);
  return new Map(
    all.flatMap(({ name, template }) => (template === undefined ? [] : [[template, group(name)]])),
  );
}

function groupsOf(workload: JsonObject, kind: GangKind): GroupNumbers[] {
  const reading = new WorkloadReading(workload);
  // Components have names that Karmada can store; the Pods' labels have those of the templates.
  const names = templatesOf(workload, kind, reading).map(({ name }) => name);
  return componentsOf(workload, kind).map(({ replicas: counted, minAvailable }, index) => {
    const name = isMultiTemplate(kind) ? groupName(names[index] ?? '') : MAIN;
    const replicas = kind.pods?.(name, counted, reading) ?? counted;
    return {
      name,
      replicas,
      // Of a workload that is many gangs, each is one whole.
      minReplicas:
        kind.pods === undefined ? minAvailable : (kind.minimum?.(name, replicas, reading) ?? replicas),
      left: kind.left?.(replicas, reading) ?? replicas,
      ...(kind.completions !== undefined && { completions: kind.completions(names[index] ?? '', reading) }),
    };
  });
}

function askedBy(workload: JsonObject, kind: GangKind): AskedGangs {
  const reading = new WorkloadReading(workload);
  // What keeps its templates elsewhere is taken for one that asks.
  const asking = templatesOf(workload, kind, reading).filter(
    ({ template }) => template === undefined || hasLabel(template),
  );
  if (kind.gangs !== undefined) {
    return { whole: false, parts: [], numbered: asking.length === 0 ? 0 : kind.gangs(reading) };
  }
  const parts = kind.partIsGroup === true ? asking.filter(({ template }) => isPart(template)) : [];
  return { whole: asking.length > parts.length, parts: parts.map(({ name }) => name), numbered: 0 };
}

const isSuspended = (workload: JsonObject, { suspend }: GangKind): boolean =>
  own(own(workload, 'spec'), 'suspend') === true ||
  (suspend !== undefined && valueAt(workload, path(suspend)) === true);

// A Job says so before the last of its Pods are gone:
// https://kubernetes.io/docs/concepts/workloads/controllers/job/#termination-of-job-pods
export const SUCCEEDED = ['Complete', 'Completed', 'Succeeded', 'SuccessCriteriaMet'];
const FAILED = ['Failed', 'FailureTarget'];
const FAILED_PHASES: readonly (Json | undefined)[] = ['Failed', 'Aborted', 'Terminated'];

function endOf(workload: JsonObject, { phase }: GangKind): GangNumbers['ended'] {
  const now = phase && valueAt(workload, path(phase.path));
  if (typeof now === 'string' && phase?.succeeded.includes(now)) return 'Succeeded';
  if (FAILED_PHASES.includes(now)) return 'Failed';
  const holds = (types: readonly string[]): boolean =>
    (ownList(own(workload, 'status'), 'conditions') ?? []).some(
      (one) => types.includes(ownString(one, 'type') ?? '') && ownString(one, 'status') === 'True',
    );
  if (holds(SUCCEEDED)) return 'Succeeded';
  return holds(FAILED) ? 'Failed' : undefined;
}

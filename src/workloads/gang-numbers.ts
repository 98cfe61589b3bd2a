import { own, ownList, ownString, type Json, type JsonObject } from '../json/json.ts';
import { ANNOTATION_HPC_POLICY } from '../api/names.ts';
import { MusterError } from '../errors.ts';
import { hasLabel, isPart } from './gang-label.ts';
import { componentsOf, isMultiTemplate, templatesOf } from './components.ts';
import type { GangKind } from './kind.ts';
import { gangName, groupName } from './gang-names.ts';
import { MAIN } from './single-template.ts';
import { valueAt, path } from './path.ts';
import { WorkloadReading } from './workload-reading.ts';

/** Numbers of a group in a workload. */
export interface GroupNumbers {
  readonly name: string;
  readonly minReplicas: number;
  readonly replicas: number;
  /** Pods that still have to run; less than `replicas` when some have succeeded. */
  readonly left: number;
  /** Pods that have to succeed in total. Absent: `replicas`. */
  readonly completions?: number;
  /** Pods of each object by which the template is counted; absent where that is the workload itself. */
  readonly each?: number;
}

/** The gangs for which a Pod template has the label. */
export interface AskedGangs {
  /** Whether there is a gang of the whole workload. */
  readonly whole: boolean;
  readonly parts: readonly string[];
  /** Number of gangs that are numbered from 0, each a part. */
  readonly numbered: number;
}

/** The numbers of a workload's gangs, the same for each of them. */
export interface GangNumbers {
  readonly groups: readonly GroupNumbers[];
  readonly suspended: boolean;
  readonly asked: AskedGangs;
  /** How the workload ended; undefined while it has not, and for kinds that never end. */
  readonly ended: 'Succeeded' | 'Failed' | undefined;
  /** The HPCPolicy that its templates with the label name. */
  readonly policy?: string;
  /** Why the numbers cannot be read. */
  readonly wrong?: string;
}

/** Reads a workload with its status. Never throws: a fault is returned in `wrong`. */
export function gangNumbers(workload: JsonObject, kind: GangKind): GangNumbers {
  const told = {
    suspended: isSuspended(workload, kind),
    ended: endOf(workload, kind),
    asked: askedBy(workload, kind),
    ...policyIn(workload, kind),
  };
  try {
    return { ...told, groups: groupsOf(workload, kind) };
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    return { ...told, groups: [], wrong: error.message };
  }
}

/** Above this number of gangs their names are not compared, and every name is accepted. */
const MANY = 5_000;

/** Whether the workload's templates may still create Pods of this gang. */
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

/** The groups of one gang: of the whole workload, or of a part. */
export const groupsOfPart = (
  { groups }: Pick<GangNumbers, 'groups'>,
  { partIsGroup }: Pick<GangKind, 'partIsGroup'>,
  part: string | undefined,
): readonly GroupNumbers[] =>
  part !== undefined && partIsGroup === true ? groups.filter(({ name }) => name === groupName(part)) : groups;

/** Whether the workload has no Pods to wait for, as with `replicas: 0`: it gets no PodGang until it has. */
export const isIdle = ({ groups, asked, wrong }: GangNumbers, { gangs }: Pick<GangKind, 'gangs'>): boolean =>
  wrong === undefined &&
  (gangs === undefined ? groups.every(({ minReplicas }) => minReplicas === 0) : asked.numbered === 0);

/** Group names by Pod template. */
export function groupsByTemplate(workload: JsonObject, kind: GangKind): ReadonlyMap<JsonObject, string> {
  const all = templatesOf(workload, kind, new WorkloadReading(workload));
  const group = (name: string): string => (isMultiTemplate(kind) ? name : MAIN);
  return new Map(
    all.flatMap(({ name, template }) => (template === undefined ? [] : [[template, group(name)]])),
  );
}

function groupsOf(workload: JsonObject, kind: GangKind): GroupNumbers[] {
  const reading = new WorkloadReading(workload);
  // Component names are shortened for Karmada; the labels of Pods have the templates' own names.
  const templates = templatesOf(workload, kind, reading);
  const names = templates.map(({ name }) => name);
  return componentsOf(workload, kind).map(({ replicas: counted, minAvailable }, index) => {
    const name = isMultiTemplate(kind) ? groupName(names[index] ?? '') : MAIN;
    const replicas = kind.pods?.(name, counted, reading) ?? counted;
    return {
      name,
      replicas,
      // In a workload of several gangs, each gang needs all of its Pods unless the kind has a minimum.
      minReplicas:
        kind.pods === undefined ? minAvailable : (kind.minimum?.(name, replicas, reading) ?? replicas),
      left: kind.left?.(replicas, reading) ?? replicas,
      ...(isMultiTemplate(kind) &&
        kind.hosts !== undefined && { each: templates[index]?.count?.per ?? replicas }),
      ...(kind.completions !== undefined && { completions: kind.completions(names[index] ?? '', reading) }),
    };
  });
}

function askedBy(workload: JsonObject, kind: GangKind): AskedGangs {
  const reading = new WorkloadReading(workload);
  // A template that is kept in another object is assumed to have the label.
  const asking = templatesOf(workload, kind, reading).filter(
    ({ template }) => template === undefined || hasLabel(template),
  );
  if (kind.gangs !== undefined) {
    return { whole: false, parts: [], numbered: asking.length === 0 ? 0 : kind.gangs(reading) };
  }
  const parts = kind.partIsGroup === true ? asking.filter(({ template }) => isPart(template)) : [];
  return { whole: asking.length > parts.length, parts: parts.map(({ name }) => name), numbered: 0 };
}

/** The HPCPolicy of the first template with the label that names one. */
function policyIn(workload: JsonObject, kind: GangKind): Pick<GangNumbers, 'policy'> {
  for (const { template } of templatesOf(workload, kind, new WorkloadReading(workload))) {
    const named = ownString(own(own(template, 'metadata'), 'annotations'), ANNOTATION_HPC_POLICY);
    if (template !== undefined && hasLabel(template) && named !== undefined) return { policy: named };
  }
  return {};
}

const isSuspended = (workload: JsonObject, { suspend }: GangKind): boolean =>
  own(own(workload, 'spec'), 'suspend') === true ||
  (suspend !== undefined && valueAt(workload, path(suspend)) === true);

// A Job sets SuccessCriteriaMet or FailureTarget before the last of its Pods are gone:
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

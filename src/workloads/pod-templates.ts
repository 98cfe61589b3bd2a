import { isObject, own, ownList, ownObject, type Json, type JsonObject } from '../json/json.ts';
import { templatesOf } from './components.ts';
import type { GangKind } from './kind.ts';
import { placeOf, stepTo, valueAt } from './path.ts';
import { templateKinds, kindAmong } from './kinds.ts';
import type { OneByOne, TemplateKind } from './workload-kind.ts';
import { WorkloadReading } from './workload-reading.ts';

/** A Pod template and where it stands in its workload: `spec.replicatedJobs[0].template.spec.template`. */
export interface PodTemplate {
  readonly path: string;
  readonly template: JsonObject;
  /** How many Pods of it there are at the same time, if nothing holds them up; undefined where nobody can say. */
  readonly pods: number | undefined;
  readonly oneByOne?: OneByOne | undefined;
}

/**
 * All Pod templates of an object, in its own order; none for what is no workload.
 * @param gangs workloads that the configuration tells of; others in it are passed over
 */
export const podTemplatesOf = (object: JsonObject, gangs?: readonly GangKind[]): PodTemplate[] =>
  withKnown(object, search(object).found, gangs);

/** The same where no time is to be lost; undefined for an object with more in it than people write. */
export function fewPodTemplatesOf(
  object: JsonObject,
  gangs?: readonly GangKind[],
): PodTemplate[] | undefined {
  const { found, isWhole } = search(object, FEW);
  return isWhole ? withKnown(object, found, gangs) : undefined;
}

function withKnown(
  object: JsonObject,
  searched: readonly PodTemplate[],
  gangs: readonly GangKind[] = [],
): PodTemplate[] {
  const kind = kindAmong<TemplateKind>([...gangs, ...templateKinds], object);
  const known = kind === undefined ? new Map<string, PodTemplate>() : toldOf(object, kind);
  const found = searched.map((one) => {
    const same = known.get(one.path) ?? one;
    known.delete(one.path);
    return same;
  });
  // Those without containers stand where the table says, but are not found.
  return [...found, ...known.values()];
}

/** By their paths: the templates that the table knows and that stand in the object as they are. */
function toldOf(object: JsonObject, kind: TemplateKind): Map<string, PodTemplate> {
  const reading = new WorkloadReading(object);
  const told = new Map<string, PodTemplate>();
  const templates = templatesOf(object, kind, reading);
  const isCounted = reading.faults.length === 0;
  for (const { template, path: at, replicas, uncounted, oneByOne } of templates) {
    if (template === undefined || valueAt(object, at) !== template) continue;
    const path = placeOf(at);
    const pods = isCounted && uncounted !== true ? replicas : undefined;
    const before = told.get(path);
    // Leader and workers of one template.
    const together = before?.pods === undefined || pods === undefined ? pods : before.pods + pods;
    told.set(path, { path, template, pods: together, oneByOne: before?.oneByOne ?? oneByOne });
  }
  return told;
}

/** `template` (PyTorchJob, RayCluster, Knative), `podTemplate`, `workerTemplate` and their like. */
const TEMPLATE_KEY = /^template$|Template$/;
/** More than any workload has; a hostile object costs no more than this. */
const ALL = { visited: 100_000, templates: 100_000 };
const FEW = { visited: 10_000, templates: 256 };

/**
 * Whatever stands under a template key and has `spec.containers`: of kinds that Muster does not know, and what the table
 * leaves out of those that it knows (a RayJob's submitter). What is inside a template is part of it and not searched.
 */
function search(root: JsonObject, most = ALL): { found: PodTemplate[]; isWhole: boolean } {
  const found: PodTemplate[] = [];
  const waiting: { value: Json; path: string; key: string; pods: number | undefined }[] = [
    { value: root, path: '', key: '', pods: undefined },
  ];
  let visited = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    visited += 1;
    if (visited > most.visited || found.length > most.templates) return { found, isWhole: false };
    const { value, path, key, pods } = next;
    if (Array.isArray(value)) {
      const items = value as readonly Json[];
      for (let index = items.length - 1; index >= 0; index -= 1) {
        const item = items[index];
        if (typeof item === 'object' && item !== null)
          waiting.push({ value: item, path: `${path}[${index}]`, key: '', pods: undefined });
      }
    } else if (isObject(value)) {
      if (TEMPLATE_KEY.test(key) && ownList(ownObject(value, 'spec'), 'containers') !== undefined) {
        found.push({ path, template: value, pods });
        continue;
      }
      // What stands beside a template says how many Pods are made of it (PyTorchJob, RayCluster).
      const beside = own(value, 'replicas');
      for (const name of Object.keys(value).reverse()) {
        const child = value[name];
        if (typeof child !== 'object' || child === null) continue;
        const at = `${path}${stepTo(name, path === '')}`;
        waiting.push({
          value: child,
          path: at,
          key: name,
          pods: typeof beside === 'number' ? beside : undefined,
        });
      }
    }
  }
  return { found, isWhole: found.length <= most.templates };
}

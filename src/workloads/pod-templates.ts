import { isObject, own, ownList, ownObject, type Json, type JsonObject } from '../json/json.ts';
import { templatesOf } from './components.ts';
import type { GangKind } from './kind.ts';
import { placeOf, stepTo, valueAt } from './path.ts';
import { templateKinds, kindAmong } from './kinds.ts';
import type { OneByOne, TemplateKind } from './workload-kind.ts';
import { WorkloadReading } from './workload-reading.ts';

/** A Pod template and its path in the workload: `spec.replicatedJobs[0].template.spec.template`. */
export interface PodTemplate {
  readonly path: string;
  readonly template: JsonObject;
  /** Pods of the template that run at the same time when nothing delays them; undefined when the number is unknown. */
  readonly pods: number | undefined;
  readonly oneByOne?: OneByOne | undefined;
}

/**
 * All Pod templates of an object, in its order; empty for an object that is no workload.
 * @param gangs kinds of the configuration, in addition to Muster's
 */
export const podTemplatesOf = (object: JsonObject, gangs?: readonly GangKind[]): PodTemplate[] =>
  withKnown(object, search(object).found, gangs);

/** {@link podTemplatesOf} with a low limit on time; undefined for an object that is larger than any real workload. */
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
  // Templates without containers are not found by the search, only by the kind's definition.
  return [...found, ...known.values()];
}

/** Templates by path that the kind's definition finds and that are unchanged parts of the object. */
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
    // Leader and workers may share one template.
    const together = before?.pods === undefined || pods === undefined ? pods : before.pods + pods;
    told.set(path, { path, template, pods: together, oneByOne: before?.oneByOne ?? oneByOne });
  }
  return told;
}

/** Keys of templates: `template` (PyTorchJob, RayCluster, Knative), `podTemplate`, `workerTemplate` and similar ones. */
const TEMPLATE_KEY = /^template$|Template$/;
/** Limits above any real workload, which bound the cost of a hostile object. */
const ALL = { visited: 100_000, templates: 100_000 };
const FEW = { visited: 10_000, templates: 256 };

/**
 * Finds every object below a template key that has `spec.containers`: templates of unknown kinds, and templates that a
 * kind's definition leaves out (a RayJob's submitter). The content of a template is not searched.
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
      // `replicas` beside a template is its number of Pods (PyTorchJob, RayCluster).
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

import { isObject, own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../api/json.ts';

/** A Pod template and where it stands in its workload: `spec.replicatedJobs[0].template.spec.template`. */
export interface PodTemplate {
  readonly path: string;
  readonly template: JsonObject;
}

/**
 * Where the usual workloads keep their Pod templates, by group and kind; versions differ in other things. `*` is
 * every item of a list.
 */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  '/PodTemplate': ['template'],
  '/ReplicationController': ['spec.template'],
  'apps/Deployment': ['spec.template'],
  'apps/StatefulSet': ['spec.template'],
  'apps/ReplicaSet': ['spec.template'],
  'apps/DaemonSet': ['spec.template'],
  'batch/Job': ['spec.template'],
  'batch/CronJob': ['spec.jobTemplate.spec.template'],
  'jobset.x-k8s.io/JobSet': ['spec.replicatedJobs.*.template.spec.template'],
  'leaderworkerset.x-k8s.io/LeaderWorkerSet': [
    'spec.leaderWorkerTemplate.leaderTemplate',
    'spec.leaderWorkerTemplate.workerTemplate',
  ],
};

/** All Pod templates of an object, in its own order; none for what is no workload. */
export function podTemplatesOf(object: JsonObject): PodTemplate[] {
  const apiVersion = ownString(object, 'apiVersion') ?? '';
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  const name = `${group}/${ownString(object, 'kind') ?? ''}`;
  const patterns = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
  if (patterns === undefined) return search(object);
  return patterns.flatMap((pattern) => follow(object, pattern.split('.')));
}

function follow(object: JsonObject, steps: readonly string[]): PodTemplate[] {
  let found: { value: Json | undefined; path: string }[] = [{ value: object, path: '' }];
  for (const step of steps) {
    found = found.flatMap(({ value, path }) =>
      step === '*'
        ? (Array.isArray(value) ? (value as readonly Json[]) : []).map((item, index) => ({
            value: item,
            path: `${path}[${index}]`,
          }))
        : [{ value: own(value, step), path: path === '' ? step : `${path}.${step}` }],
    );
  }
  return found.flatMap(({ value, path }) => (isObject(value) ? [{ path, template: value }] : []));
}

/** `template` (PyTorchJob, RayCluster, Knative), `podTemplate`, `workerTemplate` and their like. */
const TEMPLATE_KEY = /^template$|Template$/;
/** More than any workload has; a hostile object costs no more than this. */
const MAX_VISITED = 100_000;

/**
 * Pod templates of a kind that Muster does not know: what stands under a template key and has `spec.containers`.
 * What is inside a template is part of it and not searched.
 */
function search(root: JsonObject): PodTemplate[] {
  const found: PodTemplate[] = [];
  const waiting: { value: Json; path: string; key: string }[] = [{ value: root, path: '', key: '' }];
  let visited = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    visited += 1;
    if (visited > MAX_VISITED) break;
    const { value, path, key } = next;
    if (Array.isArray(value)) {
      const items = value as readonly Json[];
      for (let index = items.length - 1; index >= 0; index -= 1) {
        const item = items[index];
        if (typeof item === 'object' && item !== null)
          waiting.push({ value: item, path: `${path}[${index}]`, key: '' });
      }
    } else if (isObject(value)) {
      if (TEMPLATE_KEY.test(key) && ownList(ownObject(value, 'spec'), 'containers') !== undefined) {
        found.push({ path, template: value });
        continue;
      }
      for (const name of Object.keys(value).reverse()) {
        const child = value[name];
        if (typeof child !== 'object' || child === null) continue;
        waiting.push({ value: child, path: path === '' ? name : `${path}${stepTo(name)}`, key: name });
      }
    }
  }
  return found;
}

const stepTo = (key: string): string => (/^[\w-]+$/.test(key) ? `.${key}` : `[${key}]`);

/** Fields of a template's metadata that a controller copies into its Pods; a name is not among them. */
const COPIED = ['labels', 'annotations', 'finalizers'] as const;

/**
 * The Pod that admission will see for a template. A controller copies labels, annotations and finalizers, names the
 * Pod after its owner, and puts it into the owner's namespace (client-go's GetPodFromTemplate). Before any webhook,
 * the API server fills in defaults; `schedulerName` is the only one of them that decides anything here, so it is the
 * only one that is shown: some forty others would hide what Muster does. Owner references, the service account's
 * volume and a controller's own labels are left out for the same reason.
 */
export function podFromTemplate(
  template: JsonObject,
  owner: { name: string; namespace: string },
): JsonObject {
  const metadata = own(template, 'metadata');
  const copied = COPIED.flatMap((key) => {
    const value = own(metadata, key);
    return value === undefined ? [] : [[key, value] as const];
  });
  const spec = own(template, 'spec');
  const scheduler = ownString(spec, 'schedulerName');
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...(owner.name === '' ? {} : { generateName: `${owner.name}-` }),
      namespace: owner.namespace,
      ...Object.fromEntries(copied),
    },
    spec: isObject(spec) && !scheduler ? { ...spec, schedulerName: 'default-scheduler' } : (spec ?? null),
  };
}

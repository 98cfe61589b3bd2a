import { isObject, own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../api/json.ts';

/** A Pod template and where it stands in its workload: `spec.replicatedJobs[0].template.spec.template`. */
export interface PodTemplate {
  readonly path: string;
  readonly template: JsonObject;
  /** How many Pods of it there are at the same time, if nothing holds them up; undefined where nobody can say. */
  readonly pods: number | undefined;
  /** The field that has the next Pod wait until the one before is ready, and what to write there. */
  readonly oneByOne?: { readonly field: string; readonly instead: string } | undefined;
}

/** Where a workload keeps a template; `*` is every item of a list. */
interface Row {
  readonly path: string;
  /** @param item that of the list, where the path goes through one */
  readonly pods: (workload: JsonObject, item: Json | undefined) => number | undefined;
  readonly oneByOne?: (workload: JsonObject) => PodTemplate['oneByOne'];
}

const number = (value: Json | undefined, fallback: number): number | undefined => {
  if (value === undefined || value === null) return fallback;
  return typeof value === 'number' && value >= 0 ? value : undefined;
};

/** Both, or nothing where one is not known. */
const both = (
  a: number | undefined,
  b: number | undefined,
  together: (a: number, b: number) => number,
): number | undefined => (a === undefined || b === undefined ? undefined : together(a, b));

const times = (a: number, b: number): number => a * b;

/** `parallelism` of a Job's spec, but no more than are left to complete. */
const jobPods = (spec: Json | undefined): number | undefined =>
  both(
    number(own(spec, 'parallelism'), 1),
    number(own(spec, 'completions'), Number.MAX_SAFE_INTEGER),
    Math.min,
  );

const replicas = (workload: JsonObject): number | undefined =>
  number(own(own(workload, 'spec'), 'replicas'), 1);

const nobodyKnows = (): undefined => undefined;

const plain: readonly Row[] = [{ path: 'spec.template', pods: replicas }];

/** Leader and workers of each replica; without a template of its own the leader is made from the workers'. */
function leaderWorkerPods(workload: JsonObject, leader: boolean): number | undefined {
  const spec = own(workload, 'spec');
  const set = own(spec, 'leaderWorkerTemplate');
  const alone = isObject(own(set, 'leaderTemplate')) ? 1 : 0;
  const each = leader
    ? 1
    : both(number(own(set, 'size'), 1), alone, (size, taken) => Math.max(size - taken, 0));
  return both(number(own(spec, 'replicas'), 1), each, times);
}

const afterLeader = (workload: JsonObject): PodTemplate['oneByOne'] =>
  ownString(own(workload, 'spec'), 'startupPolicy') === 'LeaderReady'
    ? { field: 'spec.startupPolicy', instead: 'LeaderCreated' }
    : undefined;

/** The usual workloads, by group and kind; versions differ in other things. */
const KNOWN: Readonly<Record<string, readonly Row[]>> = {
  '/PodTemplate': [{ path: 'template', pods: nobodyKnows }],
  '/ReplicationController': plain,
  'apps/Deployment': plain,
  'apps/StatefulSet': [
    {
      path: 'spec.template',
      pods: replicas,
      oneByOne: (workload) =>
        ownString(own(workload, 'spec'), 'podManagementPolicy') === 'Parallel'
          ? undefined
          : { field: 'spec.podManagementPolicy', instead: 'Parallel' },
    },
  ],
  'apps/ReplicaSet': plain,
  // As many as there are fitting nodes.
  'apps/DaemonSet': [{ path: 'spec.template', pods: nobodyKnows }],
  'batch/Job': [{ path: 'spec.template', pods: (workload) => jobPods(own(workload, 'spec')) }],
  // The Jobs of several times may run beside each other.
  'batch/CronJob': [{ path: 'spec.jobTemplate.spec.template', pods: nobodyKnows }],
  'jobset.x-k8s.io/JobSet': [
    {
      path: 'spec.replicatedJobs.*.template.spec.template',
      pods: (_, item) =>
        both(number(own(item, 'replicas'), 1), jobPods(own(own(item, 'template'), 'spec')), times),
    },
  ],
  'leaderworkerset.x-k8s.io/LeaderWorkerSet': [
    {
      path: 'spec.leaderWorkerTemplate.leaderTemplate',
      pods: (workload) => leaderWorkerPods(workload, true),
    },
    {
      path: 'spec.leaderWorkerTemplate.workerTemplate',
      pods: (workload) => leaderWorkerPods(workload, false),
      oneByOne: afterLeader,
    },
  ],
};

/** The kinds whose Pod templates are known, each with its group (`apps/Deployment`). */
export const knownWorkloads: readonly string[] = Object.keys(KNOWN);

/** All Pod templates of an object, in its own order; none for what is no workload. */
export function podTemplatesOf(object: JsonObject): PodTemplate[] {
  const apiVersion = ownString(object, 'apiVersion') ?? '';
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  const name = `${group}/${ownString(object, 'kind') ?? ''}`;
  const rows = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
  return rows === undefined ? search(object) : rows.flatMap((row) => follow(object, row));
}

interface Reached {
  readonly value: Json | undefined;
  readonly path: string;
  readonly item: Json | undefined;
}

function follow(object: JsonObject, row: Row): PodTemplate[] {
  let found: Reached[] = [{ value: object, path: '', item: undefined }];
  for (const step of row.path.split('.')) {
    found = found.flatMap(({ value, path, item }) =>
      step === '*'
        ? (Array.isArray(value) ? (value as readonly Json[]) : []).map((entry, index) => ({
            value: entry,
            path: `${path}[${index}]`,
            item: entry,
          }))
        : [{ value: own(value, step), path: path === '' ? step : `${path}.${step}`, item }],
    );
  }
  return found.flatMap(({ value, path, item }) =>
    isObject(value)
      ? [{ path, template: value, pods: row.pods(object, item), oneByOne: row.oneByOne?.(object) }]
      : [],
  );
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
  const waiting: { value: Json; path: string; key: string; pods?: number | undefined }[] = [
    { value: root, path: '', key: '' },
  ];
  let visited = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    visited += 1;
    if (visited > MAX_VISITED) break;
    const { value, path, key, pods } = next;
    if (Array.isArray(value)) {
      const items = value as readonly Json[];
      for (let index = items.length - 1; index >= 0; index -= 1) {
        const item = items[index];
        if (typeof item === 'object' && item !== null)
          waiting.push({ value: item, path: `${path}[${index}]`, key: '' });
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
        const at = path === '' ? name : `${path}${stepTo(name)}`;
        waiting.push({
          value: child,
          path: at,
          key: name,
          pods: typeof beside === 'number' ? beside : undefined,
        });
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

import type { JsonObject } from '../../../src/json/json.ts';
import type { PreemptionPlan } from '../../../src/preemption/search.ts';
import { planPreemption } from '../../../src/preemption/plan.ts';
import { preemptorOf } from '../../../src/preemption/preemptor.ts';
import { readSnapshotPod } from '../../../src/preemption/read/read-pod.ts';
import { readSnapshot } from '../../../src/preemption/read/read-snapshot.ts';
import { FieldReader } from '../../../src/k8s/field-reader.ts';
import type { Pod, Snapshot } from '../../../src/preemption/snapshot.ts';
import type { Variant } from '../../../src/preemption/variants.ts';

/** A Pod in few words: `{name, cpu, prio, on}`; without `on` it wants room. */
export interface PodIn {
  readonly name: string;
  readonly namespace?: string;
  /** Cores, or any resources. */
  readonly cpu?: number | string;
  readonly ask?: Readonly<Record<string, string>>;
  readonly prio?: number;
  readonly on?: string;
  /** Seconds since 1970. */
  readonly start?: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** Native PodGroup. */
  readonly podGroup?: string;
  /** PodGang, and the group in it. */
  readonly gang?: string;
  readonly group?: string;
  readonly never?: boolean;
  readonly leaving?: boolean;
  /** Why it is told to go. */
  readonly told?: string;
  readonly nominated?: string;
  readonly spec?: JsonObject;
}

export const pod = (given: PodIn): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: given.name,
    namespace: given.namespace ?? 'ns',
    uid: `uid-${given.name}`,
    labels: {
      ...given.labels,
      ...(given.gang === undefined ? {} : { 'grove.io/podgang': given.gang }),
      ...(given.gang === undefined ? {} : { 'grove.io/podclique': given.group ?? 'worker' }),
    },
    ...(given.leaving === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
  spec: {
    containers: [
      {
        name: 'c',
        resources: {
          requests: { ...(given.cpu === undefined ? {} : { cpu: String(given.cpu) }), ...given.ask },
        },
      },
    ],
    ...(given.on === undefined ? {} : { nodeName: given.on }),
    ...(given.prio === undefined ? {} : { priority: given.prio }),
    ...(given.never === true ? { preemptionPolicy: 'Never' } : {}),
    ...(given.podGroup === undefined ? {} : { schedulingGroup: { podGroupName: given.podGroup } }),
    ...given.spec,
  },
  status: {
    ...(given.start === undefined ? {} : { startTime: new Date(given.start * 1000).toISOString() }),
    ...(given.nominated === undefined ? {} : { nominatedNodeName: given.nominated }),
    ...(given.told === undefined
      ? {}
      : { conditions: [{ type: 'DisruptionTarget', status: 'True', reason: given.told }] }),
  },
});

export const node = (
  name: string,
  cpu: number | string,
  more: { readonly [key: string]: string } = {},
  given: { readonly labels?: JsonObject; readonly spec?: JsonObject } = {},
): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: given.labels ?? {} },
  spec: given.spec ?? {},
  status: { allocatable: { cpu: String(cpu), memory: '64Gi', pods: '110', ...more } },
});

export const podGroup = (
  name: string,
  given: { prio: number; mode?: 'Pod' | 'PodGroup'; min?: number },
): JsonObject => ({
  apiVersion: 'scheduling.k8s.io/v1alpha2',
  kind: 'PodGroup',
  metadata: { name, namespace: 'ns', uid: `uid-${name}` },
  spec: {
    priority: given.prio,
    disruptionMode: given.mode ?? 'Pod',
    schedulingPolicy: given.min === undefined ? { basic: {} } : { gang: { minCount: given.min } },
  },
});

export const priorityClass = (name: string, value: number, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  // What any gang may cost, unless a test says otherwise.
  metadata: { name, annotations: { 'muster.dev/preemption-priority-for': '*' } },
  value,
  ...more,
});

export const podGang = (
  name: string,
  given: {
    readonly className?: string;
    readonly mode?: 'Pod' | 'PodGroup';
    readonly cost?: string;
    readonly groups?: Readonly<Record<string, number>>;
    readonly annotations?: Readonly<Record<string, string>>;
  } = {},
): JsonObject => ({
  apiVersion: 'scheduler.grove.io/v1alpha1',
  kind: 'PodGang',
  metadata: {
    name,
    namespace: 'ns',
    annotations: {
      ...(given.mode === undefined ? {} : { 'muster.dev/disruption-mode': given.mode }),
      ...(given.cost === undefined ? {} : { 'muster.dev/preemption-priority-class': given.cost }),
      ...given.annotations,
    },
  },
  spec: {
    ...(given.className === undefined ? {} : { priorityClassName: given.className }),
    podgroups: Object.entries(given.groups ?? { worker: 1 }).map(([group, minReplicas]) => ({
      name: group,
      minReplicas,
      podReferences: [],
    })),
  },
});

export const budget = (app: string, allowed: number, disrupted: readonly string[] = []): JsonObject => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: app, namespace: 'ns' },
  spec: { selector: { matchLabels: { app } } },
  status: {
    disruptionsAllowed: allowed,
    disruptedPods: Object.fromEntries(disrupted.map((name) => [name, '2026-01-01T00:00:00Z'])),
  },
});

/** What is read of `objects`, and how a Pod that wants room there is read. */
export function snapshotOf(objects: readonly JsonObject[]): {
  readonly snapshot: Snapshot;
  readonly read: (given: PodIn) => Pod;
} {
  const { snapshot, faults, context } = readSnapshot(objects, 'ns');
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
  return { snapshot, read: (given) => readSnapshotPod(pod(given), context, new FieldReader(given.name)) };
}

/** The plan for `wanting` in a cluster of `objects`. */
export function planFor(
  wanting: readonly PodIn[],
  objects: readonly JsonObject[],
  variant: Variant,
): PreemptionPlan {
  const { snapshot, read } = snapshotOf(objects);
  return planPreemption(preemptorOf(wanting.map(read), snapshot, variant), snapshot, variant);
}

/** Names of the Pods that would have to go, sorted; undefined where nothing helps. */
export function victimsFor(
  wanting: readonly PodIn[],
  objects: readonly JsonObject[],
  variant: Variant,
): readonly string[] | undefined {
  const found = planFor(wanting, objects, variant);
  if (!found.feasible) return undefined;
  return found.victims.flatMap(({ unit }) => unit.pods.map(({ name }) => name)).sort();
}

import {
  ANNOTATION_DISRUPTION_MODE,
  ANNOTATION_PREEMPTION_POLICY,
  ANNOTATION_PREEMPTION_PRIORITY_CLASS,
  ANNOTATION_PREEMPTION_PRIORITY_FOR,
  DISRUPTION_TARGET,
} from '../../api/preemption-terms.ts';
import { isObject, ownList, ownString, type Json, type JsonObject } from '../../json/json.ts';

/**
 * The fields of a kind that decide where Pods fit; `true` keeps everything below a field. In a list the shape holds for each
 * item.
 */
type Shape = true | { readonly [field: string]: Shape };

const METADATA: Shape = {
  name: true,
  generateName: true,
  namespace: true,
  uid: true,
  labels: true,
  creationTimestamp: true,
  deletionTimestamp: true,
};
const CONTAINER: Shape = {
  name: true,
  resources: { requests: true, limits: true },
  ports: { hostPort: true, hostIP: true, protocol: true },
  restartPolicy: true,
};
const TOPOLOGY: Shape = { packConstraint: { required: true, preferred: true } };

const SHAPES: Readonly<Record<string, Shape>> = {
  Node: {
    metadata: METADATA,
    spec: { unschedulable: true, taints: true },
    status: { allocatable: true, capacity: true },
  },
  Pod: {
    metadata: METADATA,
    spec: {
      nodeName: true,
      schedulerName: true,
      priority: true,
      priorityClassName: true,
      preemptionPolicy: true,
      schedulingGroup: true,
      nodeSelector: true,
      affinity: true,
      tolerations: true,
      topologySpreadConstraints: true,
      overhead: true,
      resources: { requests: true, limits: true },
      containers: CONTAINER,
      initContainers: CONTAINER,
      volumes: { name: true, persistentVolumeClaim: { claimName: true }, ephemeral: {} },
    },
    status: {
      phase: true,
      startTime: true,
      nominatedNodeName: true,
      conditions: { type: true, status: true, reason: true },
    },
  },
  Namespace: { metadata: METADATA },
  PersistentVolume: { metadata: METADATA, spec: { nodeAffinity: true } },
  PersistentVolumeClaim: { metadata: METADATA, spec: { volumeName: true } },
  PodDisruptionBudget: {
    metadata: METADATA,
    spec: { selector: true },
    status: { disruptionsAllowed: true, disruptedPods: true },
  },
  PriorityClass: {
    metadata: {
      name: true,
      uid: true,
      annotations: { [ANNOTATION_PREEMPTION_POLICY]: true, [ANNOTATION_PREEMPTION_PRIORITY_FOR]: true },
    },
    value: true,
    globalDefault: true,
    preemptionPolicy: true,
  },
  PodGang: {
    metadata: {
      name: true,
      namespace: true,
      uid: true,
      labels: true,
      annotations: {
        [ANNOTATION_DISRUPTION_MODE]: true,
        [ANNOTATION_PREEMPTION_PRIORITY_CLASS]: true,
        [ANNOTATION_PREEMPTION_POLICY]: true,
      },
    },
    spec: {
      priorityClassName: true,
      podgroups: { name: true, minReplicas: true, topologyConstraint: TOPOLOGY },
      topologyConstraint: TOPOLOGY,
      topologyConstraintGroupConfigs: { podGroupNames: true, topologyConstraint: TOPOLOGY },
    },
  },
  PodGroup: {
    metadata: METADATA,
    spec: {
      schedulingPolicy: true,
      schedulingConstraints: true,
      disruptionMode: true,
      priorityClassName: true,
      priority: true,
      preemptionPolicy: true,
    },
  },
};

/** Copies an object with only the fields that a plan reads: no images, environment or names of secrets. */
export function trimmed(object: JsonObject): JsonObject {
  const kind = ownString(object, 'kind') ?? '';
  const shape = SHAPES[kind] ?? {};
  const cut = trim(object, shape);
  const { apiVersion = '' } = object;
  return { apiVersion, kind, ...(isObject(cut) ? withoutUsual(cut) : {}) };
}

/** Removes all conditions of a Pod but DisruptionTarget, which says why the Pod is evicted and which few Pods have. */
function withoutUsual(object: JsonObject): JsonObject {
  const { status } = object;
  const conditions = ownList(status, 'conditions');
  if (!isObject(status) || conditions === undefined) return object;
  const telling = conditions.filter((one) => ownString(one, 'type') === DISRUPTION_TARGET);
  const rest = Object.fromEntries(Object.entries(status).filter(([field]) => field !== 'conditions'));
  return { ...object, status: telling.length === 0 ? rest : { ...rest, conditions: telling } };
}

function trim(value: Json, shape: Shape): Json {
  if (shape === true) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => trim(item, shape));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(shape).flatMap(([field, below]) => {
      const found = Object.hasOwn(value, field) ? value[field] : undefined;
      return found === undefined ? [] : [[field, trim(found, below)] as const];
    }),
  );
}

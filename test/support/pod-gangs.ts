import type { Json, JsonObject } from '../../src/json/json.ts';
import { json } from './pods.ts';

type Parts = Readonly<Record<string, Json | undefined>>;

/** References to Pods of the namespace `ml`. */
export const references = (...names: string[]): Json => names.map((name) => ({ namespace: 'ml', name }));

export const group = (name: string, parts: Parts = {}): Json =>
  json({ name, minReplicas: 1, podReferences: [], ...parts });

export interface PodGangParts {
  readonly metadata?: Parts;
  readonly labels?: JsonObject;
  readonly annotations?: JsonObject;
  readonly groups?: Json;
  readonly spec?: Parts;
  readonly status?: Json;
}

/** A PodGang `ml/train` with the groups `leader` and `worker`. */
export function podGang(parts: PodGangParts = {}): JsonObject {
  const { metadata, labels, annotations, groups, spec, status } = parts;
  return json({
    apiVersion: 'scheduler.grove.io/v1alpha1',
    kind: 'PodGang',
    metadata: { name: 'train', namespace: 'ml', labels, annotations, ...metadata },
    spec: { podgroups: groups ?? [group('leader'), group('worker', { minReplicas: 2 })], ...spec },
    status,
  });
}

export const condition = (type: string, status: string, parts: Parts = {}): Json =>
  json({
    type,
    status,
    reason: 'Because',
    message: 'as it is',
    lastTransitionTime: '2026-06-01T12:00:00Z',
    ...parts,
  });

export const statusOf = (...conditions: Json[]): Json => ({ phase: 'Pending', conditions });

export const INITIALIZED = condition('Initialized', 'True');
export const NOT_INITIALIZED = condition('Initialized', 'False');

/** Both groups have their Pods. */
export const completeGroups = (): Json => [
  group('leader', { podReferences: references('leader-0') }),
  group('worker', { minReplicas: 2, podReferences: references('worker-0', 'worker-1') }),
];

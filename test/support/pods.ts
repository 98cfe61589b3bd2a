import { GATE_POD_GANG_PENDING } from '../../src/api/names.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';

export const GANG_LABELS = { 'grove.io/podgang': 'train', 'grove.io/podclique': 'worker' } as const;

/** What may differ from an ordinary Pod. A key with `undefined` is left out of the JSON. */
export interface PodParts {
  readonly metadata?: Readonly<Record<string, Json | undefined>>;
  readonly labels?: Json | undefined;
  readonly annotations?: Json | undefined;
  readonly spec?: Readonly<Record<string, Json | undefined>>;
}

/** A Pod as the API server sends it on CREATE: `default-scheduler` filled in, one container. */
export function pod(parts: PodParts = {}): JsonObject {
  const labels = 'labels' in parts ? { labels: parts.labels } : {};
  const annotations = 'annotations' in parts ? { annotations: parts.annotations } : {};
  return json({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'worker-0', namespace: 'ml', ...labels, ...annotations, ...parts.metadata },
    spec: {
      schedulerName: 'default-scheduler',
      containers: [{ name: 'main', image: 'busybox' }],
      ...parts.spec,
    },
  });
}

export type GangPodParts = Omit<PodParts, 'labels'> & { readonly labels?: JsonObject };

/** A Pod labelled for the gang `train`, group `worker`. */
export const gangPod = (parts: GangPodParts = {}): JsonObject =>
  pod({ ...parts, labels: { ...GANG_LABELS, ...parts.labels } });

export const gates = (...names: string[]): Json => names.map((name) => ({ name }));

/** A gang Pod as it is stored once Muster has prepared it. */
export const storedPod = (parts: GangPodParts = {}): JsonObject =>
  gangPod({ ...parts, spec: { schedulingGates: gates(GATE_POD_GANG_PENDING), ...parts.spec } });

/** `value` as it comes off the wire: `undefined` is gone, nothing is shared with the test. */
export const json = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;

import type { JsonObject } from '../../../../src/json/json.ts';
import { consider } from '../../../../src/controller/preemption/consider.ts';
import type { Planner } from '../../../../src/controller/preemption/planner.ts';
import { FakeApi } from './fake-api.ts';

/** The gang that wants room. */
export const GANG = { namespace: 'ns', name: 'urgent' };
export const SCHEDULER = 'default-scheduler';

export interface PodIn {
  readonly name: string;
  readonly cpu?: number;
  readonly prio?: number;
  readonly on?: string;
  readonly namespace?: string;
  readonly gang?: string;
  readonly never?: boolean;
  readonly uid?: string;
}

export const pod = ({
  name,
  cpu = 4,
  prio = 100,
  on,
  namespace = 'ns',
  gang,
  never = false,
  uid,
}: PodIn): JsonObject => ({
  metadata: {
    name,
    namespace,
    uid: uid ?? `uid-${name}`,
    ...(gang !== undefined && { labels: { 'grove.io/podgang': gang, 'grove.io/podclique': 'worker' } }),
  },
  spec: {
    schedulerName: SCHEDULER,
    priority: prio,
    preemptionPolicy: never ? 'Never' : 'PreemptLowerPriority',
    ...(never && { priorityClassName: 'high' }),
    containers: [{ name: 'c', resources: { requests: { cpu: String(cpu) } } }],
    ...(on !== undefined && { nodeName: on }),
  },
  status:
    on === undefined
      ? { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] }
      : { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
});

export const gang = (name: string, minReplicas: number, more: JsonObject = {}): JsonObject => ({
  metadata: {
    name,
    namespace: 'ns',
    uid: `uid-${name}`,
    annotations: more,
  },
  spec: { priorityClassName: 'high', podgroups: [{ name: 'worker', minReplicas, podReferences: [] }] },
  status: { conditions: [{ type: 'Initialized', status: 'True' }] },
});

/** Two nodes of eight CPUs, full; a gang of two that wants half of each. */
export function cluster(pods: readonly PodIn[] = FULL, gangs: readonly JsonObject[] = []): FakeApi {
  const api = new FakeApi();
  for (const name of ['a', 'b'])
    api.put('nodes', { metadata: { name }, status: { allocatable: { cpu: '8', pods: '10' } } });
  api.put('priorityclasses', { metadata: { name: 'low' }, value: 100 });
  api.put('priorityclasses', {
    metadata: { name: 'high', annotations: { 'muster.dev/preemption-policy': 'PreemptLowerPriority' } },
    value: 1000,
    preemptionPolicy: 'Never',
  });
  for (const one of [...pods, ...WANTING]) api.put('pods', pod(one));
  for (const one of [gang('urgent', 2), ...gangs]) api.put('podgangs', one);
  return api;
}
export const FULL: readonly PodIn[] = [
  { name: 'middle-a', prio: 500, on: 'a' },
  { name: 'low-a', on: 'a' },
  { name: 'middle-b', prio: 500, on: 'b' },
  { name: 'low-b', on: 'b' },
];
const WANTING: readonly PodIn[] = ['0', '1'].map((index) => ({
  name: `urgent-${index}`,
  prio: 1000,
  gang: 'urgent',
  never: true,
}));

export const running = (api: FakeApi): string[] =>
  api
    .all('pods')
    .map(({ metadata }) => metadata.name)
    .filter((name) => !name.startsWith('urgent'))
    .sort();
export const evictions = (api: FakeApi): string[] => api.writes.filter((write) => write.startsWith('evict '));

/** A planner in this thread. */
export function plannerHere(): Planner {
  const all: JsonObject[] = [];
  return {
    take: (objects) => void all.push(...objects),
    consider: (question) => Promise.resolve(consider(all, structuredClone(question))),
    end: () => Promise.resolve(),
  };
}

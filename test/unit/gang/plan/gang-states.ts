import { workloadOf } from '../../../../src/gang/gang-workload.ts';
import { countsWhatIsLeft } from '../../../../src/workloads/kinds.ts';
import { GATE_POD_GANG_PENDING as GATE } from '../../../../src/api/names.ts';
import type { Condition, PodGroup } from '../../../../src/api/pod-gang.ts';
import type { GangPlan } from '../../../../src/gang/plan/gang-plan.ts';
import type { GangRecord, GangState, NotOurs, PodRecord } from '../../../../src/gang/records.ts';

export const NOW = Date.parse('2026-06-01T12:00:00Z');
export { GATE };

/** A Pod `ml/<group>-<n>` of the gang `train`, gated and new, unless said otherwise. */
export const pod = (name: string, parts: Partial<PodRecord> = {}): PodRecord => ({
  namespace: 'ml',
  name,
  uid: `uid-${name}`,
  resourceVersion: '7',
  creationTimestamp: '2026-06-01T11:59:00Z',
  deletionTimestamp: undefined,
  gang: 'train',
  group: name.replace(/-\d+$/, ''),
  baseGang: undefined,
  gates: [GATE],
  nodeName: '',
  phase: 'Pending',
  ready: false,
  podScheduled: undefined,
  ...parts,
});

export const bound = (name: string, parts: Partial<PodRecord> = {}): PodRecord =>
  pod(name, { gates: [], nodeName: 'node-1', ...parts });
export const running = (name: string): PodRecord => bound(name, { phase: 'Running', ready: true });

export const group = (name: string, minReplicas: number, ...references: string[]): PodGroup => ({
  name,
  minReplicas,
  podReferences: references.map((reference) => ({ namespace: 'ml', name: reference })),
  pack: undefined,
});

export const condition = (type: string, status: string, parts: Partial<Condition> = {}): Condition => ({
  type,
  status,
  reason: 'Because',
  message: 'as it is',
  observedGeneration: 3,
  lastTransitionTime: '2026-06-01T11:00:00Z',
  ...parts,
});

export const INITIALIZED = condition('Initialized', 'True');

/** The PodGang `ml/train`: a leader and two workers. */
export const gang = (parts: Partial<GangRecord> & { groups?: readonly PodGroup[] } = {}): GangRecord => {
  const { groups, ...rest } = parts;
  return {
    namespace: 'ml',
    name: 'train',
    labels: new Map(),
    annotations: new Map(),
    spec: {
      groups: groups ?? [group('leader', 1), group('workers', 2)],
      pack: undefined,
      groupConfigs: [],
      priorityClassName: undefined,
      reuseReservationRef: undefined,
    },
    conditions: [],
    uid: 'uid-train',
    resourceVersion: '42',
    generation: 3,
    creationTimestamp: '2026-06-01T11:58:00Z',
    deletionTimestamp: undefined,
    phase: undefined,
    ...rest,
  };
};

export const FULL = [group('leader', 1, 'leader-0'), group('workers', 2, 'workers-0', 'workers-1')];
export const PODS = [pod('leader-0'), pod('workers-0'), pod('workers-1')];

/** As the loop finds it out. */
export const leavesOut = (of: GangState['gang']): boolean =>
  of !== 'missing' && countsWhatIsLeft(workloadOf(of));

export const state = (parts: Partial<GangState> = {}): GangState => ({
  synced: true,
  now: NOW,
  namespace: 'ml',
  name: 'train',
  gang: gang(),
  pods: PODS,
  baseGangs: new Map(),
  backend: { name: 'kube', ready: true, objectsExist: true, releaseOrder: 'all-at-once' },
  notOurs: undefined,
  countsWhatIsLeft: leavesOut(parts.gang ?? 'missing'),
  lastStatusWrite: undefined,
  ...parts,
});

export const anothers = (message: string): NotOurs => ({ movedBy: 'another operator', message });
export const nobodys = (message: string): NotOurs => ({ movedBy: 'nobody', message });

/** The references that a plan writes: `{ workers: ['workers-0'] }`. */
export const referencesOf = (plan: GangPlan): Record<string, string[]> | undefined =>
  plan.references &&
  Object.fromEntries(
    plan.references.groups.map(({ name, references }) => [name, references.map((entry) => entry.name)]),
  );

export const written = (plan: GangPlan, type: string): Condition | undefined =>
  plan.status?.conditions.find((one) => one.type === type);

export const released = (plan: GangPlan): string[] => plan.ungate.map((ungate) => ungate.pod);
export const reasons = (plan: GangPlan): Record<string, string> =>
  Object.fromEntries(plan.waiting.map((waiting) => [waiting.pod, waiting.reason]));

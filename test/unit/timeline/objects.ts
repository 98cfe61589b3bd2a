import type { JsonObject } from '../../../src/json/json.ts';
import { timelineOf, type Timeline, type TimelineInput } from '../../../src/timeline/timeline.ts';

/** Seconds after which, as the API server writes it. */
export const at = (seconds: number): string =>
  `${new Date(Date.UTC(2026, 5, 1, 12, 0, 0) + seconds * 1000).toISOString().slice(0, 19)}Z`;
export const msOf = (seconds: number): number => Date.parse(at(seconds));

interface Sort {
  readonly initialized?: number;
  readonly groups?: Readonly<Record<string, number>>;
  readonly conditions?: readonly JsonObject[];
  readonly referenced?: number;
}

export const condition = (type: string, status: string, since: number, message = ''): JsonObject => ({
  type,
  status,
  reason: 'Because',
  message,
  lastTransitionTime: at(since),
});

/** The gang `ml/train`, created at 0. */
export function gang({
  initialized,
  groups = { worker: 2 },
  conditions = [],
  referenced,
}: Sort = {}): JsonObject {
  return {
    apiVersion: 'scheduler.grove.io/v1alpha1',
    kind: 'PodGang',
    metadata: {
      namespace: 'ml',
      name: 'train',
      uid: 'gang',
      creationTimestamp: at(0),
      ...(referenced !== undefined && {
        managedFields: [
          { manager: 'muster', time: at(referenced), fieldsV1: { 'f:spec': { 'f:podgroups': {} } } },
        ],
      }),
    },
    spec: {
      podgroups: Object.entries(groups).map(([name, minReplicas]) => ({
        name,
        minReplicas,
        podReferences: [],
      })),
    },
    status: {
      conditions: [
        ...(initialized === undefined ? [] : [condition('Initialized', 'True', initialized)]),
        ...conditions,
      ],
    },
  };
}

export interface PodMoments {
  readonly created: number;
  readonly group?: string;
  readonly uid?: string;
  readonly gated?: boolean;
  readonly bound?: number;
  readonly started?: number;
  readonly ready?: number;
  readonly deleted?: number;
  readonly ended?: number;
  readonly evicted?: number;
  readonly attempt?: string;
  readonly base?: string;
  readonly conditions?: readonly JsonObject[];
  readonly managedFields?: readonly JsonObject[];
}

export function pod(name: string, moments: PodMoments): JsonObject {
  const {
    created,
    group = 'worker',
    uid = name,
    gated,
    bound,
    started,
    ready,
    deleted,
    ended,
    evicted,
  } = moments;
  const state =
    ended === undefined
      ? { running: { startedAt: at(started ?? 0) } }
      : { terminated: { startedAt: at(started ?? 0), finishedAt: at(ended) } };
  return {
    metadata: {
      namespace: 'ml',
      name,
      uid,
      creationTimestamp: at(created),
      labels: {
        'grove.io/podgang': 'train',
        'grove.io/podclique': group,
        ...(moments.attempt !== undefined && { 'jobset.sigs.k8s.io/restart-attempt': moments.attempt }),
        ...(moments.base !== undefined && { 'grove.io/base-podgang': moments.base }),
      },
      ...(deleted !== undefined && { deletionTimestamp: at(deleted + 30), deletionGracePeriodSeconds: 30 }),
      ...(moments.managedFields !== undefined && { managedFields: moments.managedFields }),
    },
    spec: {
      ...(gated === true && { schedulingGates: [{ name: 'grove.io/podgang-pending-creation' }] }),
      ...(bound !== undefined && { nodeName: 'node-1' }),
    },
    status: {
      phase: ended !== undefined ? 'Succeeded' : started === undefined ? 'Pending' : 'Running',
      conditions: [
        ...(bound === undefined ? [] : [condition('PodScheduled', 'True', bound)]),
        ...(ready === undefined ? [] : [condition('Ready', 'True', ready)]),
        ...(evicted === undefined ? [] : [condition('DisruptionTarget', 'True', evicted, 'it had to go')]),
        ...(moments.conditions ?? []),
      ],
      ...(started !== undefined && { containerStatuses: [{ name: 'main', restartCount: 0, state }] }),
    },
  };
}

/** An Event about an object, by its uid, which for Pods is the name here. */
export const event = (
  when: number,
  reason: string,
  note: string,
  about: { readonly kind?: string; readonly name?: string; readonly uid?: string } = {},
): JsonObject => {
  const { kind = 'PodGang', name = 'train', uid = kind === 'PodGang' ? 'gang' : name } = about;
  return {
    metadata: { creationTimestamp: at(when) },
    type: reason === 'GatesRemoved' || reason === 'Scheduled' ? 'Normal' : 'Warning',
    reason,
    note,
    regarding: { kind, name, uid },
  };
};

export const released = (when: number, ...pods: readonly string[]): JsonObject =>
  event(when, 'GatesRemoved', `released ${pods.length} Pods to the scheduler: ${pods.join(', ')}`);

export const timeline = (given: Partial<TimelineInput>): Timeline =>
  timelineOf({
    namespace: 'ml',
    name: 'train',
    gang: gang(),
    pods: [],
    objects: [],
    events: [],
    now: msOf(600),
    ...given,
  });

/** `12:00:05 bound 1 worker-0,worker-1` for each step. */
export const told = ({ steps }: Timeline): string[] =>
  steps.map(({ at: when, step, generation, pods }) =>
    [(Date.parse(when) - msOf(0)) / 1000, step, generation, pods.join()].join(' ').trimEnd(),
  );

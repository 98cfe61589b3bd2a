import { describe, expect, test } from '@jest/globals';
import { GATE_POD_GANG_PENDING } from '../../../../src/api/names.ts';
import type { JsonObject } from '../../../../src/json/json.ts';
import { readGangRecord, readPodRecord } from '../../../../src/gang/read-records.ts';
import { Leader, JUDGE } from './model-leader.ts';
import { ModelStore } from './model-store.ts';

const SIZE = 40;
const BACKEND = { name: 'kube', ready: true, objectsExist: true, releaseOrder: 'all-at-once' } as const;

function createGang(store: ModelStore): void {
  const podgroups = [{ name: 'workers', minReplicas: SIZE, podReferences: [] }];
  store.create('gang', { metadata: { namespace: 'ml', name: 'train' }, spec: { podgroups } });
}

function createPod(store: ModelStore, index: number): void {
  store.create('pod', {
    metadata: {
      namespace: 'ml',
      name: `workers-${index}`,
      labels: { 'grove.io/podgang': 'train', 'grove.io/podclique': 'workers' },
    },
    spec: { schedulingGates: [{ name: GATE_POD_GANG_PENDING }] },
  });
}

/** Judges after every event, as the most eager loop would. */
function run(order: readonly ((store: ModelStore) => void)[]): Record<string, number> {
  const store = new ModelStore();
  const leader = new Leader(store, JUDGE);
  leader.finishLists();
  const writes: Record<string, number> = { references: 0, status: 0, ungate: 0 };
  const settle = (): void => {
    for (let progress = true; progress;) {
      progress = false;
      leader.follow('gang', Infinity);
      leader.follow('pod', Infinity);
      leader.reconcile('ml/train', BACKEND);
      while (leader.tasks.length > 0) {
        leader.work('none', (write, send) => {
          send();
          writes[write.kind] = (writes[write.kind] ?? 0) + 1;
          progress = true;
        });
      }
    }
  };
  for (const event of order) {
    event(store);
    settle();
  }
  return writes;
}

describe('writes for a gang of N', () => {
  const pods = Array.from({ length: SIZE }, (_, index) => (store: ModelStore) => createPod(store, index));

  test('N + 2 where its Pods are there first', () => {
    expect(run([...pods, createGang])).toEqual({ references: 1, status: 1, ungate: SIZE });
  });

  test('N + 2 where it is there before its Pods, or in their midst, and they follow at once', () => {
    const counts = { references: 1, status: 1, ungate: SIZE };
    expect(run([createGang, ...pods])).toEqual(counts);
    expect(run([...pods.slice(0, 7), createGang, ...pods.slice(7)])).toEqual(counts);
  });

  test('and Initialized=False where they come later', () => {
    const pause = (store: ModelStore): void => void (store.clock += 3);
    expect(run([createGang, pause, ...pods])).toEqual({ references: 1, status: 2, ungate: SIZE });
  });
});

describe('objects as they come from the API server', () => {
  test('a Pod is trimmed to what the loop looks at', () => {
    const object = {
      metadata: { namespace: 'ml', name: 'a', uid: 'u', resourceVersion: '1', labels: {} },
      spec: {
        schedulingGates: [{ name: 'x' }, { name: 'y' }],
        nodeName: 'n',
        schedulerName: 's',
        priorityClassName: 'high',
        containers: [],
      },
      status: {
        phase: 'Running',
        conditions: [
          { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'full' },
          { type: 'Ready', status: 'True' },
        ],
      },
    };
    expect(readPodRecord(object)).toEqual({
      namespace: 'ml',
      name: 'a',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: undefined,
      deletionTimestamp: undefined,
      gang: '',
      group: '',
      baseGang: undefined,
      gates: ['x', 'y'],
      nodeName: 'n',
      nativeGang: '',
      schedulerName: 's',
      priorityClassName: 'high',
      phase: 'Running',
      ready: true,
      podScheduled: { status: 'False', reason: 'Unschedulable', message: 'full' },
    });
  });

  test.each([
    {},
    { metadata: 3, spec: [], status: 'x' },
    { metadata: { labels: [] }, spec: { podgroups: 'x' } },
  ])('nonsense reads as empty: %j', (object) => {
    expect(readPodRecord(object as JsonObject)).toMatchObject({ name: '', gates: [], ready: false });
    expect(readGangRecord(object as JsonObject)).toMatchObject({ name: '', generation: 0, phase: undefined });
  });
});

import { describe, expect, test } from '@jest/globals';
import { isObject, type Json, type JsonObject } from '../../../../src/json/json.ts';
import {
  bindingRecordOf,
  type BindingRecord,
} from '../../../../src/controller/fleet-bindings/binding-record.ts';
import { Members } from '../../../../src/controller/fleet-bindings/members.ts';
import {
  bindingReconciler,
  type AskEstimates,
} from '../../../../src/controller/fleet-bindings/reconcile-binding.ts';
import { readMemberCluster, type Member } from '../../../../src/fleet/assign/member.ts';
import { changeMayHelp } from '../../../../src/fleet/assign/capacity.ts';
import { builtInStrategies } from '../../../../src/fleet/assign/strategies.ts';
import { FieldReader } from '../../../../src/k8s/field-reader.ts';
import type { KubeClient } from '../../../../src/kube/client/client.ts';
import { ApiError, errorFromAnswer } from '../../../../src/kube/client/errors.ts';
import { RESOURCE_BINDINGS, type KubeObject } from '../../../../src/kube/client/resources.ts';
import { binding, room } from '../../fleet/assign/small-fleet.ts';

const NOW = new Date('2026-08-21T03:10:00Z');
const strategies = builtInStrategies();

const merged = (into: Json | undefined, patch: Json): Json => {
  if (!isObject(patch)) return patch;
  const result: Record<string, Json> = isObject(into) ? { ...into } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
};

/** One binding as an API server has it, which writes are held against. */
class Stored {
  object: JsonObject;
  readonly writes: JsonObject[] = [];
  refuse: ((patch: JsonObject) => ApiError | undefined) | undefined;
  #version = 1;

  constructor(spec: object, more: { annotations?: Record<string, unknown>; status?: object } = {}) {
    const made = binding(
      { placement: { clusterAffinity: {} }, schedulerName: 'muster', ...spec },
      more as Parameters<typeof binding>[1],
    );
    this.object = merged(made, {
      metadata: {
        uid: 'u',
        resourceVersion: '1',
        generation: 1,
        labels: { 'propagationpolicy.karmada.io/permanent-id': 'p' },
      },
    }) as JsonObject;
  }

  record(): BindingRecord | undefined {
    return bindingRecordOf(this.object as unknown as KubeObject, RESOURCE_BINDINGS, 'muster');
  }

  write(patch: JsonObject, status: boolean): JsonObject {
    const refused = this.refuse?.(patch);
    if (refused !== undefined) throw refused;
    const { metadata } = this.object as unknown as KubeObject;
    if ((patch['metadata'] as JsonObject)['resourceVersion'] !== metadata.resourceVersion)
      throw new ApiError('patch', { status: 409, reason: 'Conflict', message: 'it was changed' });
    this.writes.push(patch);
    this.#version += 1;
    const generation = (metadata.generation ?? 0) + (!status && patch['spec'] !== undefined ? 1 : 0);
    this.object = merged(merged(this.object, patch), {
      metadata: { resourceVersion: String(this.#version), generation },
    }) as JsonObject;
    return this.object;
  }

  client(): KubeClient {
    return {
      mergePatch: async (_: unknown, patch: JsonObject) => Promise.resolve(this.write(patch, false)),
      patchStatus: async (_: unknown, patch: JsonObject) => Promise.resolve(this.write(patch, true)),
    } as unknown as KubeClient;
  }
}

const memberOf = (object: JsonObject): Member => readMemberCluster(object, new FieldReader('it'));

function scene(
  stored: Stored,
  rooms: Readonly<Record<string, number>>,
  estimates?: AskEstimates,
  standstill: () => string | undefined = () => undefined,
) {
  const members = new Members(() => undefined);
  for (const [name, replicas] of Object.entries(rooms)) members.report(name, memberOf(room(name, replicas)));
  const waiting = new Set<string>();
  const said: string[] = [];
  const reconcile = bindingReconciler({
    client: stored.client(),
    strategies,
    members,
    recordOf: () => stored.record(),
    waiting,
    estimates,
    now: () => NOW,
    standstill,
    observer: {
      judged: () => undefined,
      placed: () => said.push('placed'),
      standsStill: (_, why) => said.push(`stands still: ${why}`),
      held: (_, { reason, message }) => said.push(`${reason}: ${message}`),
    },
  });
  const look = () => reconcile('ml/job', new AbortController().signal);
  return { look, members, waiting, said };
}

const gang = (
  least: number,
  more: Record<string, unknown> = {},
): { annotations: Record<string, unknown> } => ({
  annotations: {
    'muster.dev/custom-scheduling-strategy': 'gang-divided',
    'muster.dev/min-available': String(least),
    ...more,
  },
});
const clustersOf = ({ object }: Stored): unknown => (object['spec'] as JsonObject)['clusters'];
const statusOf = ({ object }: Stored): JsonObject => object['status'] as JsonObject;
const conditionsOf = (stored: Stored): readonly unknown[] => statusOf(stored)['conditions'] as unknown[];

describe('what is written of a binding', () => {
  test('clusters with the placement they come from, then what was observed; a second look writes nothing', async () => {
    const stored = new Stored({ replicas: 4 }, gang(2));
    const { look, said, waiting } = scene(stored, { m1: 8 });
    await look();
    expect(stored.writes).toEqual([
      {
        metadata: {
          resourceVersion: '1',
          annotations: { 'policy.karmada.io/applied-placement': '{"clusterAffinity":{}}' },
        },
        spec: { clusters: [{ name: 'm1', replicas: 4 }] },
      },
      {
        metadata: { resourceVersion: '2' },
        status: {
          schedulerObservedGeneration: 2,
          lastScheduledTime: '2026-08-21T03:10:00Z',
          conditions: [
            {
              type: 'Scheduled',
              status: 'True',
              reason: 'Success',
              message: 'Binding has been scheduled successfully.',
              lastTransitionTime: '2026-08-21T03:10:00Z',
            },
          ],
        },
      },
    ]);
    await look();
    expect(stored.writes).toHaveLength(2);
    expect(said).toEqual(['placed']);
    expect(waiting.size).toBe(0);
  });

  test('several templates are written as they are sent, and what was told of their room stays', async () => {
    const components = [
      { name: 'master', replicas: 1, replicaRequirements: { resourceRequest: { cpu: '1' } } },
      { name: 'worker', replicas: 100, replicaRequirements: { resourceRequest: { cpu: '1' } } },
    ];
    const stored = new Stored(
      { replicaRequirements: null, components },
      { annotations: { ...gang(1).annotations, 'muster.dev/min-available': 'worker=2' } },
    );
    const { look, waiting } = scene(stored, { m1: 4 });
    await look();
    const sent = [
      { name: 'master', replicas: 1 },
      { name: 'worker', replicas: 100 },
    ];
    expect(clustersOf(stored)).toEqual([{ name: 'm1', replicas: 0, components: sent }]);
    expect(conditionsOf(stored)).toEqual([
      expect.objectContaining({
        status: 'True',
        message: expect.stringContaining('"m1" had room for master 1, worker 3 and not for all'),
      }),
    ]);
    const { length } = stored.writes;
    await look();
    expect([stored.writes.length, waiting.size]).toEqual([length, 0]);
  });

  test('who waits is told of whom no estimator knows; who is placed is not', async () => {
    const estimates: AskEstimates = async () =>
      Promise.resolve({ found: new Map([['m1', { room: 3 }]]), without: ['m2', 'm3'] });
    const waits = scene(new Stored({ replicas: 8 }, gang(5)), { m1: 8, m2: 1 }, estimates);
    await waits.look();
    expect(waits.said).toEqual([
      'Unschedulable: failed to assign replicas: no available scheduling results: the clusters hold 4 replicas together, of which 5 are needed at least; no estimate of m2, m3',
    ]);
    const stored = new Stored({ replicas: 8 }, gang(4));
    const placed = scene(stored, { m1: 8, m2: 1 }, estimates);
    await placed.look();
    expect(placed.said).toEqual(['placed']);
    expect(clustersOf(stored)).toEqual([
      { name: 'm1', replicas: 3 },
      { name: 'm2', replicas: 1 },
    ]);
  });

  test('killed between both writes: the next look ends it', async () => {
    const stored = new Stored({ replicas: 4 }, gang(2));
    const { look } = scene(stored, { m1: 8 });
    stored.refuse = (patch) =>
      patch['status'] === undefined ? undefined : new ApiError('patch', { status: 500, message: 'the end' });
    await expect(look()).rejects.toThrow('the end');
    stored.refuse = undefined;
    await look();
    expect(stored.writes).toHaveLength(2);
    expect(statusOf(stored)).toMatchObject({
      schedulerObservedGeneration: 2,
      lastScheduledTime: expect.any(String),
    });
  });

  test('one that was changed meanwhile is judged again, and what was not sent is not counted', async () => {
    const stored = new Stored({ replicas: 4 }, gang(4));
    const { look, members } = scene(stored, { m1: 4 });
    stored.refuse = () => new ApiError('patch', { status: 409, reason: 'Conflict', message: 'no' });
    expect(await look()).toEqual({ requeueAfterMs: 100 });
    expect(members.all()[0]?.free?.get('cpu')).toBe(4000);
    stored.refuse = undefined;
    await look();
    expect(clustersOf(stored)).toEqual([{ name: 'm1', replicas: 4 }]);
    expect(members.all()[0]?.free?.get('cpu')).toBe(0);
  });

  test('a quota that is exceeded is a condition, and no reason to be without what it has', async () => {
    const stored = new Stored({ replicas: 4, clusters: [{ name: 'm1', replicas: 2 }] }, gang(2));
    const { look, said, waiting } = scene(stored, { m1: 8 });
    const message = 'FederatedResourceQuota(ml/q) exceeded for resource cpu: requested sum 200m, limit 150m.';
    stored.refuse = (patch) =>
      patch['spec'] === undefined
        ? undefined
        : errorFromAnswer('patch', 403, JSON.stringify({ reason: 'QuotaExceeded', message }), undefined);
    expect(await look()).toEqual({ requeueAfterMs: 30_000 });
    expect(conditionsOf(stored)).toMatchObject([{ status: 'False', reason: 'QuotaExceeded', message }]);
    expect(said).toEqual([`QuotaExceeded: ${message}`]);
    expect(clustersOf(stored)).toEqual([{ name: 'm1', replicas: 2 }]);
    expect([...waiting]).toEqual(['ml/job']);
  });

  test('told to be placed anew by a clock that is ahead: once', async () => {
    const applied = { 'policy.karmada.io/applied-placement': '{"clusterAffinity":{}}' };
    const stored = new Stored(
      { replicas: 4, clusters: [{ name: 'm1', replicas: 4 }], rescheduleTriggeredAt: '2026-08-21T09:00:00Z' },
      { ...gang(4, applied), status: { lastScheduledTime: '2026-08-20T00:00:00Z' } },
    );
    const { look } = scene(stored, { m1: 0, m2: 8 });
    await look();
    expect(statusOf(stored)['lastScheduledTime']).toBe('2026-08-21T09:00:00Z');
    const writes = stored.writes.length;
    await look();
    expect(stored.writes).toHaveLength(writes);
  });

  test('one that runs, and by now names a strategy that nobody knows, says so and stays', async () => {
    const annotations = {
      'muster.dev/custom-scheduling-strategy': 'best',
      'policy.karmada.io/applied-placement': '{"clusterAffinity":{}}',
    };
    const stored = new Stored({ replicas: 4, clusters: [{ name: 'm1', replicas: 4 }] }, { annotations });
    const { look, said } = scene(stored, { m1: 8 });
    await look();
    expect(said).toEqual([
      'SchedulerError: unknown strategy "best": there are default, gang-divided, gang-no-divided',
    ]);
    expect(clustersOf(stored)).toEqual([{ name: 'm1', replicas: 4 }]);
  });

  test('a workload that is no gang goes where its policy says: nowhere, where nothing fits it', async () => {
    const stored = new Stored({
      replicas: 4,
      clusters: [{ name: 'm1', replicas: 4 }],
      placement: { clusterAffinity: { clusterNames: ['none'] } },
    });
    const { look } = scene(stored, { m1: 8 });
    await look();
    expect(clustersOf(stored)).toBeUndefined();
    expect(stored.writes[0]?.['spec']).toEqual({ clusters: null });
    expect(conditionsOf(stored)).toMatchObject([{ reason: 'NoClusterFit' }]);
  });

  test('nothing is taken from a running gang that fits nowhere any more', async () => {
    const nowhere = { clusterAffinity: { clusterNames: ['none'] } };
    const running = { replicas: 4, clusters: [{ name: 'm1', replicas: 4 }], placement: nowhere };
    const stored = new Stored(running, gang(4));
    const { look } = scene(stored, { m1: 8 });
    await look();
    expect(clustersOf(stored)).toEqual([{ name: 'm1', replicas: 4 }]);
    for (const write of stored.writes) expect(write['spec'] ?? {}).not.toHaveProperty('clusters');
    expect(conditionsOf(stored)).toMatchObject([{ reason: 'NoClusterFit' }]);
  });

  test('a running gang that asks for more than its cluster has is neither moved nor made smaller', async () => {
    const components = [
      { name: 'w', replicas: 4, replicaRequirements: { resourceRequest: { cpu: '1' } } },
      { name: 'm', replicas: 1, replicaRequirements: { resourceRequest: { cpu: '1' } } },
    ];
    const annotations = {
      'muster.dev/custom-scheduling-strategy': 'gang-divided',
      'policy.karmada.io/applied-placement': '{"clusterAffinity":{}}',
      'muster.dev/placed-components': '{"m1":{"w":2,"m":1}}',
    };
    const stored = new Stored(
      { replicas: 0, components, clusters: [{ name: 'm1', replicas: 0 }] },
      { annotations },
    );
    const { look, said } = scene(stored, { m1: 1, m2: 50 });
    await look();
    expect(clustersOf(stored)).toEqual([{ name: 'm1', replicas: 0 }]);
    expect(said).toEqual([
      'Unschedulable: no available scheduling results: it would have to move, and what runs is not moved',
    ]);
  });
});

describe('who is judged again when a cluster has other room', () => {
  const waits = (spec: object, more?: Parameters<typeof gang>[1]) => {
    const record = new Stored({ replicas: 8, ...spec }, gang(8, more)).record();
    if (record === undefined) throw new Error('it is not ours');
    return (before: number | undefined, now: number, labels = {}): boolean =>
      changeMayHelp(
        record.binding,
        before === undefined ? undefined : memberOf(room('m1', before)),
        { ...memberOf(room('m1', now)), labels: new Map(Object.entries(labels)) },
        strategies,
      );
  };

  test.each([
    ['more of it', 3, 4, true],
    ['as much', 4, 4, false],
    ['less', 4, 3, false],
    ['a new cluster', undefined, 1, true],
  ])('%s', (_, before, now, helps) => {
    expect(waits({})(before, now)).toBe(helps);
  });

  test('not by a cluster where it may not go', () => {
    const elsewhere = waits({
      placement: { clusterAffinity: { labelSelector: { matchLabels: { gpu: 'yes' } } } },
    });
    expect(elsewhere(1, 9)).toBe(false);
    expect(elsewhere(1, 9, { gpu: 'yes' })).toBe(true);
  });

  test('nobody by a strategy that nobody knows', () => {
    expect(waits({}, { 'muster.dev/custom-scheduling-strategy': 'best' })(1, 9)).toBe(false);
  });
});

describe('what was sent and is not reported yet', () => {
  test('takes room for a minute, or until the binding is gone', () => {
    const changes: string[] = [];
    const members = new Members((before, now) =>
      changes.push(`${before?.free?.get('cpu') ?? '-'} ${now?.free?.get('cpu') ?? '-'}`),
    );
    const free = (): number | undefined => members.all()[0]?.free?.get('cpu');
    members.report('m1', memberOf(room('m1', 10)));
    const { binding: one } = new Stored({ replicas: 4 }, gang(4)).record() as BindingRecord;
    members.place(one, [{ name: 'm1', replicas: 4 }], 0);
    expect(free()).toBe(6000);
    members.report('m1', memberOf(room('m1', 9)));
    expect(free()).toBe(5000);
    members.expire(59_999);
    expect(free()).toBe(5000);
    members.expire(60_000);
    expect(free()).toBe(9000);
    members.place(one, [{ name: 'm1', replicas: 4 }], 60_000);
    members.forget(one.key);
    expect(free()).toBe(9000);
    members.remember({ ...one, clusters: [{ name: 'm1', replicas: 2 }] }, 70_000, 129_999);
    expect(free()).toBe(7000);
    members.clear();
    members.remember({ ...one, clusters: [{ name: 'm1', replicas: 2 }] }, 70_000, 130_000);
    expect(free()).toBe(9000);
    expect(changes).toEqual(['- 10000', '6000 5000', '5000 9000', '5000 9000']);
  });
});

test('nothing is done for a binding of a namespace of which not all is known, and who is due is told', async () => {
  const stored = new Stored({ replicas: 4 }, gang(2));
  let why: string | undefined = 'too large';
  const { look, said, waiting } = scene(stored, { m1: 8 }, undefined, () => why);
  waiting.add('ml/job');
  expect(await look()).toBeUndefined();
  expect([stored.writes, said, [...waiting]]).toEqual([[], ['stands still: too large'], []]);
  why = undefined;
  await look();
  why = 'too large';
  await look();
  // By now it is placed, and nobody is due.
  expect(said).toEqual(['stands still: too large', 'placed']);
});

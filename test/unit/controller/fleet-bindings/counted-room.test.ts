/** What was sent counts as taken also where Muster has no answer to show for it. */
import { describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { ANNOTATION_APPLIED_PLACEMENT } from '../../../../src/controller/fleet-bindings/binding-record.ts';
import { fleetBindings } from '../../../../src/controller/fleet-bindings/controller.ts';
import { Members } from '../../../../src/controller/fleet-bindings/members.ts';
import type { FleetShared } from '../../../../src/controller/watch/shared.ts';
import { readBinding, type TargetCluster } from '../../../../src/fleet/assign/binding.ts';
import { readMemberCluster } from '../../../../src/fleet/assign/member.ts';
import { FieldReader } from '../../../../src/k8s/field-reader.ts';
import type { KubeClient } from '../../../../src/kube/client/client.ts';
import { CLUSTERS, RESOURCE_BINDINGS, type KubeObject } from '../../../../src/kube/client/resources.ts';
import { CacheMemory } from '../../../../src/kube/loop/cache-memory.ts';
import { LoopMetrics } from '../../../../src/telemetry/loop-metrics.ts';
import { binding, read, room } from '../../fleet/assign/small-fleet.ts';
import { until } from '../../tls/until.ts';
import { FakeCluster } from '../../kube/loop/fake-cluster.ts';

const PLACEMENT = { clusterAffinity: {} };

describe('of one binding in one cluster', () => {
  const of = (...clusters: TargetCluster[]) => ({
    ...read(binding({ replicas: 9, placement: PLACEMENT }), readBinding),
    clusters,
  });
  const at = (replicas: number): TargetCluster => ({ name: 'm1', replicas });
  const scene = () => {
    const members = new Members(() => undefined);
    members.report('m1', readMemberCluster(room('m1', 10), new FieldReader('it')));
    return { members, free: () => (members.all()[0]?.free?.get('cpu') ?? NaN) / 1000 };
  };

  test('what it grew by twice within a minute counts both times, and what came back to where it was not twice', () => {
    const { members, free } = scene();
    members.place(of(at(1)), [at(3)], 0);
    members.place(of(at(3)), [at(6)], 1_000);
    expect(free()).toBe(5);
    members.place(of(at(6)), [at(4)], 2_000);
    expect(free()).toBe(7);
    members.place(of(), [at(4)], 3_000);
    expect(free()).toBe(7);
    // A minute later the report has it, and only what is new is new.
    members.place(of(at(4)), [at(5)], 70_000);
    expect(free()).toBe(9);
  });

  test('a write without an answer counts, whether the binding shows it before or after the error', () => {
    for (const first of ['the binding', 'the error']) {
      const { members, free } = scene();
      const undo = members.place(of(), [at(4)], 0);
      if (first === 'the error') undo();
      expect(free()).toBe(first === 'the error' ? 10 : 6);
      members.see(of(at(4)), [], 10);
      if (first === 'the binding') undo();
      expect(free()).toBe(6);
      members.expire(60_010);
      expect(free()).toBe(10);
    }
  });

  test('what is taken back leaves what it had been given before', () => {
    const { members, free } = scene();
    members.place(of(), [at(3)], 0);
    const undo = members.place(of(at(3)), [at(8)], 10);
    expect(free()).toBe(2);
    undo();
    expect(free()).toBe(7);
  });
});

const bindingOf = (name: string, clusters: readonly TargetCluster[], generation = 1): KubeObject => ({
  ...(binding(
    { placement: PLACEMENT, schedulerName: 'muster', replicas: 6, clusters },
    { status: { schedulerObservedGeneration: 1 } },
  ) as object),
  metadata: {
    ...{ namespace: 'ml', name, uid: name, resourceVersion: String(generation), generation },
    labels: { 'propagationpolicy.karmada.io/permanent-id': 'p' },
    annotations: {
      'muster.dev/custom-scheduling-strategy': 'gang-divided',
      'muster.dev/min-available': '6',
      ...(clusters.length > 0 && { [ANNOTATION_APPLIED_PLACEMENT]: JSON.stringify(PLACEMENT) }),
    },
  },
});
const SENT = [{ name: 'm1', replicas: 6 }];

/** With one cluster that has room for one of them, and the names of those that were sent there and that were not. */
async function leads(
  bindings: readonly KubeObject[],
  then: (cluster: FakeCluster) => Promise<void> = () => Promise.resolve(),
): Promise<{ sent: string[]; held: string[] }> {
  const cluster = new FakeCluster();
  cluster.objects.set(RESOURCE_BINDINGS, [...bindings]);
  const member = room('m1', 8) as unknown as KubeObject;
  cluster.objects.set(CLUSTERS, [{ ...member, metadata: { ...member.metadata, uid: 'm1' } }]);
  const [sent, held]: [string[], string[]] = [[], []];
  const client = {
    ...cluster.client,
    mergePatch: ({ name }: { name: string }, patch: { spec?: object }) => {
      if (patch.spec !== undefined) sent.push(name);
      return Promise.resolve({ metadata: { name, resourceVersion: '9', generation: 9 } });
    },
    patchStatus: () => Promise.resolve(undefined),
  } as unknown as KubeClient;
  const shared: FleetShared = {
    room: new CacheMemory({ ofNamespace: 2 ** 20, total: 2 ** 20, reserve: 1024 }),
    ...{ client, observe: () => ({}), now: () => new Date() },
    ...{ log: pino({ level: 'silent' }), metrics: new LoopMetrics() },
    settings: { assigner: { schedulerName: 'muster' } },
    recorder: {
      event: ({ name }, { reason }) => void (reason === 'ScheduleBindingFailed' && held.push(name)),
    },
  };
  const controller = fleetBindings(shared);
  if (controller === undefined) throw new Error('there is an assigner');
  for (const watch of controller.watches) watch.start();
  for (const watch of controller.watches) await watch.whenSynced();
  const ending = new AbortController();
  const leading = controller.lead(ending.signal);
  try {
    await then(cluster);
    await until('the newcomer was judged', () => [...sent, ...held].includes('newcomer'));
  } finally {
    ending.abort();
    await leading;
    for (const watch of controller.watches) await watch.stop();
  }
  return { sent, held };
}

describe('a newcomer finds no room that was sent to another', () => {
  test('(it finds what is free)', async () => {
    expect(await leads([bindingOf('newcomer', [])])).toEqual({ sent: ['newcomer'], held: [] });
  });

  test('by a former leader, who was killed before he wrote when', async () => {
    const bindings = [bindingOf('other', SENT, 2), bindingOf('newcomer', [])];
    expect(await leads(bindings)).toEqual({ sent: [], held: ['newcomer'] });
  });

  test('by a write of a former leader that comes while another leads already', async () => {
    const suspended = bindingOf('other', []);
    // Waits for nothing of its own: it may go to no cluster.
    (suspended['spec'] as { placement: object }).placement = { clusterAffinity: { clusterNames: ['m9'] } };
    const outcome = await leads([suspended], async (cluster) => {
      await cluster.tell(RESOURCE_BINDINGS, 'MODIFIED', bindingOf('other', SENT, 2));
      await cluster.tell(RESOURCE_BINDINGS, 'ADDED', bindingOf('newcomer', []));
    });
    expect(outcome.sent).toEqual([]);
    expect(outcome.held).toContain('newcomer');
  });
});

describe('what has come to its end takes no room', () => {
  const ended = { aggregatedStatus: [{ clusterName: 'm1', status: { phase: 'Succeeded' } }] };
  const finished = (): KubeObject => {
    const made = bindingOf('other', SENT, 3);
    return { ...made, status: { ...(made['status'] as object), ...ended } };
  };

  test('though a former leader sent it just now', async () => {
    expect(await leads([finished(), bindingOf('newcomer', [])])).toEqual({ sent: ['newcomer'], held: [] });
  });

  test('from the moment on at which its binding says so', async () => {
    const outcome = await leads([bindingOf('other', SENT, 2)], async (cluster) => {
      await cluster.tell(RESOURCE_BINDINGS, 'MODIFIED', finished());
      await cluster.tell(RESOURCE_BINDINGS, 'ADDED', bindingOf('newcomer', []));
    });
    expect(outcome).toEqual({ sent: ['newcomer'], held: [] });
  });
});

/** The backend default-scheduler with Kubernetes' own gangs: Muster, the real API server and the real scheduler. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { GangCluster, KUBE } from './support/gang-cluster.ts';
import { gatesOf, group } from './support/gang-objects.ts';
import {
  allNative,
  COUNTS_RELEASED,
  cpus,
  GANG_KIND,
  GANG_OBJECTS,
  HAS_POD_GROUPS,
  linkTo,
  nativeGang,
  PLACED,
  policyOf,
  templateOf,
  VERSION,
  WORKLOADS,
  type NativeGang,
} from './support/native-gangs.ts';

const CPU = 4;
const BIG_NODE = 'big';
/** The garbage collector of a fresh control plane looks around for half a minute before it does anything. */
const PATIENT = { withinMs: 120_000 };

clusterSuite('native gangs of kube-scheduler', () => {
  let cluster: GangCluster;
  let counter = 0;
  let gang = '';

  const pods = (podclique: string, count: number, spec: object = cpus(1), from = 0): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        cluster.createPod(gang, `${podclique}-${from + index}`, podclique, { spec }),
      ),
    );
  const bound = async (): Promise<string[]> =>
    (await cluster.podsOf(gang))
      .filter(({ spec }) => spec.nodeName !== undefined)
      .map(({ metadata }) => metadata.name)
      .sort();
  const untilMade = (name = gang): Promise<NativeGang> =>
    until(`${GANG_KIND} ${name}`, () => nativeGang(cluster, name));

  beforeAll(async () => {
    cluster = await GangCluster.start({ webhooks: true, cpu: CPU });
    await cluster.client.ok('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
      metadata: { name: 'high' },
      value: 1000,
    });
  }, 180_000);
  afterAll(() => cluster?.stop(), 60_000);
  beforeEach(() => {
    gang = `native-${++counter}`;
  });
  /** Pods that nobody stops hold their CPUs, and a gang that does not fit keeps the scheduler busy. */
  afterEach(async () => {
    await cluster.client.request('DELETE', `${cluster.gangs()}/${gang}`);
    await Promise.all((await cluster.podsOf(gang)).map(({ metadata }) => cluster.removePod(metadata.name)));
    // The controllers of Kubernetes: garbage collection, and the finalizer that waits for the Pods.
    await until('its objects are gone', async () => (await allNative(cluster)).length === 0, PATIENT);
    expect(await cluster.history.ungatedEarly()).toEqual([]);
  }, 180_000);

  test('a gang is one object of Kubernetes with the sum of its minimums, owned by the PodGang', async () => {
    const { metadata } = await cluster.createGang(gang, [group('leader', 1), group('worker', 2)]);
    const made = await untilMade();
    expect(policyOf(made)).toEqual({ gang: { minCount: 3 } });
    const workload = await cluster.client.ok<NativeGang>('GET', `${WORKLOADS}/${gang}`);
    for (const object of [made, workload]) {
      expect(object.metadata).toMatchObject({
        labels: { 'grove.io/podgang': gang, 'app.kubernetes.io/managed-by': 'muster' },
        ownerReferences: [{ kind: 'PodGang', name: gang, uid: metadata.uid, controller: true }],
      });
    }
    if (HAS_POD_GROUPS) {
      expect(made.spec).toMatchObject(templateOf(gang));
      expect(workload.spec.podGroupTemplates).toMatchObject([
        { name: 'gang', schedulingPolicy: { gang: { minCount: 3 } } },
      ]);
    }
    const backends = '/apis/muster.dev/v1alpha1/schedulerbackends/default-scheduler';
    // The object comes first, what it says a moment later.
    await until('the backend shows its version', async () =>
      JSON.stringify(await cluster.client.ok('GET', backends)).includes(`scheduling.k8s.io/${VERSION}`),
    );
  });

  test('a complete gang is bound, and its Pods name the native gang', async () => {
    await cluster.createGang(gang, [group('leader', 1), group('worker', 2)]);
    await pods('leader', 1);
    await pods('worker', 1);
    await cluster.untilCondition(gang, 'Initialized', { status: 'False' });
    expect(await bound()).toEqual([]);
    await pods('worker', 1, cpus(1), 1);
    await cluster.untilBound(gang, 3);
    for (const pod of await cluster.podsOf(gang)) expect(pod.spec).toMatchObject(linkTo(gang));
    if (!HAS_POD_GROUPS) return;
    await until('the scheduler says so', async () =>
      (await nativeGang(cluster, gang)).status?.conditions?.some(
        ({ type, status }) => type === PLACED && status === 'True',
      ),
    );
  });

  test('a gang that does not fit whole is not bound at all; with a node more, all of it', async () => {
    await cluster.createGang(gang, [group('worker', CPU + 1)]);
    await pods('worker', CPU + 1);
    // All of them are let go, so that it is the scheduler who holds them.
    await until('no Pod is gated', async () =>
      (await cluster.podsOf(gang)).every((pod) => gatesOf(pod).length === 0),
    );
    await untilRefused();
    expect(await bound()).toEqual([]);
    await withBigNode(async () => {
      await cluster.untilBound(gang, CPU + 1);
    });
  });

  test('two groups of which one fits: nothing is bound; with room for both, all is, surplus too', async () => {
    await cluster.createGang(gang, [group('leader', 1), group('worker', 2)]);
    await pods('worker', 4);
    await pods('leader', 1, cpus(2 * CPU));
    const atOnce = COUNTS_RELEASED ? 5 : 3;
    await until(`${atOnce} Pods are let go`, async () => {
      const free = (await cluster.podsOf(gang)).filter((pod) => gatesOf(pod).length === 0);
      return free.length === atOnce;
    });
    await untilRefused();
    expect(await bound()).toEqual([]);
    expect((await cluster.podsOf(gang)).filter((pod) => gatesOf(pod).length > 0)).toHaveLength(5 - atOnce);
    expect(policyOf(await nativeGang(cluster, gang))).toEqual({ gang: { minCount: atOnce } });
    if (COUNTS_RELEASED) {
      // It comes late, and must neither wait behind its gate nor take the leader's place.
      await pods('worker', 1, cpus(1), 4);
      await until('it is let go, and counted', async () => {
        const free = (await cluster.podsOf(gang)).filter((pod) => gatesOf(pod).length === 0);
        const policy = policyOf(await nativeGang(cluster, gang));
        return free.length === 6 && JSON.stringify(policy) === '{"gang":{"minCount":6}}';
      });
      expect(await bound()).toEqual([]);
    }
    await withBigNode(async () => {
      await cluster.untilBound(gang, COUNTS_RELEASED ? 6 : 5);
    });
    await until(
      'it asks for its minimums again',
      async () => JSON.stringify(policyOf(await nativeGang(cluster, gang))) === '{"gang":{"minCount":3}}',
    );
  });

  test('two groups whose Pods have failed and are still there: the next ones run', async () => {
    await cluster.createGang(gang, [group('leader', 1), group('worker', 2)]);
    await pods('leader', 1);
    await pods('worker', 2);
    await cluster.untilBound(gang, 3);
    const MERGE = { contentType: 'application/merge-patch+json' };
    for (const { metadata } of await cluster.podsOf(gang)) {
      const path = `${cluster.pods()}/${metadata.name}/status`;
      await cluster.client.ok('PATCH', path, { status: { phase: 'Failed' } }, MERGE);
    }
    await pods('leader', 1, cpus(1), 1);
    await pods('worker', 2, cpus(1), 2);
    await cluster.untilBound(gang, 6);
  });

  test('Pods that come later join, and a replaced one takes its place', async () => {
    await cluster.createGang(gang, [group('worker', 2)]);
    await pods('worker', 2);
    await cluster.untilBound(gang, 2);
    await pods('worker', 1, cpus(1), 2);
    await cluster.untilBound(gang, 3);
    await cluster.removePod(`${gang}-worker-0`);
    await until('it is gone', async () => (await cluster.podsOf(gang)).length === 2);
    await pods('worker', 1);
    await cluster.untilBound(gang, 3);
    expect(policyOf(await nativeGang(cluster, gang))).toEqual({ gang: { minCount: 2 } });
  });

  test('the minimum changes while all Pods are gated, and under those that run where a PodGroup has it', async () => {
    const worker = (minReplicas: number): object => ({ spec: { podgroups: [group('worker', minReplicas)] } });
    const untilAnew = async (before: NativeGang, minCount: number): Promise<NativeGang> =>
      until(`another one with the minimum ${minCount}`, async () => {
        const next = await nativeGang(cluster, gang);
        // 1.37 changes it in place.
        const anew = (next.metadata.uid === before.metadata.uid) === COUNTS_RELEASED;
        return anew && JSON.stringify(policyOf(next)) === `{"gang":{"minCount":${minCount}}}`
          ? next
          : undefined;
      });
    await cluster.createGang(gang, [group('worker', 3)]);
    const first = await untilMade();
    await cluster.client.ok('PATCH', `${cluster.gangs()}/${gang}`, worker(4));
    const second = await untilAnew(first, 4);
    // Kubernetes would keep it for the gated Pods, and they wait for the next.
    await pods('worker', 2);
    await until('the Pods are counted', async () => (await cluster.podsOf(gang)).length === 2);
    await cluster.client.ok('PATCH', `${cluster.gangs()}/${gang}`, worker(2));
    const third = await untilAnew(second, 2);
    await cluster.untilBound(gang, 2);
    await cluster.client.ok('PATCH', `${cluster.gangs()}/${gang}`, worker(1));
    if (HAS_POD_GROUPS) {
      const ran = (await cluster.podsOf(gang)).map(({ metadata }) => metadata.uid);
      await untilAnew(third, 1);
      expect((await cluster.podsOf(gang)).map(({ metadata }) => metadata.uid)).toEqual(ran);
      return;
    }
    const { note } = await cluster.untilEvent('PodGang', gang, 'BackendWarning');
    expect(note).toContain(`${GANG_KIND} ${gang} stays as it was made`);
    expect(policyOf(await nativeGang(cluster, gang))).toEqual({ gang: { minCount: 2 } });
  });

  test('made again by somebody else without its minimum, it is put right before a gate comes off', async () => {
    const workers = 3;
    await cluster.createGang(gang, [group('worker', workers)]);
    const { metadata, spec } = await untilMade();
    await pods('worker', workers - 1, cpus(CPU / 2));
    await until('the Pods are counted', async () => (await cluster.podsOf(gang)).length === workers - 1);
    const path = `${GANG_OBJECTS}/${gang}`;
    // Two Pods fit, the gang does not.
    const loose = JSON.parse(
      JSON.stringify(spec).replaceAll(`{"gang":{"minCount":${workers}}}`, '{"basic":{}}'),
    ) as typeof spec;
    const { name, labels, annotations, ownerReferences } = metadata as typeof metadata &
      Record<string, unknown>;
    const forged = {
      apiVersion: `scheduling.k8s.io/${VERSION}`,
      kind: GANG_KIND,
      metadata: { name, labels, annotations, ownerReferences },
      spec: loose,
    };
    // Muster makes it anew as well: it takes a few turns to be faster.
    await until('somebody else was faster', async () => {
      await cluster.client.request('DELETE', path);
      const [, { status }] = await Promise.all([
        cluster.client.request('PATCH', path, { metadata: { finalizers: null } }),
        cluster.client.request('POST', GANG_OBJECTS, forged),
      ]);
      return status === 201;
    });
    await cluster.createPod(gang, `worker-${workers - 1}`, 'worker', { spec: cpus(CPU / 2) });
    await until('no Pod is gated', async () =>
      (await cluster.podsOf(gang)).every((pod) => gatesOf(pod).length === 0),
    );
    expect(policyOf(await nativeGang(cluster, gang))).toEqual({ gang: { minCount: workers } });
    await untilRefused();
    expect(await bound()).toEqual([]);
  });

  test('a gang of the same name waits for the objects of the one before to go', async () => {
    await cluster.createGang(gang, [group('worker', 1)]);
    await pods('worker', 1);
    await cluster.untilBound(gang, 1);
    const before = (await nativeGang(cluster, gang)).metadata.uid;
    await cluster.removeGang(gang);
    await until('its Workload is gone', async () => {
      const { status } = await cluster.client.request('GET', `${WORKLOADS}/${gang}`);
      return status === 404;
    });
    if (HAS_POD_GROUPS) {
      await until(
        'its PodGroup waits for the Pod to end',
        async () => (await nativeGang(cluster, gang)).metadata.deletionTimestamp !== undefined,
      );
    }
    await cluster.createGang(gang, [group('worker', 1)]);
    if (HAS_POD_GROUPS) {
      const waiting = await until('it waits', async () => {
        const found = await cluster.condition(gang, 'Initialized');
        if (found?.message.includes(`PodGroup ${gang}`)) return found;
        throw new Error(JSON.stringify(found));
      });
      expect(waiting.status).toBe('False');
    }
    await cluster.removePod(`${gang}-worker-0`);
    await until('the next one is another object', async () => {
      const { metadata } = await nativeGang(cluster, gang);
      return metadata.uid !== before && metadata.deletionTimestamp === undefined;
    });
    await pods('worker', 1);
    await cluster.untilBound(gang, 1);
  });

  test('a Pod that is in a native gang of its own is refused', async () => {
    const spec = HAS_POD_GROUPS
      ? { schedulingGroup: { podGroupName: 'mine' } }
      : { workloadRef: { name: 'mine', podGroup: 'g' } };
    await expect(cluster.createPod(gang, 'worker-0', 'worker', { spec })).rejects.toThrow(
      new RegExp(`in "mine(/g)?" already, while its gang is "${gang}(/gang)?"`),
    );
  });

  test('the priority is carried to the PodGroup where there is one, and nothing need be said', async () => {
    const { status, warnings } = await cluster.client.request('POST', cluster.gangs(), {
      apiVersion: 'scheduler.grove.io/v1alpha1',
      kind: 'PodGang',
      metadata: { name: gang, labels: KUBE },
      spec: { podgroups: [group('worker', 1)], priorityClassName: 'high' },
    });
    expect(status).toBe(201);
    const made = await untilMade();
    if (HAS_POD_GROUPS) expect(made.spec).toMatchObject({ priorityClassName: 'high', priority: 1000 });
    expect(warnings).toEqual([]);
  });

  if (COUNTS_RELEASED) {
    test('a Pod of another priority keeps its gang from being scheduled, and all is said; replaced, it starts whole', async () => {
      await cluster.createGang(gang, [group('worker', 2)], { spec: { priorityClassName: 'high' } });
      await untilMade();
      await pods('worker', 1);
      await pods('worker', 1, { ...cpus(1), priorityClassName: 'system-cluster-critical' }, 1);
      const { message } = await cluster.untilCondition(gang, 'PodsNotMatchingPriority', { status: 'True' });
      expect(message).toContain(`Pod ${gang}-worker-1 has another PriorityClass than "high"`);
      // The scheduler's word for the PodGroup, in the PodGang and for people.
      const REFUSES =
        "all pods in a single pod group should have the same priority as the pod group's priority";
      await untilSaid(`PodGroup ${gang}: ${REFUSES}`);
      await until('the PodGang says so', async () => {
        const scheduled = await cluster.condition(gang, 'Scheduled');
        return scheduled?.status === 'False' && scheduled.message.includes(REFUSES);
      });
      expect((await nativeGang(cluster, gang)).status?.conditions).toMatchObject([
        { type: PLACED, status: 'False' },
      ]);
      expect(await bound()).toEqual([]);
      await cluster.removePod(`${gang}-worker-1`);
      await pods('worker', 1, cpus(1), 2);
      await cluster.untilBound(gang, 2);
      await cluster.untilCondition(gang, 'PodsNotMatchingPriority', { status: 'False' });
    });

    test.each([
      ['PodGroup', { all: {} }],
      ['Pod', { single: {} }],
    ])('what preemption takes is one of two, as the gang says it: %s', async (mode, disruptionMode) => {
      const annotations = { 'muster.dev/disruption-mode': mode };
      await cluster.createGang(gang, [group('worker', 1)], { annotations });
      expect((await untilMade()).spec).toMatchObject({ disruptionMode });
    });

    test('the minimum follows a Job to its last completion, in the same PodGroup', async () => {
      const MERGE = { contentType: 'application/merge-patch+json' };
      gang = `job-${gang}`;
      const name = gang.slice('job-'.length);
      const labels = { 'muster.dev/gang': 'true', ...KUBE };
      const spec = { ...cpus(1), restartPolicy: 'Never', terminationGracePeriodSeconds: 0 };
      const JOBS = '/apis/batch/v1/namespaces/ml/jobs';
      await cluster.client.ok('POST', JOBS, {
        metadata: { name },
        spec: { parallelism: 3, completions: 4, template: { metadata: { labels }, spec } },
      });
      await cluster.untilBound(gang, 3);
      const { uid } = (await untilMade()).metadata;
      const untilCounts = (minCount: number): Promise<unknown> =>
        until(`it asks for ${minCount}`, async () => {
          const { metadata, spec: now } = await nativeGang(cluster, gang);
          expect(metadata.uid).toBe(uid);
          return JSON.stringify(now.schedulingPolicy) === `{"gang":{"minCount":${minCount}}}`;
        });
      await untilCounts(3);
      for (const [at, { metadata }] of (await cluster.podsOf(gang)).entries()) {
        const path = `${cluster.pods()}/${metadata.name}/status`;
        if (at < 2) await cluster.client.ok('PATCH', path, { status: { phase: 'Succeeded' } }, MERGE);
      }
      await untilCounts(2);
      await until('the last one is bound, too', async () => (await bound()).length === 4);
      await cluster.client.ok('DELETE', `${JOBS}/${name}`, undefined, {
        query: { propagationPolicy: 'Background' },
      });
      await until('its Pods are gone', async () => (await cluster.podsOf(gang)).length === 0);
    });
  }

  /** Until the scheduler has tried, and has said that there is no room. */
  async function untilRefused(): Promise<void> {
    await until('the scheduler finds no room', async () => {
      const found = await cluster.podsOf(gang);
      const tried = found.filter((pod) =>
        (pod as { status?: { conditions?: { type: string; reason?: string }[] } }).status?.conditions?.some(
          ({ type, reason }) => type === 'PodScheduled' && reason !== 'SchedulingGated',
        ),
      );
      return tried.length > 0;
    });
    if (!HAS_POD_GROUPS) return;
    await untilSaid('the scheduler says');
  }

  /** Until `muster status` tells people so. */
  const untilSaid = (text: string): Promise<boolean> =>
    until(`muster status says "${text}"`, async () => {
      const { why } = await cluster.status(gang);
      if (why.includes(text)) return true;
      throw new Error(`it says "${why}"`);
    });

  // A Workload of 1.35 has no field for it.
  if (HAS_POD_GROUPS) {
    test('a gang with a required topology lands in one domain that has room for all of it', async () => {
      const ZONE = 'topology.kubernetes.io/zone';
      const zones = { 'narrow-0': 'narrow', 'wide-0': 'wide', 'wide-1': 'wide' };
      for (const [name, zone] of Object.entries(zones)) {
        await cluster.plane.addNode(name, { cpu: 2, labels: { [ZONE]: zone } });
      }
      try {
        const spec = { topologyConstraint: { packConstraint: { required: ZONE } } };
        await cluster.createGang(gang, [group('worker', 3)], { spec });
        await pods('worker', 3);
        await cluster.untilBound(gang, 3);
        const nodes = (await cluster.podsOf(gang)).map(({ spec: { nodeName = '' } }) => nodeName);
        expect(new Set(nodes)).toEqual(new Set(['wide-0', 'wide-1']));
      } finally {
        for (const name of Object.keys(zones)) await cluster.client.ok('DELETE', `/api/v1/nodes/${name}`);
      }
    });
  }

  async function withBigNode(body: () => Promise<void>): Promise<void> {
    await cluster.plane.addNode(BIG_NODE, { cpu: 3 * CPU });
    try {
      await body();
    } finally {
      await cluster.client.ok('DELETE', `/api/v1/nodes/${BIG_NODE}`);
    }
  }
});

/** Which backend a gang and its Pods get, and that a gang keeps it. Volcano stands for a scheduler that is not there. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inLength } from '../support/length.ts';
import type { KubeList } from './control-plane/client.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { GangCluster } from './support/gang-cluster.ts';
import { gatesOf, group } from './support/gang-objects.ts';
import { GATE, NAMESPACE } from './support/registered-muster.ts';

const LABEL = 'grove.io/scheduler-name';
const withDefault = (defaultProfileName: string) => ({
  scheduler: { profiles: [{ name: 'default-scheduler' }, { name: 'volcano' }], defaultProfileName },
});

interface Created {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly schedulerName?: string };
}
interface Event {
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly kind: string; readonly name: string };
}

clusterSuite('the choice of a backend, on a real control plane', () => {
  let cluster: GangCluster;

  beforeAll(async () => {
    cluster = await GangCluster.start({ webhooks: true, settings: withDefault('default-scheduler') });
    await cluster.client.ok('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'batch', annotations: { [LABEL]: 'volcano' } },
    });
  }, 120_000);
  afterAll(() => cluster?.stop(), 60_000);

  /** Neither names a backend. */
  const createGang = (name: string, namespace = NAMESPACE): Promise<Created> =>
    cluster.client.ok('POST', cluster.gangs(namespace), {
      apiVersion: 'scheduler.grove.io/v1alpha1',
      kind: 'PodGang',
      metadata: { name },
      spec: { podgroups: [group('worker', 1)] },
    });
  const createPod = (gang: string, name: string, namespace = NAMESPACE): Promise<Created> =>
    cluster.client.ok('POST', cluster.pods(namespace), {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { 'grove.io/podgang': gang, 'grove.io/podclique': 'worker' } },
      spec: { containers: [{ name: 'main', image: 'example/train:1' }] },
    });
  const backendsShown = async (): Promise<string> =>
    (await cluster.plane.kubectl(['get', 'schedulerbackends'])).stdout;
  const events = async (): Promise<readonly Event[]> =>
    (await cluster.client.ok<KubeList<Event>>('GET', '/apis/events.k8s.io/v1/events')).items;

  test('a Namespace chooses for its gangs and their Pods; its backend is not there, and only they wait', async () => {
    expect((await createGang('sums', 'batch')).metadata.labels[LABEL]).toBe('volcano');
    const pod = await createPod('sums', 'sums-0', 'batch');
    expect([pod.spec.schedulerName, pod.metadata.labels[LABEL]]).toEqual(['volcano', 'volcano']);

    expect((await createGang('train')).metadata.labels[LABEL]).toBe('default-scheduler');
    expect((await createPod('train', 'train-0')).spec.schedulerName).toBe('default-scheduler');
    await cluster.untilBound('train', 1);

    const waits = await until('the gang says what it waits for', async () => {
      const found = await cluster.condition('sums', 'Initialized', 'batch');
      return found?.message.includes('backend volcano is not ready') === true ? found.message : false;
    });
    expect(waits).toContain('podgroups.scheduling.volcano.sh');
    expect((await cluster.podsOf('sums', 'batch')).map((one) => gatesOf(one))).toEqual([[GATE]]);
    const shown = await until('both backends are shown', async () => {
      const text = await backendsShown();
      return text.includes('volcano') && text.includes('default-scheduler') ? text : false;
    });
    expect(shown).toMatch(/^NAME +DEFAULT +READY +VERSION +MESSAGE +AGE$/m);
    expect(shown).toMatch(/^default-scheduler +true +True +\S+ +speaks/m);
    expect(shown).toMatch(/^volcano +false +False +.*podgroups\.scheduling\.volcano\.sh/m);
    await until('the failure is told', async () =>
      (await events()).some(
        ({ reason, note, regarding }) =>
          reason === 'BackendInitializationFailed' &&
          note.startsWith("Failed to initialize scheduler backend 'volcano': ") &&
          regarding.kind === 'SchedulerBackend' &&
          regarding.name === 'volcano',
      ),
    );
  });

  test('another default is for new gangs; a running one keeps its backend, also for later Pods', async () => {
    await cluster.restart(withDefault('volcano'));
    const late = await createPod('train', 'train-1');
    expect([late.spec.schedulerName, late.metadata.labels[LABEL]]).toEqual([
      'default-scheduler',
      'default-scheduler',
    ]);
    await cluster.untilBound('train', 2);
    expect((await createGang('next')).metadata.labels[LABEL]).toBe('volcano');
    await until('the change of the default is told', async () =>
      (await events()).some(
        ({ reason, note }) =>
          reason === 'BackendSwitched' && note === "Switched from backend 'default-scheduler' to 'volcano'",
      ),
    );
    // What a backend could not be asked yet when its process began to lead is shown later.
    await until('the new default is shown', async () => /^volcano +true +False/m.test(await backendsShown()));
  });

  test('a Pod of another scheduler than its gang’s is refused; one that came before its gang stays gated and says what to do', async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'mixed-0',
        labels: { 'grove.io/podgang': 'mixed', 'grove.io/podclique': 'worker', [LABEL]: 'default-scheduler' },
      },
      spec: { containers: [{ name: 'main', image: 'example/train:1' }] },
    };
    await cluster.client.ok('POST', cluster.pods(), pod);
    await createGang('mixed');
    await until('the mismatch is told', async () =>
      (await events()).some(
        ({ reason, regarding, note }) =>
          reason === 'SchedulerMismatch' && regarding.name === 'mixed-0' && note.includes('delete the Pod'),
      ),
    );
    expect((await cluster.podsOf('mixed')).map((one) => gatesOf(one))).toEqual([[GATE]]);
    const late = { ...pod, metadata: { ...pod.metadata, name: 'mixed-1' } };
    const { status, body } = await cluster.client.request('POST', cluster.pods(), late);
    expect([status, (body as { message: string }).message]).toEqual([
      422,
      expect.stringContaining('(PodGang mixed is of volcano)'),
    ]);
  });

  test('a gang is not torn: the others wait for a leader of another scheduler, until it is made anew', async () => {
    const leader = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'torn-leader',
        labels: { 'grove.io/podgang': 'torn', 'grove.io/podclique': 'leader' },
      },
      spec: { containers: [{ name: 'main', image: 'example/train:1' }] },
    };
    const labels = {
      'grove.io/podgang': 'torn',
      'grove.io/podclique': 'worker',
      [LABEL]: 'default-scheduler',
    };
    // Before its gang, which alone says that volcano is wrong.
    await cluster.client.ok('POST', cluster.pods(), {
      ...leader,
      spec: { ...leader.spec, schedulerName: 'volcano' },
    });
    await cluster.client.ok('POST', cluster.gangs(), {
      apiVersion: 'scheduler.grove.io/v1alpha1',
      kind: 'PodGang',
      metadata: { name: 'torn', labels: { [LABEL]: 'default-scheduler' } },
      spec: { podgroups: [group('leader', 1), group('worker', 2)] },
    });
    for (const name of ['torn-0', 'torn-1']) {
      await cluster.client.ok('POST', cluster.pods(), { ...leader, metadata: { name, labels } });
    }
    const says = 'Pod torn-leader is prepared for scheduler "volcano"';
    await until('the gang says what it waits for', async () => {
      const found = await cluster.condition('torn', 'Initialized');
      return found?.status === 'False' && found.message.startsWith(`waiting for Pods: leader 0/1; ${says}`);
    });
    const status = await cluster.status('torn');
    expect(status.why).toContain(`${says}, the gang is served by backend default-scheduler: delete it`);
    const pods = await cluster.podsOf('torn');
    expect(pods.map((one) => [gatesOf(one), one.spec.nodeName])).toEqual(pods.map(() => [[GATE], undefined]));

    await cluster.removePod('torn-leader');
    await cluster.client.ok('POST', cluster.pods(), {
      ...leader,
      metadata: { ...leader.metadata, labels: { ...leader.metadata.labels, [LABEL]: 'default-scheduler' } },
    });
    await cluster.untilBound('torn', 3);
  }, 120_000);

  test('no gang is torn whose Pods follow it within milliseconds', async () => {
    const gangs = Array.from({ length: inLength({ short: 32, long: 500 }) }, (_, n) => `quick-${n}`);
    const DELAYS_MS = [0, 1, 5, 30];
    const prepared = new Map<string, readonly (string | undefined)[]>();
    const life = async (name: string, delayMs: number): Promise<void> => {
      await cluster.client.ok('POST', cluster.gangs(), {
        apiVersion: 'scheduler.grove.io/v1alpha1',
        kind: 'PodGang',
        metadata: { name, labels: { [LABEL]: 'default-scheduler' } },
        spec: { podgroups: [group('worker', 3)] },
      });
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      const pods = await Promise.all([0, 1, 2].map((n) => createPod(name, `${name}-${n}`)));
      prepared.set(
        name,
        pods.map(({ spec }) => spec.schedulerName),
      );
    };
    // Four at a time, so that creations overlap and the watch has something to do.
    const waiting = gangs.entries();
    const lives = DELAYS_MS.map(async () => {
      for (const [index, name] of waiting) await life(name, DELAYS_MS[index % DELAYS_MS.length] ?? 0);
    });
    await Promise.all(lives);
    const torn = [...prepared].filter(([, names]) => names.some((name) => name !== 'default-scheduler'));
    expect(torn).toEqual([]);
    expect(prepared.size).toBe(gangs.length);
  }, 300_000);

  test('nor one in a Namespace that has just been made', async () => {
    const chosen: (string | undefined)[] = [];
    for (let n = 0; n < 10; n += 1) {
      const name = `fresh-${n}`;
      await cluster.client.ok('POST', '/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name, annotations: { [LABEL]: 'default-scheduler' } },
      });
      const early = await createPod('sums', 'sums-0', name);
      const { metadata } = await createGang('sums', name);
      const late = await createPod('sums', 'sums-1', name);
      chosen.push(early.spec.schedulerName, metadata.labels[LABEL], late.spec.schedulerName);
    }
    expect(new Set(chosen)).toEqual(new Set(['default-scheduler']));
    expect(chosen).toHaveLength(30);
  });
});

/** Backends from modules in the real program, on a real API server: the example of docs/backends.md, and bad ones. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { metricsAt } from '../support/observed.ts';
import { MUSTER_USER } from '../../src/api/names.ts';
import { lineDefinition } from '../support/line-definition.ts';
import type { KubeObject } from './control-plane/client.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { requestsOf } from './support/audited.ts';
import { GangCluster } from './support/gang-cluster.ts';
import { gatesOf, group } from './support/gang-objects.ts';
import { NAMESPACE } from './support/registered-muster.ts';

const ROOT = join(import.meta.dirname, '../..');
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const LINES = `/apis/line.example.com/v1/namespaces/${NAMESPACE}/lines`;
const faulty = (kind: string) => ({
  name: `${kind}-scheduler`,
  module: join(ROOT, `test/support/faulty-modules/${kind}.ts`),
});
const PROFILES = [
  { name: 'default-scheduler' },
  { name: 'line-scheduler', module: join(ROOT, 'docs/examples/line-backend.ts'), config: { queue: 'day' } },
  faulty('throwing'),
  faulty('hanging'),
  faulty('cleaning'),
  faulty('misbehaving'),
];
/** Two more, which never begin; the first takes a processor for as long as it is let. */
const NEVER_BEGIN = [faulty('looping'), faulty('unloadable')];
const settingsOf = (profiles: readonly object[]) => ({
  scheduler: { profiles, defaultProfileName: 'default-scheduler' },
});

/** The rights that docs/backends.md tells operators to give, as they stand there. */
function documentedRights(): string {
  const page = readFileSync(join(ROOT, 'docs/backends.md'), 'utf8');
  const found = /```yaml\n(apiVersion: rbac[\s\S]*?)```/.exec(page)?.[1];
  if (found === undefined) throw new Error('docs/backends.md has no rights');
  return found;
}

clusterSuite('backends from modules', () => {
  let cluster: GangCluster;

  const on = (backend: string) => ({ 'grove.io/scheduler-name': `${backend}-scheduler` });
  const makeGang = async (backend: string, name: string, count: number): Promise<void> => {
    await cluster.createGang(name, [group('worker', count)], { labels: on(backend) });
    for (let index = 0; index < count; index += 1) {
      await cluster.createPod(name, `worker-${index}`, 'worker', { labels: on(backend) });
    }
  };
  const released = async (gang: string): Promise<number> =>
    (await cluster.podsOf(gang)).filter((pod) => gatesOf(pod).length === 0).length;
  const writesTo = async (name: string): Promise<string[]> =>
    (await requestsOf(cluster.plane, MUSTER_USER))
      .filter((one) => one.resource === 'lines.line.example.com' && one.name === name)
      .map(({ verb }) => verb)
      .filter((verb) => verb !== 'get');
  const operationsOf = async (backend: string): Promise<string[]> => {
    const metrics = await metricsAt(cluster.muster.metricsPort);
    const of = `grove_scheduler_backend_operation_total{backend_name="${backend}",`;
    return metrics
      .split('\n')
      .filter((line) => line.startsWith(of) && /operation="(create|update|delete)"/.test(line))
      .map((line) => line.slice(of.length));
  };
  const shown = async (backend: string): Promise<string> =>
    (await cluster.plane.kubectl(['get', 'schedulerbackends', `${backend}-scheduler`])).stdout;

  beforeAll(async () => {
    cluster = await GangCluster.start({ webhooks: true, settings: settingsOf(PROFILES) });
    const granted = await cluster.plane.kubectl(['apply', '-f', '-'], { stdin: documentedRights() });
    expect(granted.stderr).toBe('');
  }, 120_000);
  afterAll(async () => {
    await cluster?.stop();
  }, 60_000);

  test('without its definition only its gangs wait, and say why', async () => {
    await makeGang('line', 'early', 2);
    const reason = 'the cluster has no lines.line.example.com in version v1: install the scheduler "line"';
    const waits = await until('it says why', async () => {
      const found = await cluster.condition('early', 'Initialized');
      return found?.message.includes(reason) === true && found;
    });
    expect(waits.status).toBe('False');
    await until('it is shown', async () => {
      const text = await shown('line');
      return /line-scheduler +false +False +/.test(text) && text.includes(reason);
    });
    await cluster.life('meanwhile');
    expect(await released('early')).toBe(0);
  });

  test('once it is there the gang forms, with an object of its own that is written once', async () => {
    await cluster.client.ok('POST', CRDS, lineDefinition);
    await until('its gates are off', async () => (await released('early')) === 2);
    await until('it is shown as ready', async () =>
      /line-scheduler +false +True +line\.example\.com\/v1/.test(await shown('line')),
    );
    const { uid } = (await cluster.gang('early')).metadata;
    expect(await cluster.client.ok<KubeObject>('GET', `${LINES}/early`)).toMatchObject({
      metadata: {
        ownerReferences: [
          { kind: 'PodGang', name: 'early', uid, controller: true, blockOwnerDeletion: true },
        ],
      },
      spec: { minimum: 2, queue: 'day', patience: 60 },
    });
    const pod = await cluster.client.ok<KubeObject>('GET', `${cluster.pods()}/early-worker-0`);
    expect(pod).toMatchObject({
      metadata: { annotations: { 'line.example.com/line': 'early' } },
      spec: { schedulerName: 'line-scheduler' },
    });

    // What comes back of our own write is nobody's touch, so there was one operation.
    expect(await operationsOf('line-scheduler')).toEqual(['operation="create",status="success"} 1']);

    // A label of the gang makes the loop look again, and its object is as it should be.
    await cluster.client.ok('PATCH', `${cluster.gangs()}/early`, { metadata: { labels: { colour: 'red' } } });
    await cluster.restart();
    await cluster.life('meanwhile-again');
    expect(await writesTo('early')).toEqual(['create']);
  });

  test('what the scheduler says is told, and its fields are left alone', async () => {
    await cluster.client.ok('PATCH', `${LINES}/early/status`, { status: { message: 'no room today' } });
    await until('the gang says it', async () =>
      (await cluster.condition('early', 'Scheduled'))?.message.includes('no room today'),
    );
    const patch = { metadata: { annotations: { 'line.example.com/queue': 'night' } } };
    await cluster.client.ok('PATCH', `${cluster.gangs()}/early`, patch);
    const line = await until('the queue changes', async () => {
      const found = await cluster.client.ok<KubeObject & { spec: { queue: string } }>(
        'GET',
        `${LINES}/early`,
      );
      return found.spec.queue === 'night' && found;
    });
    expect(line).toMatchObject({ spec: { patience: 60 }, status: { message: 'no room today' } });
    // The log of the API server has a write some time after everybody sees it.
    await until('the patch is logged', async () => (await writesTo('early')).length > 1);
    expect(await writesTo('early')).toEqual(['create', 'patch']);
  });

  test('the object goes with the gang', async () => {
    await cluster.removeGang('early');
    await until(
      'there is no Line',
      async () => (await cluster.client.request('GET', `${LINES}/early`)).status === 404,
    );
  });

  test('what a backend kept for a gang goes when the gang becomes another’s', async () => {
    const status = async (): Promise<number> =>
      (await cluster.client.request('GET', `${LINES}/moved`)).status;
    const relabel = (backend: string): Promise<boolean> => {
      const patch = { metadata: { labels: { 'grove.io/scheduler-name': backend } } };
      return until('the label is changed', async () => {
        const { status } = await cluster.client.request('PATCH', `${cluster.gangs()}/moved`, patch);
        return status === 200;
      });
    };
    await cluster.createGang('moved', [group('worker', 1)], { labels: on('line') });
    await until('there is a Line', async () => (await status()) === 200);
    // Where the webhooks are, they refuse it.
    await cluster.plane.kubectl(['delete', 'validatingwebhookconfigurations', '--all']);
    await relabel('default-scheduler');
    await until('there is none', async () => (await status()) === 404);
    await relabel('line-scheduler');
    await until('there is one again', async () => (await status()) === 200);
    await cluster.removeGang('moved');
  }, 60_000);

  test('a gang that is deleted while nobody leads is cleaned up after by whoever leads next', async () => {
    await makeGang('cleaning', 'kept', 1);
    const keptMetadata = async () =>
      (await cluster.client.ok<KubeObject>('GET', `${cluster.gangs()}/kept`)).metadata;
    const finalizer = 'cleanup.muster.dev/cleaning-scheduler';
    await until('it has the finalizer', async () => (await keptMetadata()).finalizers?.includes(finalizer));
    await cluster.muster.kill();
    await cluster.removeGang('kept');
    expect((await keptMetadata()).deletionTimestamp).toBeDefined();
    await cluster.restart();
    await until(
      'it is gone',
      async () => (await cluster.client.request('GET', `${cluster.gangs()}/kept`)).status === 404,
    );
    const told = await until('it was cleaned up after', async () =>
      (await cluster.events('PodGang', 'kept')).find((one) => one.note === 'cleaned up after kept'),
    );
    expect(told).toMatchObject({ reason: 'BackendWarning' });
    // Where it does not answer in time it is asked again, so how often is not said here.
    expect(await operationsOf('cleaning-scheduler')).toContainEqual(
      expect.stringMatching(/^operation="delete",status="success"\} [1-9]/),
    );
  });

  test.each([
    ['throwing', "Backend operation 'create' failed for PodGang 'thrown': the wheels came off", 'thrown'],
    [
      'hanging',
      "Backend operation 'create' failed for PodGang 'hung': backend hanging-scheduler did not answer within 30 s",
      'hung',
    ],
  ])(
    'one that is %s keeps its own gangs waiting and nobody else’s',
    async (kind, note, name) => {
      await makeGang(kind, name, 1);
      await cluster.life(`beside-${name}`);
      // On a busy machine it may have failed for want of an answer before.
      await until('the Event', async () => {
        const reason = 'BackendOperationFailed';
        const told = await cluster.events('PodGang', name);
        expect(told).toContainEqual(expect.objectContaining({ type: 'Warning', reason, note }));
        return true;
      });
      expect(await released(name)).toBe(0);
      await makeGang('line', `after-${name}`, 1);
      await until('another backend’s gang forms', async () => (await released(`after-${name}`)) === 1);
    },
    120_000,
  );

  const waitsFor = (gang: string, reason: string) =>
    until(
      `${gang} says why it waits`,
      async () => {
        const found = await cluster.condition(gang, 'Initialized');
        return found?.status === 'False' && found.message.includes(reason);
      },
      { withinMs: 60_000 },
    );

  test.each([
    ['loop', 'let nothing else run: a loop without an end'],
    ['leak', 'MiB of heap'],
  ])(
    'one whose sync would %s waits with the reason, beside others that form, and forms once it behaves',
    async (what, reason) => {
      const name = `will-${what}`;
      const labels = on('misbehaving');
      await until('it has begun', async () => {
        const made = await cluster.client.request('POST', cluster.gangs(), {
          apiVersion: 'scheduler.grove.io/v1alpha1',
          kind: 'PodGang',
          metadata: { name, labels: { ...labels, do: what } },
          spec: { podgroups: [group('worker', 1)] },
        });
        return made.status === 201 || made.status === 409;
      });
      await waitsFor(name, reason);
      await cluster.life(`beside-${name}`);
      await cluster.client.ok('PATCH', `${cluster.gangs()}/${name}`, { metadata: { labels: { do: null } } });
      const pod = () => cluster.createPod(name, 'worker-0', 'worker', { labels });
      await until(
        'its Pod is let in',
        () =>
          pod().then(
            () => true,
            () => false,
          ),
        { withinMs: 60_000 },
      );
      await until('it forms', async () => (await released(name)) === 1, { withinMs: 60_000 });
    },
    180_000,
  );

  test('a Pod that makes it loop is to be tried again, others are let in meanwhile', async () => {
    const labels = on('misbehaving');
    await until('a Pod is let in', () =>
      cluster.createPod('none', 'first', 'worker', { labels }).then(
        () => true,
        () => false,
      ),
    );
    const looping = cluster.createPod('none', 'looping', 'worker', { labels: { ...labels, do: 'loop' } });
    const refused = looping.then(
      () => 'it was let in',
      (thrown: unknown) => String(thrown),
    );
    await cluster.life('beside-a-loop');
    // The API server is told to come again, and does until its time is up.
    expect(await refused).toContain('failed calling webhook "pods.muster.dev"');
  }, 120_000);

  test.each([
    ['looping', 'let nothing else run: a loop without an end'],
    ['unloadable', 'does not load: no licence found'],
  ])(
    'one that is %s at its start is not ready, its gangs say why, and others form beside it',
    async (kind, reason) => {
      if (kind === 'looping') await cluster.restart(settingsOf([...PROFILES, ...NEVER_BEGIN]));
      await cluster.createGang(kind, [group('worker', 1)], { labels: on(kind) }).catch(() => undefined);
      await makeGang('line', `beside-${kind}`, 1);
      await until('another backend’s gang forms', async () => (await released(`beside-${kind}`)) === 1, {
        withinMs: 60_000,
      });
      await until('it is shown', async () => (await shown(kind)).includes(reason), { withinMs: 60_000 });
      // What nobody can judge is not let in.
      expect((await cluster.client.request('GET', `${cluster.gangs()}/${kind}`)).status).toBe(404);
    },
    150_000,
  );
});

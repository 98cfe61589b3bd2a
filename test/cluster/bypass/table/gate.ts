import { expect } from '@jest/globals';
import { GATE } from '../../support/registered-muster.ts';
import {
  APPLY,
  gatesOf,
  MASTERS,
  MERGE,
  MUSTER,
  REQUESTING,
  STRATEGIC,
  TRAIN,
  type Identity,
  type Pod,
  type Scene,
} from '../scene.ts';
import { allowed, apiServer, either, harmless, open, policy, rights, unreachable, type Way } from '../way.ts';

const PROTECTED = policy('gang-pod-gate', 'GateProtected');
const given = (scene: Scene): Promise<void> => scene.waiting();

/** w0 with its gates as given, all else as it is stored. */
const put = async (scene: Scene, who: Identity, change: { spec?: object; metadata?: object }, sub = '') => {
  const { metadata, spec, ...rest } = await scene.storedPod();
  const body = { ...rest, metadata: { ...metadata, ...change.metadata }, spec: { ...spec, ...change.spec } };
  return scene.send(who, 'PUT', scene.pods('w0', sub), body);
};
const isGated = async (scene: Scene): Promise<void> =>
  expect(gatesOf(await scene.storedPod())).toEqual([GATE]);

/** The gate of a Pod whose gang is not complete. */
export const GATE_WAYS: readonly Way[] = [
  {
    who: 'tenant',
    tries: 'takes the gate off by JSON patch',
    ends: PROTECTED,
    given,
    attempt: async (scene) => [
      await scene.send(scene.tenant, 'PATCH', scene.pods('w0'), await scene.ungating()),
    ],
  },
  {
    who: 'tenant',
    tries: 'takes the gate off by merge patch, with an empty list and with null',
    ends: PROTECTED,
    given,
    attempt: async (scene) => [
      await scene.send(scene.tenant, 'PATCH', scene.pods('w0'), { spec: { schedulingGates: [] } }, MERGE),
      await scene.send(scene.tenant, 'PATCH', scene.pods('w0'), { spec: { schedulingGates: null } }, MERGE),
    ],
  },
  {
    who: 'tenant',
    tries: 'takes the gate off by strategic merge patch, with `$patch: delete` and `$patch: replace`',
    ends: PROTECTED,
    given,
    attempt: async (scene) => {
      const lists = [[{ name: GATE, $patch: 'delete' }], [{ $patch: 'replace' }]];
      return Promise.all(
        lists.map((schedulingGates) =>
          scene.send(scene.tenant, 'PATCH', scene.pods('w0'), { spec: { schedulingGates } }, STRATEGIC),
        ),
      );
    },
  },
  {
    who: 'tenant',
    tries: 'replaces the Pod by itself without the gate (PUT)',
    ends: PROTECTED,
    given,
    attempt: async (scene) => [await put(scene, scene.tenant, { spec: { schedulingGates: [] } })],
  },
  {
    who: 'tenant',
    tries: 'makes the Pod by server-side apply with the gate, then applies it without',
    ends: PROTECTED,
    given: async (scene) => {
      await scene.make(scene.gangs(), scene.gang());
      const body = scene.pod('w0', { spec: { schedulingGates: [{ name: GATE }] } });
      await scene.plane.client.ok('PATCH', scene.pods('w0'), body, { ...APPLY('me'), ...scene.tenant });
    },
    attempt: async (scene) => [
      await scene.send(scene.tenant, 'PATCH', scene.pods('w0'), scene.pod('w0'), APPLY('me')),
    ],
  },
  {
    who: 'tenant',
    tries: 'takes gate and gang labels away in one request',
    ends: either(PROTECTED, policy('gang-pod-identity', 'GangLabelImmutable')),
    given,
    attempt: async (scene) => [
      await put(scene, scene.tenant, { metadata: { labels: {} }, spec: { schedulingGates: [] } }),
    ],
  },
  {
    who: 'tenant',
    tries: 'puts another gate in the place of the gate',
    ends: apiServer(422, 'only deletion is allowed', 'gates are never added to a Pod that is there'),
    given,
    attempt: async (scene) => {
      const change = [{ op: 'replace', path: '/spec/schedulingGates/0/name', value: 'example.com/mine' }];
      return [await scene.send(scene.tenant, 'PATCH', scene.pods('w0'), change)];
    },
  },
  {
    who: 'tenant',
    tries: 'claims that the Pod is being deleted, which the policies let pass, and takes the gate off',
    ends: apiServer(422, 'metadata.deletionTimestamp: Invalid value', 'and the policy asks what is stored'),
    given,
    attempt: async (scene) => [
      await put(scene, scene.tenant, {
        metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 },
        spec: { schedulingGates: [] },
      }),
    ],
  },
  {
    who: 'tenant',
    tries: 'really deletes the Pod, which a finalizer of his keeps, and takes the gate off while it goes',
    ends: harmless(200, 'a Pod that is being deleted is never bound, and Muster does not count it'),
    given: async (scene) => {
      await scene.waiting();
      const kept = { metadata: { finalizers: ['example.com/mine'] } };
      await scene.plane.client.ok('PATCH', scene.pods('w0'), kept, { ...MERGE, ...scene.tenant });
    },
    attempt: async (scene) => [
      await scene.send(scene.tenant, 'DELETE', scene.pods('w0')),
      await scene.send(scene.tenant, 'PATCH', scene.pods('w0'), await scene.ungating()),
    ],
    then: async (scene) => {
      const pod = await scene.storedPod();
      expect(gatesOf(pod)).toEqual([]);
      expect(pod.metadata.deletionTimestamp).toBeDefined();
      const binding = { metadata: { name: 'w0' }, target: { kind: 'Node', name: 'n1' } };
      const bound = await scene.send(MASTERS, 'POST', scene.pods('w0', 'binding'), binding);
      expect(bound).toMatchObject({
        status: 409,
        body: { message: expect.stringContaining('is being deleted') as unknown },
      });
      if (scene.state !== 'down') await scene.untilSaid('worker 0/2');
    },
  },
  {
    who: 'tenant',
    tries: 'takes the gate off through `pods/status`, `pods/resize` and `pods/ephemeralcontainers`',
    ends: rights,
    given,
    attempt: async (scene) =>
      Promise.all(
        ['status', 'resize', 'ephemeralcontainers'].map((sub) =>
          scene.send(
            scene.tenant,
            'PATCH',
            scene.pods('w0', sub),
            { spec: { schedulingGates: null } },
            STRATEGIC,
          ),
        ),
      ),
  },
  {
    who: 'masters',
    tries: 'takes the gate off through `pods/status`, `pods/resize` and `pods/ephemeralcontainers`',
    ends: harmless(200, 'the API server keeps what is not of the subresource'),
    given: (scene) => scene.waiting(scene.namespace, REQUESTING),
    attempt: async (scene) => {
      const container = { name: 'main', resources: { requests: { cpu: '2' } } };
      const parts: Record<string, object> = {
        status: {},
        resize: { containers: [container] },
        ephemeralcontainers: { ephemeralContainers: [{ name: 'debug', image: 'example/debug:1' }] },
      };
      const answers = [];
      for (const [sub, spec] of Object.entries(parts)) {
        const body = { spec: { ...spec, schedulingGates: [{ $patch: 'replace' }] } };
        answers.push(await scene.send(MASTERS, 'PATCH', scene.pods('w0', sub), body, STRATEGIC));
      }
      return answers;
    },
    then: isGated,
  },
  {
    who: 'masters',
    tries: 'takes the gate off by JSON patch, merge patch and PUT',
    ends: PROTECTED,
    given,
    attempt: async (scene) => [
      await scene.send(MASTERS, 'PATCH', scene.pods('w0'), await scene.ungating()),
      await scene.send(MASTERS, 'PATCH', scene.pods('w0'), { spec: { schedulingGates: null } }, MERGE),
      await put(scene, MASTERS, { spec: { schedulingGates: [] } }),
      await put(scene, MASTERS, { spec: { schedulingGates: null } }),
    ],
  },
  {
    who: 'tenant',
    tries: 'creates the Pod with an empty list of gates, with a generated name',
    ends: {
      up: harmless(201, 'policy `muster-add-gang-gate`'),
      gone: harmless(201, 'policy `muster-add-gang-gate`'),
      down: unreachable('pods'),
    },
    attempt: async (scene) => {
      const body = scene.pod('', { metadata: { generateName: 'w-' }, spec: { schedulingGates: [] } });
      return [await scene.send(scene.tenant, 'POST', scene.pods(), body)];
    },
    then: async (scene) => {
      const { items } = await scene.get<{ items: Pod[] }>(scene.pods());
      expect(items.map(gatesOf)).toEqual(scene.state === 'down' ? [] : [[GATE]]);
    },
  },
  {
    who: 'tenant',
    tries: 'creates the Pod for a dry run, to see whether it comes ungated',
    ends: {
      up: harmless(201, 'policy `muster-add-gang-gate`; nothing is stored'),
      gone: harmless(201, 'policy `muster-add-gang-gate`; nothing is stored'),
      down: unreachable('pods'),
    },
    attempt: async (scene) => {
      const query = { dryRun: 'All' };
      const answer = await scene.send(scene.tenant, 'POST', scene.pods(), scene.pod('w0'), { query });
      if (scene.state !== 'down') expect(gatesOf(answer.body as Pod)).toEqual([GATE]);
      return [answer];
    },
    then: async (scene) => expect(await scene.snapshot()).toEqual({}),
  },
  {
    who: 'tenant',
    tries: 'lets a Job make the Pods, so that a controller of Kubernetes asks',
    ends: {
      up: harmless(201, 'policy `muster-add-gang-gate` asks nobody who he is'),
      gone: harmless(201, 'policy `muster-add-gang-gate` asks nobody who he is'),
    },
    attempt: async (scene) => {
      const { spec } = scene.pod('any') as { spec: object };
      const job = {
        metadata: { name: 'job' },
        spec: { template: { metadata: { labels: TRAIN }, spec: { ...spec, restartPolicy: 'Never' } } },
      };
      return [
        await scene.send(scene.tenant, 'POST', `/apis/batch/v1/namespaces/${scene.namespace}/jobs`, job),
      ];
    },
    then: async (scene) => {
      const pods = await scene.untilPods(1);
      expect(pods.map(gatesOf)).toEqual([[GATE]]);
    },
  },
  {
    who: 'tenant',
    tries: 'deletes the waiting Pod and makes it again without the gang labels',
    ends: allowed(201, 'it is an ordinary Pod: nobody is made to run gangs. The gang does not count it'),
    given,
    attempt: async (scene) => {
      await scene.plane.client.ok('DELETE', scene.pods('w0'), { gracePeriodSeconds: 0 }, scene.tenant);
      return [await scene.send(scene.tenant, 'POST', scene.pods(), scene.pod('w0', { labels: {} }))];
    },
    then: async (scene) => {
      expect(await scene.initialized()).toBe('False');
      if (scene.state !== 'down') await scene.untilSaid('worker 0/2');
    },
  },
  {
    who: 'token',
    tries: 'takes the gate off a Pod whose gang is not complete',
    ends: open(
      200,
      'that is what the account is for: with its token gangs can be started early, in every namespace',
    ),
    given,
    attempt: async (scene) => [await scene.send(MUSTER, 'PATCH', scene.pods('w0'), await scene.ungating())],
    then: async (scene) => {
      expect(gatesOf(await scene.storedPod())).toEqual([]);
      if (scene.state !== 'down') await scene.untilEvent('UngatedEarly');
    },
  },
];

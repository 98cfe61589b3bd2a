import { expect } from '@jest/globals';
import { GATE } from '../../support/registered-muster.ts';
import {
  gatesOf,
  KUBELET,
  MASTERS,
  MERGE,
  MUSTER,
  NODE,
  TRAIN,
  type Identity,
  type Pod,
  type Scene,
} from '../scene.ts';
import {
  apiServer,
  harmless,
  allowed,
  policy,
  rights,
  unreachable,
  webhook,
  type Answer,
  type Way,
} from '../way.ts';

const NODE_NAME = policy('gang-pod-create', 'NodeNameForbidden');
const given = (scene: Scene): Promise<void> => scene.waiting();
const MIRROR = { 'kubernetes.io/config.mirror': 'x' };

const binding = (name = 'w0') => ({
  apiVersion: 'v1',
  kind: 'Binding',
  metadata: { name },
  target: { apiVersion: 'v1', kind: 'Node', name: NODE },
});
const bind = async (scene: Scene, who: Identity): Promise<Answer[]> => [
  await scene.send(who, 'POST', scene.pods('w0', 'binding'), binding()),
  await scene.send(who, 'POST', `/api/v1/namespaces/${scene.namespace}/bindings`, binding()),
];
/** A Pod as a backup has it: bound, running, without a gate. */
const fromBackup = (scene: Scene): object => ({
  ...scene.pod('w0', { spec: { nodeName: NODE, schedulerName: 'default-scheduler' } }),
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
});

/** Past the scheduler. */
export const PLACEMENT_WAYS: readonly Way[] = [
  {
    who: 'tenant',
    tries: 'creates a gang Pod with `nodeName`, past the scheduler',
    ends: { up: webhook('pods', 'NodeNameForbidden', 403), gone: NODE_NAME, down: unreachable('pods') },
    attempt: async (scene) => [
      await scene.send(scene.tenant, 'POST', scene.pods(), scene.pod('w0', { spec: { nodeName: NODE } })),
    ],
  },
  {
    who: 'masters',
    tries: 'restores a gang Pod from a backup: bound, running, without its gate',
    ends: { up: webhook('pods', 'NodeNameForbidden', 403), gone: NODE_NAME, down: unreachable('pods') },
    attempt: async (scene) => [await scene.send(MASTERS, 'POST', scene.pods(), fromBackup(scene))],
  },
  {
    who: 'tenant',
    tries: 'calls a gang Pod with `nodeName` a mirror Pod by its annotation',
    ends: { up: webhook('pods', 'NodeNameForbidden', 403), gone: NODE_NAME, down: unreachable('pods') },
    attempt: async (scene) => [
      await scene.send(
        scene.tenant,
        'POST',
        scene.pods(),
        scene.pod('w0', { annotations: MIRROR, spec: { nodeName: NODE } }),
      ),
    ],
  },
  {
    who: 'tenant',
    tries: 'calls a gang Pod without a node a mirror Pod',
    ends: {
      up: apiServer(422, 'kubernetes.io/config.mirror'),
      gone: apiServer(422, 'kubernetes.io/config.mirror'),
      down: unreachable('pods'),
    },
    attempt: async (scene) => [
      await scene.send(scene.tenant, 'POST', scene.pods(), scene.pod('w0', { annotations: MIRROR })),
    ],
  },
  {
    who: 'tenant',
    tries: 'gives a gang Pod a `nodeName` with escapes of a terminal, which a refusal would repeat',
    ends: {
      up: webhook('pods', 'NodeNameForbidden', 403),
      gone: apiServer(422, 'spec.nodeName'),
      down: unreachable('pods'),
    },
    attempt: async (scene) => {
      const nodeName = 'n1\u001b]0;owned\u0007\u001b[2J';
      const answer = await scene.send(
        scene.tenant,
        'POST',
        scene.pods(),
        scene.pod('w0', { spec: { nodeName } }),
      );
      expect((answer.body as { message: string }).message).not.toMatch(/[\u0000-\u001f\u007f]/);
      return [answer];
    },
  },
  {
    who: 'tenant',
    tries: 'sets `nodeName` of a waiting Pod, by patch and by PUT',
    ends: apiServer(422, 'spec: Forbidden: pod updates may not change fields'),
    given,
    attempt: async (scene) => {
      const { spec, ...rest } = await scene.storedPod();
      return [
        await scene.send(scene.tenant, 'PATCH', scene.pods('w0'), { spec: { nodeName: NODE } }, MERGE),
        await scene.send(scene.tenant, 'PUT', scene.pods('w0'), {
          ...rest,
          spec: { ...spec, nodeName: NODE },
        }),
      ];
    },
  },
  {
    who: 'tenant',
    tries: 'binds a waiting Pod himself, through `pods/binding` and `bindings`',
    ends: rights,
    given,
    attempt: (scene) => bind(scene, scene.tenant),
  },
  {
    who: 'masters',
    tries: 'binds a waiting Pod, through `pods/binding` and `bindings`',
    ends: apiServer(409, 'schedulingGates'),
    given,
    attempt: (scene) => bind(scene, MASTERS),
  },
  {
    who: 'token',
    tries: 'binds a waiting Pod',
    ends: rights,
    given,
    attempt: (scene) => bind(scene, MUSTER),
  },
  {
    who: 'node',
    tries: 'binds a waiting Pod to itself',
    ends: rights,
    given,
    attempt: (scene) => bind(scene, KUBELET),
  },
  {
    who: 'node',
    tries: 'takes the gate off a waiting Pod, or its labels',
    ends: rights,
    given,
    attempt: async (scene) => [
      await scene.send(KUBELET, 'PATCH', scene.pods('w0'), await scene.ungating()),
      await scene.send(KUBELET, 'PATCH', scene.pods('w0'), { metadata: { labels: null } }, MERGE),
    ],
  },
  {
    who: 'node',
    tries: 'writes the status of a waiting Pod, which is on no node',
    ends: apiServer(
      403,
      'can only update pod status for pods with spec.nodeName set to itself',
      'admission plugin NodeRestriction',
    ),
    given,
    attempt: async (scene) => [
      await scene.send(
        KUBELET,
        'PATCH',
        scene.pods('w0', 'status'),
        { metadata: { labels: { 'grove.io/podgang': null } }, status: { phase: 'Running' } },
        MERGE,
      ),
    ],
  },
  {
    who: 'node',
    tries: 'writes gang labels onto a Pod that runs on it, through its status',
    ends: apiServer(403, 'cannot update labels through pod status', 'admission plugin NodeRestriction'),
    given: async (scene) =>
      scene.make(scene.pods(), scene.pod('w0', { labels: {}, spec: { nodeName: NODE } })),
    attempt: async (scene) => [
      await scene.send(KUBELET, 'PATCH', scene.pods('w0', 'status'), { metadata: { labels: TRAIN } }, MERGE),
    ],
  },
  {
    who: 'node',
    tries: 'creates a gang Pod on itself that is no mirror Pod',
    ends: apiServer(403, 'can only create mirror pods', 'admission plugin NodeRestriction'),
    attempt: async (scene) => [
      await scene.send(KUBELET, 'POST', scene.pods(), scene.pod('w0', { spec: { nodeName: NODE } })),
    ],
  },
  {
    who: 'node',
    tries: 'creates a mirror Pod with the labels of a gang, to complete it',
    ends: {
      up: harmless(201, 'the loop counts no mirror Pod: it runs already, whatever becomes of the gang'),
      gone: harmless(201, 'the loop counts no mirror Pod: it runs already, whatever becomes of the gang'),
      down: harmless(201, 'nobody counts; when Muster is back, the loop counts no mirror Pod'),
    },
    given,
    attempt: async (scene) => {
      const { uid } = (await scene.get<Pod>(`/api/v1/nodes/${NODE}`)).metadata;
      const owner = { apiVersion: 'v1', kind: 'Node', name: NODE, uid, controller: true };
      const body = scene.pod('w1', {
        annotations: MIRROR,
        metadata: { ownerReferences: [owner] },
        spec: { nodeName: NODE },
      });
      return [await scene.send(KUBELET, 'POST', scene.pods(), body)];
    },
    then: async (scene) => {
      if (scene.state !== 'down') await scene.untilLoopWasBusy();
      expect(await scene.initialized()).toBe('False');
      expect(gatesOf(await scene.storedPod('w0'))).toEqual([GATE]);
    },
  },
  {
    who: 'masters',
    tries: 'makes a node whose name has escapes of a terminal, for messages that name nodes',
    ends: apiServer(422, 'metadata.name: Invalid value'),
    attempt: async (scene) => [
      await scene.send(MASTERS, 'POST', '/api/v1/nodes', { metadata: { name: 'n1\u001b[2J' } }),
    ],
  },
  {
    who: 'tenant',
    tries: 'evicts a waiting Pod, and deletes all Pods of the gang at once',
    ends: allowed(0, 'they are his. The gang waits for others; nothing of it starts'),
    given,
    attempt: async (scene) => {
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'w0' } };
      const evicted = await scene.send(scene.tenant, 'POST', scene.pods('w0', 'eviction'), eviction);
      const query = { labelSelector: 'grove.io/podgang=train', gracePeriodSeconds: 0 };
      const deleted = await scene.send(scene.tenant, 'DELETE', scene.pods(), undefined, { query });
      expect([evicted.status, deleted.status]).toEqual([201, 200]);
      return [{ status: 0, body: '' }];
    },
    then: async (scene) => {
      if (scene.state !== 'down') await scene.untilSaid('worker 0/2');
      expect(await scene.initialized()).toBe('False');
    },
  },
];

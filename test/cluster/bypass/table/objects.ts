import { expect } from '@jest/globals';
import { GANGS } from '../../control-plane/releases.ts';
import { GATE } from '../../support/registered-muster.ts';
import { gatesOf, MASTERS, MERGE, MUSTER, TRAIN, type Scene } from '../scene.ts';
import { harmless, open, policy, rights, unreachable, webhook, type Answer, type Way } from '../way.ts';

const OBJECTS = policy('gang-objects', 'GangObjectProtected');

/** The gang waits, and Muster has made the native gang by which kube-scheduler counts. */
const given = async (scene: Scene): Promise<void> => {
  await scene.grantNative();
  await scene.waiting();
  await scene.untilNative('train');
};
const native = (name: string, metadata: object = {}, policy: object = { basic: {} }): object => ({
  apiVersion: GANGS,
  kind: 'PodGroup',
  metadata: { name, ...metadata },
  spec: { schedulingPolicy: policy },
});
const stillWaits = async (scene: Scene): Promise<void> => {
  expect(gatesOf(await scene.storedPod())).toEqual([GATE]);
  expect(await scene.get(scene.native('train'))).toMatchObject({
    spec: { schedulingPolicy: { gang: { minCount: 2 } } },
  });
};

/** By which the schedulers count. Here the tenant may also write Kubernetes' own PodGroups, which `edit` does not give. */
export const OBJECT_WAYS: readonly Way[] = [
  {
    who: 'tenant',
    tries: 'deletes the native PodGroup and Workload of his waiting gang, to make it again without a minimum',
    ends: OBJECTS,
    given,
    attempt: async (scene) => [
      await scene.send(scene.tenant, 'DELETE', scene.native('train')),
      await scene.send(scene.tenant, 'DELETE', scene.native('train').replace('/podgroups/', '/workloads/')),
    ],
    then: stillWaits,
  },
  {
    who: 'tenant',
    tries: 'deletes all native PodGroups of his namespace at once',
    ends: OBJECTS,
    given,
    attempt: async (scene) => [await scene.send(scene.tenant, 'DELETE', scene.native())],
    then: stillWaits,
  },
  {
    who: 'tenant',
    tries: 'takes label or owner off the native PodGroup, so that it is Muster’s no more',
    ends: OBJECTS,
    given,
    attempt: async (scene) => [
      await scene.send(
        scene.tenant,
        'PATCH',
        scene.native('train'),
        { metadata: { labels: { 'app.kubernetes.io/managed-by': null } } },
        MERGE,
      ),
      await scene.send(
        scene.tenant,
        'PATCH',
        scene.native('train'),
        { metadata: { ownerReferences: null } },
        MERGE,
      ),
    ],
    then: stillWaits,
  },
  {
    who: 'tenant',
    tries:
      'makes PodGroups as Muster does, with its label or a PodGang as owner: to have them counted, or to fill its memory',
    ends: OBJECTS,
    given: async (scene) => {
      await scene.grantNative();
      await scene.waiting();
    },
    attempt: async (scene) => {
      const { uid } = (await scene.storedGang()).metadata;
      const owner = {
        apiVersion: 'scheduler.grove.io/v1alpha1',
        kind: 'PodGang',
        name: 'train',
        uid,
        controller: true,
      };
      const labels = { 'app.kubernetes.io/managed-by': 'muster', 'grove.io/podgang': 'train' };
      return [
        await scene.send(scene.tenant, 'POST', scene.native(), native('another', { labels })),
        await scene.send(
          scene.tenant,
          'POST',
          scene.native(),
          native('another', { ownerReferences: [owner] }),
        ),
      ];
    },
  },
  {
    who: 'tenant',
    tries: 'takes the name of the native PodGroup before there is a gang',
    ends: {
      up: harmless(201, 'Muster touches no object that is not its own: the gang waits and says so'),
      gone: harmless(201, 'Muster touches no object that is not its own: the gang waits and says so'),
      down: unreachable('podgangs'),
    },
    given: async (scene) => {
      await scene.grantNative();
      await scene.make(scene.native(), native('train'), scene.tenant);
    },
    attempt: async (scene) => {
      const made = await scene.send(scene.tenant, 'POST', scene.gangs(), scene.gang());
      if (scene.state === 'down') return [made];
      const pods: Answer[] = [];
      for (const name of ['w0', 'w1'])
        pods.push(await scene.send(scene.tenant, 'POST', scene.pods(), scene.pod(name)));
      return [made, ...pods];
    },
    then: async (scene) => {
      if (scene.state === 'down') return;
      await scene.untilLoopWasBusy();
      await scene.untilEvent('BackendOperationFailed');
      expect(gatesOf(await scene.storedPod('w0'))).toEqual([GATE]);
      expect(gatesOf(await scene.storedPod('w1'))).toEqual([GATE]);
    },
  },
  {
    who: 'tenant',
    tries: 'completes the native gang by a Pod without labels that names it',
    ends: {
      up: policy('native-gang-strangers', 'NativeGangForeign'),
      gone: policy('native-gang-strangers', 'NativeGangForeign'),
      down: policy('native-gang-strangers', 'NativeGangForeign'),
    },
    given,
    attempt: async (scene) => [
      await scene.send(
        scene.tenant,
        'POST',
        scene.pods(),
        scene.pod('stranger', { labels: {}, spec: { schedulingGroup: { podGroupName: 'train' } } }),
      ),
    ],
  },
  {
    who: 'tenant',
    tries: 'completes the native gang by a Pod of another gang that names it',
    ends: {
      up: webhook('pods', 'BackendFailed'),
      gone: policy('gang-pod-create', 'NativeGangForeign'),
      down: unreachable('pods'),
    },
    given,
    attempt: async (scene) => [
      await scene.send(
        scene.tenant,
        'POST',
        scene.pods(),
        scene.pod('stranger', {
          labels: { ...TRAIN, 'grove.io/podgang': 'another' },
          spec: { schedulingGroup: { podGroupName: 'train' } },
        }),
      ),
    ],
  },
  {
    who: 'tenant',
    tries:
      'completes a gang of Volcano or coscheduling by a Pod without gang labels that names its group, now or later',
    ends: policy('group-strangers', 'GangGroupForeign'),
    given: async (scene) => {
      for (const name of ['volcano', 'coscheduling']) {
        const metadata = { labels: { 'grove.io/scheduler-name': name } };
        await scene.make(scene.gangs(), scene.gang(name, 2, { metadata }));
      }
      await scene.make(scene.pods(), scene.pod('plain', { labels: { app: 'web' } }));
    },
    attempt: async (scene) => {
      const keys = [
        { annotations: { 'scheduling.k8s.io/group-name': 'volcano' } },
        { annotations: { 'scheduling.volcano.sh/group-name': 'volcano' } },
        { labels: { 'scheduling.x-k8s.io/pod-group': 'coscheduling' } },
      ];
      const answers: Answer[] = [];
      for (const metadata of keys) {
        const body = scene.pod('stranger', { labels: {}, ...metadata });
        answers.push(await scene.send(scene.tenant, 'POST', scene.pods(), body));
        answers.push(await scene.send(scene.tenant, 'PATCH', scene.pods('plain'), { metadata }, MERGE));
        answers.push(await scene.send(MASTERS, 'PATCH', scene.pods('plain', 'status'), { metadata }, MERGE));
      }
      return answers;
    },
  },
  {
    who: 'tenant',
    tries: 'completes a gang of coscheduling by a Pod of another gang that names its group',
    ends: { gone: policy('group-strangers', 'GangGroupForeign'), down: unreachable('pods') },
    given: async (scene) => {
      const metadata = { labels: { 'grove.io/scheduler-name': 'coscheduling' } };
      await scene.make(scene.gangs(), scene.gang('train', 2, { metadata }));
    },
    attempt: async (scene) => {
      const labels = { ...TRAIN, 'grove.io/podgang': 'another', 'scheduling.x-k8s.io/pod-group': 'train' };
      return [await scene.send(scene.tenant, 'POST', scene.pods(), scene.pod('stranger', { labels }))];
    },
  },
  {
    who: 'tenant',
    tries:
      'puts an unlabelled Pod that names the native gang, or the group that another scheduler counts by, there before the gang is created',
    ends: open(
      201,
      'no policy can tell a name that will be a gang’s; kube-scheduler counts the Pod, and the tenant’s own gang may start with a member missing',
    ),
    attempt: async (scene) => [
      await scene.send(
        scene.tenant,
        'POST',
        scene.pods(),
        scene.pod('stranger', { labels: {}, spec: { schedulingGroup: { podGroupName: 'train' } } }),
      ),
    ],
  },
  {
    who: 'tenant',
    tries: 'names KAI’s group of a gang in another namespace in a Pod of his',
    ends: policy('pod-group-name', 'PodGroupForeign'),
    given: async (scene) => scene.make(scene.pods(), scene.pod('plain', { labels: {} })),
    attempt: async (scene) => {
      const annotations = { 'pod-group-name': `${scene.other}.train` };
      return [
        await scene.send(scene.tenant, 'POST', scene.pods(), scene.pod('w0', { labels: {}, annotations })),
        await scene.send(scene.tenant, 'PATCH', scene.pods('plain'), { metadata: { annotations } }, MERGE),
      ];
    },
  },
  {
    who: 'tenant',
    tries:
      'gives KAI’s group of another namespace a name with escapes of a terminal, which the refusal would repeat',
    ends: policy('pod-group-name', 'PodGroupForeign'),
    attempt: async (scene) => {
      const annotations = { 'pod-group-name': `${scene.other}.\u001b[2J\u0007` };
      const answer = await scene.send(
        scene.tenant,
        'POST',
        scene.pods(),
        scene.pod('w0', { labels: {}, annotations }),
      );
      expect((answer.body as { message: string }).message).not.toMatch(/[\u0000-\u001f\u007f]/);
      return [answer];
    },
  },
  {
    who: 'masters',
    tries: 'makes an object that looks like Muster’s, or changes one',
    ends: OBJECTS,
    given,
    attempt: async (scene) => [
      await scene.send(
        MASTERS,
        'POST',
        scene.native(),
        native('another', { labels: { 'app.kubernetes.io/managed-by': 'muster' } }),
      ),
      await scene.send(
        MASTERS,
        'PATCH',
        scene.native('train'),
        { metadata: { labels: { 'app.kubernetes.io/managed-by': null } } },
        MERGE,
      ),
    ],
    then: stillWaits,
  },
  {
    who: 'token',
    tries: 'deletes a PodGroup that Muster does not keep, or changes it',
    ends: policy('account-objects', 'AccountBounds'),
    given: async (scene) => scene.make(scene.native(), native('somebodys')),
    attempt: async (scene) => [
      await scene.send(MUSTER, 'DELETE', scene.native('somebodys')),
      await scene.send(
        MUSTER,
        'PATCH',
        scene.native('somebodys'),
        { metadata: { labels: { x: 'y' } } },
        MERGE,
      ),
    ],
  },
  {
    who: 'tenant',
    tries: 'forges the status of a native gang or of his gang’s, to have it taken for scheduled',
    ends: rights,
    given,
    attempt: async (scene) => {
      const said = { status: { conditions: [{ type: 'Scheduled', status: 'True' }] } };
      return [
        await scene.send(scene.tenant, 'PATCH', scene.native('train/status'), said, MERGE),
        await scene.send(scene.tenant, 'PATCH', scene.gangs('train', 'status'), said, MERGE),
      ];
    },
  },
];

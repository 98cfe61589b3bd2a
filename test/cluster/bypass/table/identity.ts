import { expect } from '@jest/globals';
import { GATE } from '../../support/registered-muster.ts';
import {
  APPLY,
  gatesOf,
  MASTERS,
  MERGE,
  MUSTER,
  REQUESTING,
  TRAIN,
  type Identity,
  type Scene,
} from '../scene.ts';
import {
  apiServer,
  either,
  harmless,
  policy,
  rights,
  unreachable,
  webhook,
  type Answer,
  type Way,
} from '../way.ts';

const IMMUTABLE = policy('gang-pod-identity', 'GangLabelImmutable');
const COUNTED = policy('gang-pod-identity', 'SchedulerGroupImmutable');
const given = (scene: Scene): Promise<void> => scene.waiting();

const labelling = (scene: Scene, who: Identity, labels: object, sub = ''): Promise<Answer> =>
  scene.send(who, 'PATCH', scene.pods('w0', sub), { metadata: { labels } }, MERGE);

/** Keys by which the schedulers of the backends count, as a Pod may have them. */
const COUNTED_KEYS = {
  labels: { 'kai.scheduler/subgroup-name': 'worker', 'scheduling.x-k8s.io/pod-group': 'train' },
  annotations: (namespace: string) => ({
    'pod-group-name': `${namespace}.train`,
    'scheduling.k8s.io/group-name': 'train',
  }),
};

/** Which gang and group a Pod counts for. */
export const IDENTITY_WAYS: readonly Way[] = [
  {
    who: 'tenant',
    tries: 'takes the gang labels off a waiting Pod, one and all',
    ends: IMMUTABLE,
    given,
    attempt: async (scene) => [
      await labelling(scene, scene.tenant, { 'grove.io/podgang': null }),
      await labelling(scene, scene.tenant, { 'grove.io/podclique': null }),
      await scene.send(scene.tenant, 'PATCH', scene.pods('w0'), [{ op: 'remove', path: '/metadata/labels' }]),
    ],
  },
  {
    who: 'tenant',
    tries: 'moves a waiting Pod to another gang, another group, behind another base gang',
    ends: IMMUTABLE,
    given,
    attempt: async (scene) =>
      Promise.all(
        ['grove.io/podgang', 'grove.io/podclique', 'grove.io/base-podgang'].map((key) =>
          labelling(scene, scene.tenant, { [key]: 'another' }),
        ),
      ),
  },
  {
    who: 'tenant',
    tries: 'makes a Pod that is no gang’s a member afterwards, by merge patch and by server-side apply',
    ends: IMMUTABLE,
    given: async (scene) => scene.make(scene.pods(), scene.pod('w0', { labels: {} })),
    attempt: async (scene) => [
      await labelling(scene, scene.tenant, TRAIN),
      await scene.send(
        scene.tenant,
        'PATCH',
        scene.pods('w0'),
        { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'w0', labels: TRAIN } },
        APPLY('me'),
      ),
    ],
  },
  {
    who: 'tenant',
    tries: 'moves a Pod to another gang while it is being deleted, which the policies let pass',
    ends: harmless(200, 'a Pod that is being deleted is counted for no gang, and never bound'),
    given: async (scene) => {
      await scene.waiting();
      await scene.make(scene.gangs(), scene.gang('another', 1));
      await scene.untilSaid('worker 0/1', 'another');
      const kept = { metadata: { finalizers: ['example.com/mine'] } };
      await scene.plane.client.ok('PATCH', scene.pods('w0'), kept, { ...MERGE, ...scene.tenant });
      await scene.plane.client.ok('DELETE', scene.pods('w0'), undefined, scene.tenant);
    },
    attempt: async (scene) => [await labelling(scene, scene.tenant, { 'grove.io/podgang': 'another' })],
    then: async (scene) => {
      if (scene.state !== 'down') await scene.untilLoopWasBusy();
      expect(await scene.initialized('another')).toBe('False');
      expect(await scene.referencesOf('another')).toEqual([]);
    },
  },
  {
    who: 'masters',
    tries: 'relabels a waiting Pod through `pods` and `pods/status`',
    ends: IMMUTABLE,
    given,
    attempt: async (scene) => [
      await labelling(scene, MASTERS, { 'grove.io/podgang': 'another' }),
      await labelling(scene, MASTERS, { 'grove.io/podgang': 'another' }, 'status'),
      await labelling(scene, MASTERS, { 'grove.io/podclique': null }, 'status'),
    ],
  },
  {
    who: 'masters',
    tries: 'relabels a waiting Pod through `pods/resize` and `pods/ephemeralcontainers`',
    ends: harmless(200, 'the API server keeps the metadata in these subresources'),
    given: (scene) => scene.waiting(scene.namespace, REQUESTING),
    attempt: async (scene) => {
      const strategic = { contentType: 'application/strategic-merge-patch+json' };
      const metadata = { labels: { 'grove.io/podgang': 'another' } };
      const main = { name: 'main', resources: { requests: { cpu: '2' } } };
      const debug = { ephemeralContainers: [{ name: 'debug', image: 'example/debug:1' }] };
      return [
        await scene.send(
          MASTERS,
          'PATCH',
          scene.pods('w0', 'resize'),
          { metadata, spec: { containers: [main] } },
          strategic,
        ),
        await scene.send(
          MASTERS,
          'PATCH',
          scene.pods('w0', 'ephemeralcontainers'),
          { metadata, spec: debug },
          strategic,
        ),
      ];
    },
    then: async (scene) => {
      const { metadata, spec } = await scene.storedPod();
      expect(metadata.labels).toEqual(TRAIN);
      expect(spec).toMatchObject({ ephemeralContainers: [{ name: 'debug' }] });
    },
  },
  {
    who: 'tenant',
    tries: 'writes labels through `pods/status`, as many controllers may',
    ends: rights,
    given,
    attempt: async (scene) => [await labelling(scene, scene.tenant, { 'grove.io/podgang': null }, 'status')],
  },
  {
    who: 'masters',
    tries: 'relabels a Pod by a Binding, through `pods/binding` and `bindings`',
    ends: policy('pod-binding', 'BindingKeysForbidden'),
    given: async (scene) => scene.make(scene.pods(), scene.pod('w0', { labels: {} })),
    attempt: (scene) =>
      binding(scene, 'w0', [
        { labels: { 'grove.io/podgang': 'train' } },
        { labels: { 'muster.dev/gang': 'true' } },
        { labels: { 'kai.scheduler/subgroup-name': 'worker' } },
        { labels: { 'scheduling.x-k8s.io/pod-group': 'train' } },
      ]),
  },
  {
    who: 'masters',
    tries: 'completes a gang of Volcano by a Pod without gang labels, with the Binding that places it',
    ends: policy('binding-strangers', 'GangGroupForeign'),
    given: async (scene) => {
      const metadata = { labels: { 'grove.io/scheduler-name': 'volcano' } };
      await scene.make(scene.gangs(), scene.gang('train', 2, { metadata }));
      await scene.make(scene.pods(), scene.pod('plain', { labels: {} }));
    },
    attempt: (scene) =>
      binding(scene, 'plain', [
        { annotations: { 'scheduling.k8s.io/group-name': 'train' } },
        { annotations: { 'scheduling.volcano.sh/group-name': 'train' } },
      ]),
  },
  {
    who: 'tenant',
    tries: 'changes the keys by which KAI, Volcano and coscheduling count a gang Pod',
    ends: COUNTED,
    given: async (scene) => {
      await scene.make(scene.gangs(), scene.gang());
      const annotations = COUNTED_KEYS.annotations(scene.namespace);
      await scene.make(
        scene.pods(),
        scene.pod('w0', { labels: { ...TRAIN, ...COUNTED_KEYS.labels }, annotations }),
      );
      await scene.untilSaid('worker 1/2');
    },
    attempt: async (scene) => {
      const send = (metadata: object): Promise<Answer> =>
        scene.send(scene.tenant, 'PATCH', scene.pods('w0'), { metadata }, MERGE);
      const labels = Object.keys(COUNTED_KEYS.labels).flatMap((key) => [
        { labels: { [key]: 'another' } },
        { labels: { [key]: null } },
      ]);
      const annotations = Object.keys(COUNTED_KEYS.annotations('')).flatMap((key) => [
        { annotations: { [key]: key === 'pod-group-name' ? `${scene.namespace}.another` : 'another' } },
        { annotations: { [key]: null } },
      ]);
      return Promise.all([...labels, ...annotations].map(send));
    },
  },
  {
    who: 'tenant',
    tries:
      'names the group with a letter that looks like another (Cyrillic о), with a control character, with an escape',
    ends: {
      up: apiServer(422, 'a valid label must be'),
      gone: apiServer(422, 'a valid label must be'),
      down: unreachable('pods'),
    },
    attempt: async (scene) =>
      Promise.all(
        ['w\u043erker', 'worker\u0000', 'worker\u001b[2J'].map((group) =>
          scene.send(
            scene.tenant,
            'POST',
            scene.pods(),
            scene.pod('w0', { labels: { ...TRAIN, 'grove.io/podclique': group } }),
          ),
        ),
      ),
  },
  {
    who: 'tenant',
    tries: 'names the group in another case, and one that the gang does not have',
    ends: {
      up: harmless(201, 'the Pod waits behind its gate: it counts for no group of the gang'),
      gone: harmless(201, 'the Pod waits behind its gate: it counts for no group of the gang'),
      down: unreachable('pods'),
    },
    given,
    attempt: async (scene) => {
      const answers: Answer[] = [];
      for (const [index, group] of ['Worker', 'constructor'].entries()) {
        const labels = { ...TRAIN, 'grove.io/podclique': group };
        answers.push(
          await scene.send(scene.tenant, 'POST', scene.pods(), scene.pod(`x${index}`, { labels })),
        );
      }
      return answers;
    },
    then: async (scene) => {
      expect(await scene.initialized()).toBe('False');
      if (scene.state === 'down') return;
      expect(gatesOf(await scene.storedPod('x0'))).toEqual([GATE]);
      expect(gatesOf(await scene.storedPod('x1'))).toEqual([GATE]);
    },
  },
  {
    who: 'tenant',
    tries: 'leaves the name of the gang empty, or writes it as no PodGang can be called',
    ends: {
      up: webhook('pods', 'GangNameInvalid'),
      gone: harmless(201, 'the gate is put on every Pod with the label, and no gang takes it off'),
      down: unreachable('pods'),
    },
    attempt: async (scene) => {
      const answers: Answer[] = [];
      for (const [index, gang] of ['', 'Train', 'a_b'].entries()) {
        const labels = { ...TRAIN, 'grove.io/podgang': gang };
        answers.push(
          await scene.send(scene.tenant, 'POST', scene.pods(), scene.pod(`x${index}`, { labels })),
        );
      }
      return answers;
    },
    then: async (scene) => {
      if (scene.state !== 'gone') return;
      expect((await scene.untilPods(3)).map(gatesOf)).toEqual([[GATE], [GATE], [GATE]]);
    },
  },
  {
    who: 'tenant',
    tries: 'puts a Pod of another scheduler into the gang, to complete it by one that is placed alone',
    ends: {
      up: webhook('pods', 'SchedulerNotEnabled'),
      gone: harmless(201, 'the loop counts no Pod of another scheduler, and its gate stays'),
      down: unreachable('pods'),
    },
    given,
    attempt: async (scene) => [
      await scene.send(
        scene.tenant,
        'POST',
        scene.pods(),
        scene.pod('w1', { spec: { schedulerName: 'mine' } }),
      ),
    ],
    then: async (scene) => {
      if (scene.state === 'gone') {
        await scene.untilSaid('mine');
        expect(gatesOf(await scene.storedPod('w1'))).toEqual([GATE]);
      }
      expect(gatesOf(await scene.storedPod('w0'))).toEqual([GATE]);
    },
  },
  {
    who: 'token',
    tries: 'relabels a waiting Pod',
    ends: either(IMMUTABLE, policy('account-pods', 'AccountBounds')),
    given,
    attempt: async (scene) => [await labelling(scene, MUSTER, { 'grove.io/podgang': 'another' })],
  },
];

/** By the new way and the old one. */
async function binding(scene: Scene, name: string, changes: readonly object[]): Promise<Answer[]> {
  const target = { apiVersion: 'v1', kind: 'Node', name: 'n1' };
  const answers: Answer[] = [];
  for (const change of changes) {
    const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, ...change }, target };
    for (const path of [scene.pods(name, 'binding'), `/api/v1/namespaces/${scene.namespace}/bindings`])
      answers.push(await scene.send(MASTERS, 'POST', path, body));
  }
  return answers;
}

import { expect } from '@jest/globals';
import { GATE } from '../../support/registered-muster.ts';
import { gatesOf, MASTERS, MERGE, MUSTER, TRAIN, type Identity, type Scene } from '../scene.ts';
import {
  allowed,
  harmless,
  policy,
  rights,
  unreachable,
  webhook,
  type Answer,
  type End,
  type State,
  type Way,
} from '../way.ts';

const INITIALIZED = 'podgang-initialized';
const SPEC = 'podgang-spec';
const given = (scene: Scene): Promise<void> => scene.waiting();
const DOWN = unreachable('podgangs');
const ANOTHER =
  'none of its Pods has started, so the former native gang goes and the Pods wait for the new one: it has as many as it asks for, as any gang of his';

const condition = (status: string, type = 'Initialized') => ({
  type,
  status,
  reason: 'Forged',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const saying = (...conditions: readonly object[]): object => ({ status: { phase: 'Running', conditions } });
const write = (scene: Scene, who: Identity, body: object, sub = ''): Promise<Answer> =>
  scene.send(who, 'PATCH', scene.gangs('train', sub), body, MERGE);
const referring = (namespace: string, ...names: readonly string[]): object => ({
  spec: {
    podgroups: [
      { name: 'worker', minReplicas: 2, podReferences: names.map((name) => ({ namespace, name })) },
    ],
  },
});
const REFERENCES: Partial<Record<State, End>> = {
  up: harmless(200, 'Muster’s mutating webhook puts back what an account that is not trusted writes there'),
  gone: policy(SPEC, 'ReferencesProtected'),
  down: DOWN,
};

/** The word on which gates come off. */
export const GANG_WAYS: readonly Way[] = [
  {
    who: 'tenant',
    tries: 'writes Initialized=True into the status of his gang',
    ends: rights,
    given,
    attempt: async (scene) => [
      await write(scene, scene.tenant, saying(condition('True')), 'status'),
      await scene.send(scene.tenant, 'PUT', scene.gangs('train', 'status'), await scene.storedGang()),
    ],
  },
  {
    who: 'masters',
    tries: 'writes Initialized=True into the status of a gang',
    ends: policy(INITIALIZED, 'InitializedProtected'),
    given,
    attempt: async (scene) => [await write(scene, MASTERS, saying(condition('True')), 'status')],
  },
  {
    who: 'masters',
    tries: 'removes Initialized, or gives it twice',
    ends: policy(INITIALIZED, 'InitializedProtected'),
    given,
    attempt: async (scene) => [
      await write(scene, MASTERS, saying(), 'status'),
      await write(scene, MASTERS, saying(condition('False'), condition('True')), 'status'),
    ],
  },
  {
    who: 'token',
    tries: 'writes Initialized=True while Pods are missing',
    ends: policy(INITIALIZED, 'InitializedTooEarly', 422),
    given,
    attempt: async (scene) => [await write(scene, MUSTER, saying(condition('True')), 'status')],
  },
  {
    who: 'tenant',
    tries: 'sends Initialized=True with a new gang, and in the status of an ordinary update',
    ends: {
      up: harmless(0, 'the API server drops status there'),
      gone: harmless(0, 'the API server drops status there'),
      down: DOWN,
    },
    attempt: async (scene) => {
      const born = { ...scene.gang(), ...saying(condition('True')) };
      const created = await scene.send(scene.tenant, 'POST', scene.gangs(), born);
      if (scene.state === 'down') return [created];
      const updated = await write(scene, scene.tenant, saying(condition('True')));
      expect([created.status, updated.status]).toEqual([201, 200]);
      return [{ status: 0, body: '' }];
    },
    then: async (scene) => {
      if (scene.state === 'down') return;
      await scene.untilSaid('worker 0/2');
      expect(await scene.initialized()).toBe('False');
    },
  },
  {
    who: 'tenant',
    tries: 'gives a new gang references to Pods that are not there, ten thousand of them',
    alone: true,
    ends: {
      up: harmless(201, 'Muster’s mutating webhook empties the references of an account that is not trusted'),
      gone: policy(SPEC, 'ReferencesProtected'),
      down: DOWN,
    },
    attempt: async (scene) => {
      const references = Array.from({ length: 10_000 }, (_, index) => ({
        namespace: scene.namespace,
        name: `nobody-${index}`,
      }));
      return [await scene.send(scene.tenant, 'POST', scene.gangs(), scene.gang('train', 2, { references }))];
    },
    then: async (scene) => {
      if (scene.state === 'up') expect(await scene.referencesOf()).toEqual([]);
    },
  },
  {
    who: 'tenant',
    tries: 'writes references into his waiting gang: to one Pod that waits and one that is not there',
    ends: REFERENCES,
    given,
    attempt: async (scene) => [await write(scene, scene.tenant, referring(scene.namespace, 'w0', 'w1'))],
    then: async (scene) => expect(await scene.referencesOf()).toEqual([]),
  },
  {
    who: 'tenant',
    tries: 'lets his gang refer to Pods of another namespace',
    ends: REFERENCES,
    given,
    attempt: async (scene) => [await write(scene, scene.tenant, referring(scene.other, 'w0', 'w1'))],
    then: async (scene) => expect(await scene.referencesOf()).toEqual([]),
  },
  {
    who: 'masters',
    tries: 'writes references into a waiting gang',
    ends: REFERENCES,
    given,
    attempt: async (scene) => [await write(scene, MASTERS, referring(scene.namespace, 'w0', 'w1'))],
    then: async (scene) => expect(await scene.referencesOf()).toEqual([]),
  },
  {
    who: 'tenant',
    tries: 'hands his waiting gang over to the Grove operator, for which fewer rules hold',
    ends: {
      up: policy(SPEC, 'ManagerProtected'),
      gone: policy(SPEC, 'ManagerProtected'),
      down: policy(SPEC, 'ManagerProtected'),
    },
    given,
    attempt: async (scene) => [
      await write(scene, scene.tenant, {
        metadata: { labels: { 'app.kubernetes.io/managed-by': 'grove-operator' } },
      }),
    ],
  },
  {
    who: 'tenant',
    tries: 'writes into his gang whom Muster is to evict for it',
    ends: {
      up: policy(SPEC, 'PreemptionPlanProtected'),
      gone: policy(SPEC, 'PreemptionPlanProtected'),
      down: policy(SPEC, 'PreemptionPlanProtected'),
    },
    given,
    attempt: async (scene) => [
      await write(scene, scene.tenant, {
        metadata: { annotations: { 'muster.dev/preemption-plan': '{"victims":[["x"]]}' } },
      }),
    ],
  },
  {
    who: 'tenant',
    tries: 'creates a gang as the Grove operator’s and completes it himself',
    ends: {
      up: allowed(201, 'it is taken for Grove’s, whose operator does not know it: its Pods wait for ever'),
      gone: allowed(201, 'it is taken for Grove’s, whose operator does not know it: its Pods wait for ever'),
      down: DOWN,
    },
    attempt: async (scene) => {
      const metadata = { labels: { 'app.kubernetes.io/managed-by': 'grove-operator' } };
      const answer = await scene.send(
        scene.tenant,
        'POST',
        scene.gangs(),
        scene.gang('train', 1, { metadata }),
      );
      if (scene.state === 'down') return [answer];
      const pod = await scene.send(scene.tenant, 'POST', scene.pods(), scene.pod('w0'));
      return [answer, pod];
    },
    then: async (scene) => {
      if (scene.state === 'down') return;
      await scene.untilLoopWasBusy();
      expect(await scene.initialized()).toBeUndefined();
      expect(gatesOf(await scene.storedPod())).toEqual([GATE]);
    },
  },
  {
    who: 'tenant',
    tries: 'moves his waiting gang to another backend, so that its Pods are two schedulers’',
    ends: {
      up: webhook('podgangs', 'SchedulerLabelImmutable'),
      gone: harmless(
        200,
        'the Pods are prepared for the scheduler that they had: the loop counts none and releases none',
      ),
      down: DOWN,
    },
    given,
    attempt: async (scene) => [
      await write(scene, scene.tenant, {
        metadata: { labels: { 'grove.io/scheduler-name': 'kai-scheduler' } },
      }),
    ],
    then: async (scene) => {
      expect(gatesOf(await scene.storedPod())).toEqual([GATE]);
    },
  },
  {
    who: 'tenant',
    tries: 'lowers the minimum of his waiting gang to the Pods that are there',
    ends: {
      up: allowed(200, 'how many Pods his gang needs is his to say'),
      gone: allowed(200, 'how many Pods his gang needs is his to say'),
      down: DOWN,
    },
    given,
    attempt: async (scene) => [
      await write(scene, scene.tenant, {
        spec: { podgroups: [{ name: 'worker', minReplicas: 1, podReferences: [] }] },
      }),
    ],
    then: async (scene) => {
      if (scene.state !== 'down') await scene.untilUngated('w0');
    },
  },
  {
    who: 'tenant',
    tries: 'changes the groups of a gang that has started',
    ends: {
      up: policy(SPEC, 'GroupsFixed', 422),
      gone: policy(SPEC, 'GroupsFixed', 422),
      down: DOWN,
    },
    given: async (scene) => {
      await scene.waiting();
      await scene.make(scene.pods(), scene.pod('w1'));
      await scene.untilUngated('w0', 'w1');
    },
    attempt: async (scene) => {
      const [group] = (await scene.storedGang()).spec.podgroups;
      const podgroups = [group, { name: 'more', minReplicas: 5, podReferences: [] }];
      return [await write(scene, scene.tenant, { spec: { podgroups } })];
    },
  },
  {
    who: 'token',
    tries: 'takes Initialized back from a gang that has started',
    ends: policy(INITIALIZED, 'InitializedFinal', 422),
    given: async (scene) => {
      await scene.waiting();
      await scene.make(scene.pods(), scene.pod('w1'));
      await scene.untilUngated('w0', 'w1');
    },
    attempt: async (scene) => [
      await write(scene, MUSTER, saying(condition('False')), 'status'),
      await write(scene, MUSTER, { status: null }, 'status'),
    ],
  },
  {
    who: 'tenant',
    tries: 'deletes his gang and makes it again, smaller and with another uid, while its Pods wait',
    ends: {
      up: harmless(201, ANOTHER),
      gone: harmless(201, ANOTHER),
      down: DOWN,
    },
    given: async (scene) => {
      await scene.waiting();
      // Made a moment after the gang: without it there is nothing that is kept.
      await scene.untilNative('train');
    },
    attempt: async (scene) => {
      // While Muster is down it is not even deleted, so that there is something to compare.
      if (scene.state === 'down')
        return [await scene.send(scene.tenant, 'POST', scene.gangs(), scene.gang('again', 1))];
      await scene.plane.client.ok('DELETE', scene.gangs('train'), undefined, scene.tenant);
      return [await scene.send(scene.tenant, 'POST', scene.gangs(), scene.gang('train', 1))];
    },
    then: async (scene) => {
      if (scene.state === 'down') expect(gatesOf(await scene.storedPod())).toEqual([GATE]);
      else await scene.untilUngated('w0');
    },
  },
  {
    who: 'tenant',
    tries: 'gives a gang of Grove’s ten thousand references, which Muster would keep',
    alone: true,
    ends: {
      up: policy(SPEC, 'ReferencesProtected'),
      gone: policy(SPEC, 'ReferencesProtected'),
      down: DOWN,
    },
    attempt: async (scene) => {
      const metadata = { labels: { 'app.kubernetes.io/managed-by': 'grove-operator' } };
      const references = Array.from({ length: 10_000 }, (_, index) => ({
        namespace: scene.namespace,
        name: `nobody-${index}`,
      }));
      return [
        await scene.send(
          scene.tenant,
          'POST',
          scene.gangs(),
          scene.gang('train', 2, { metadata, references }),
        ),
      ];
    },
  },
  {
    who: 'tenant',
    tries: 'keeps his gang in deletion by a finalizer of his, and completes it then',
    ends: {
      up: harmless(201, 'a gang that is being deleted releases nobody'),
      gone: harmless(201, 'a gang that is being deleted releases nobody'),
      down: unreachable('pods'),
    },
    given: async (scene) => {
      await scene.waiting();
      await scene.plane.client.ok(
        'PATCH',
        scene.gangs('train'),
        { metadata: { finalizers: ['example.com/mine'] } },
        { ...MERGE, ...scene.tenant },
      );
      await scene.plane.client.ok('DELETE', scene.gangs('train'), undefined, scene.tenant);
    },
    attempt: async (scene) => [await scene.send(scene.tenant, 'POST', scene.pods(), scene.pod('w1'))],
    then: async (scene) => {
      if (scene.state !== 'down') {
        await scene.untilLoopWasBusy();
        expect(gatesOf(await scene.storedPod('w1'))).toEqual([GATE]);
      }
      expect(gatesOf(await scene.storedPod('w0'))).toEqual([GATE]);
      // And it goes when he lets it go, whoever is away: nothing of Muster's stands in its way.
      const release = await write(scene, scene.tenant, { metadata: { finalizers: null } });
      expect(release.status).toBe(200);
    },
  },
  {
    who: 'tenant',
    tries: 'calls the groups of his gang like properties that every JavaScript object has',
    ends: {
      up: harmless(201, 'names are names: the gang lives like any other'),
      gone: harmless(201, 'names are names: the gang lives like any other'),
      down: DOWN,
    },
    attempt: async (scene) => {
      const names = ['constructor', 'toString', 'hasOwnProperty'];
      const podgroups = names.map((name) => ({ name, minReplicas: 1, podReferences: [] }));
      const answers = [
        await scene.send(
          scene.tenant,
          'POST',
          scene.gangs(),
          scene.gang('valueof', 1, { spec: { podgroups } }),
        ),
      ];
      if (scene.state === 'down') return answers;
      for (const [index, name] of names.entries()) {
        const labels = { 'grove.io/podgang': 'valueof', 'grove.io/podclique': name };
        answers.push(
          await scene.send(scene.tenant, 'POST', scene.pods(), scene.pod(`w${index}`, { labels })),
        );
      }
      return answers;
    },
    then: async (scene) => {
      if (scene.state !== 'down') await scene.untilUngated('w0', 'w1', 'w2');
    },
  },
  {
    who: 'tenant',
    tries: 'gives his gang a name that is longer than a label may be',
    ends: {
      up: webhook('podgangs', 'GangNameTooLong'),
      gone: harmless(201, 'no Pod can name such a gang'),
      down: DOWN,
    },
    attempt: async (scene) => [
      await scene.send(scene.tenant, 'POST', scene.gangs(), scene.gang('a'.repeat(64))),
    ],
    then: async (scene) => {
      if (scene.state === 'gone') await scene.untilLoopWasBusy();
    },
  },
  {
    who: 'tenant',
    tries: 'gives two groups one name, so that a Pod is counted twice',
    ends: {
      up: webhook('podgangs', 'GroupNameDuplicate'),
      gone: harmless(201, 'the first of them has the Pods, the other waits'),
      down: DOWN,
    },
    attempt: async (scene) => {
      const podgroups = ['worker', 'worker'].map((name) => ({ name, minReplicas: 1, podReferences: [] }));
      return [
        await scene.send(
          scene.tenant,
          'POST',
          scene.gangs(),
          scene.gang('train', 1, { spec: { podgroups } }),
        ),
      ];
    },
    then: async (scene) => {
      if (scene.state !== 'gone') return;
      await scene.make(scene.pods(), scene.pod('w0'));
      await scene.untilLoopWasBusy();
      expect(gatesOf(await scene.storedPod())).toEqual([GATE]);
    },
  },
  {
    who: 'tenant',
    tries: 'puts his gang behind itself, and behind a gang that is not there (`grove.io/base-podgang`)',
    ends: {
      up: harmless(201, 'it waits for itself for ever; nobody else does'),
      gone: harmless(201, 'it waits for itself for ever; nobody else does'),
      down: unreachable('pods'),
    },
    attempt: async (scene) => {
      const answers: Answer[] = [];
      if (scene.state !== 'down') {
        await scene.make(scene.gangs(), scene.gang('train', 2), scene.tenant);
      }
      for (const [name, base] of [
        ['w0', 'train'],
        ['w1', 'nowhere'],
      ] as const) {
        const labels = { ...TRAIN, 'grove.io/base-podgang': base };
        answers.push(await scene.send(scene.tenant, 'POST', scene.pods(), scene.pod(name, { labels })));
      }
      return answers;
    },
    then: async (scene) => {
      if (scene.state === 'down') return;
      await scene.untilLoopWasBusy();
      expect(gatesOf(await scene.storedPod('w0'))).toEqual([GATE]);
      expect(gatesOf(await scene.storedPod('w1'))).toEqual([GATE]);
    },
  },
];

import { expect } from '@jest/globals';
import { GATE } from '../../support/registered-muster.ts';
import { gatesOf, TRAIN, type Scene } from '../scene.ts';
import { harmless, open, unreachable, webhook, apiServer, type Answer, type Way } from '../way.ts';

const tenantsPod = (scene: Scene, name: string, given: Parameters<Scene['pod']>[1] = {}): Promise<Answer> =>
  scene.send(scene.tenant, 'POST', scene.pods(), scene.pod(name, given));
/** The gang of the other namespace is completed, and starts. */
const otherStarts = async (scene: Scene): Promise<void> => {
  await scene.make(scene.pods('', '', scene.other), scene.pod('w1'));
  await scene.untilUngatedIn(scene.other, 'w0', 'w1');
};

const gangOfPriority = async (scene: Scene, priorityClassName: string): Promise<Answer[]> => [
  await scene.send(
    scene.tenant,
    'POST',
    scene.gangs(),
    scene.gang('train', 1, { spec: { priorityClassName } }),
  ),
];
/** As nobody’s own HPCPolicy can be called, but for the first. */
const namesOfTheirs = ({ other }: Scene): string[] => ['theirs', `${other}/theirs`, `../${other}/theirs`];

const PRIORITY =
  'a PriorityClass is no right of Kubernetes: Muster copies the name into the scheduler’s object, and a quota is asked for Pods only';

/** What one tenant's objects do to others. */
export const OTHERS_WAYS: readonly Way[] = [
  {
    who: 'tenant',
    tries: 'gives Pods the labels of a gang of another namespace, to complete or to disturb it',
    ends: {
      up: harmless(201, 'a gang is looked for in the namespace of its Pods alone'),
      gone: harmless(201, 'a gang is looked for in the namespace of its Pods alone'),
      down: unreachable('pods'),
    },
    given: (scene) => scene.waiting(scene.other),
    attempt: async (scene) => [await tenantsPod(scene, 'w1'), await tenantsPod(scene, 'w0')],
    then: async (scene) => {
      if (scene.state === 'down') return;
      await scene.untilLoopWasBusy();
      expect(await scene.initialized('train', scene.other)).toBe('False');
      expect(gatesOf(await scene.storedPod('w0', scene.other))).toEqual([GATE]);
      expect(gatesOf(await scene.storedPod('w1'))).toEqual([GATE]);
    },
  },
  {
    who: 'tenant',
    tries: 'gives Pods 200 KB of annotations',
    ends: {
      up: harmless(201, 'the loop keeps of a Pod what it uses, and no annotations'),
      gone: harmless(201, 'the loop keeps of a Pod what it uses, and no annotations'),
      down: unreachable('pods'),
    },
    attempt: async (scene) => {
      const annotations = { note: 'x'.repeat(200_000) };
      const answers: Answer[] = [];
      if (scene.state !== 'down') await scene.make(scene.gangs(), scene.gang('train', 8));
      for (let index = 0; index < 8; index += 1)
        answers.push(await tenantsPod(scene, `w${index}`, { annotations }));
      return answers;
    },
    then: async (scene) => {
      if (scene.state !== 'down') await scene.untilUngated('w0', 'w7');
    },
  },
  {
    who: 'tenant',
    tries: 'makes eighty gangs that wait, while a gang of another namespace is to start',
    ends: {
      up: harmless(
        201,
        'a waiting gang costs the loop one write; what becomes of the other is measured in the bench',
      ),
      gone: harmless(
        201,
        'a waiting gang costs the loop one write; what becomes of the other is measured in the bench',
      ),
      down: unreachable('podgangs'),
    },
    given: (scene) => scene.waiting(scene.other),
    attempt: (scene) =>
      Promise.all(
        Array.from({ length: 80 }, (_, index) =>
          scene.send(scene.tenant, 'POST', scene.gangs(), scene.gang(`g${index}`, 1000)),
        ),
      ),
    then: async (scene) => {
      if (scene.state !== 'down') await otherStarts(scene);
    },
  },
  {
    who: 'tenant',
    tries: 'gives a gang as many groups as an object holds',
    ends: {
      up: harmless(201, 'the loop’s work is linear in them; the gang of another namespace starts meanwhile'),
      gone: harmless(
        201,
        'the loop’s work is linear in them; the gang of another namespace starts meanwhile',
      ),
      down: unreachable('podgangs'),
    },
    given: (scene) => scene.waiting(scene.other),
    attempt: async (scene) => {
      const podgroups = Array.from({ length: 2000 }, (_, index) => ({
        name: `group-${index}`,
        minReplicas: 1,
        podReferences: [],
      }));
      return [
        await scene.send(scene.tenant, 'POST', scene.gangs(), scene.gang('wide', 1, { spec: { podgroups } })),
      ];
    },
    then: async (scene) => {
      if (scene.state !== 'down') await otherStarts(scene);
    },
  },
  {
    who: 'tenant',
    tries: 'repeats names in the lists of his Pod (environment, ports), where policies merge',
    ends: {
      up: harmless(201, 'the API server takes such Pods, so they are gated like any other'),
      gone: harmless(201, 'the API server takes such Pods, so they are gated like any other'),
      down: unreachable('pods'),
    },
    attempt: async (scene) => {
      const env = [
        { name: 'A', value: '1' },
        { name: 'A', value: '2' },
      ];
      const ports = [{ containerPort: 80 }, { containerPort: 80 }];
      const containers = [{ name: 'main', image: 'example/train:1', env, ports }];
      return [await tenantsPod(scene, 'w0', { spec: { containers } })];
    },
    then: async (scene) => {
      if (scene.state !== 'down') expect(gatesOf(await scene.storedPod())).toEqual([GATE]);
    },
  },
  {
    who: 'tenant',
    tries: 'asks for a backend by a label with escapes of a terminal, which the refusal would repeat',
    ends: {
      up: webhook('pods', 'SchedulerNotEnabled'),
      gone: apiServer(422, 'a valid label must be'),
      down: unreachable('pods'),
    },
    attempt: async (scene) => {
      const answer = await tenantsPod(scene, 'w0', {
        labels: { ...TRAIN, 'grove.io/scheduler-name': 'x\u001b[2J\u0007' },
      });
      expect((answer.body as { message: string }).message).not.toMatch(/[\u0000-\u001f\u007f]/);
      return [answer];
    },
  },
  {
    who: 'tenant',
    tries: 'runs his gang under the HPCPolicy of another namespace, by its name and by a path to it',
    ends: {
      up: webhook('pods', 'HpcPolicyMissing'),
      gone: harmless(201, 'the gang waits for as long as its own namespace has no such policy'),
      down: unreachable('pods'),
    },
    given: async (scene) => {
      await scene.waiting(scene.other);
      await scene.make(`/apis/muster.dev/v1alpha1/namespaces/${scene.other}/hpcpolicies`, {
        ...{ apiVersion: 'muster.dev/v1alpha1', kind: 'HPCPolicy', metadata: { name: 'theirs' } },
        spec: { hpc: { manager: 'flux', settings: { 'flux-view-image': 'example/view:1' } } },
      });
      for (const [index, named] of namesOfTheirs(scene).entries()) {
        const annotations = { 'muster.dev/hpc-policy': named };
        await scene.make(scene.gangs(), scene.gang(`train-${index}`, 1, { metadata: { annotations } }));
      }
    },
    attempt: (scene) =>
      Promise.all(
        namesOfTheirs(scene).map((_, index) => {
          const labels = { ...TRAIN, 'grove.io/podgang': `train-${index}` };
          return scene.send(scene.tenant, 'POST', scene.pods(), scene.pod(`w${index}`, { labels }));
        }),
      ),
    then: async (scene) => {
      if (scene.state !== 'gone') return;
      await scene.untilLoopWasBusy();
      for (const [index] of namesOfTheirs(scene).entries()) {
        expect(gatesOf(await scene.storedPod(`w${index}`))).toEqual([GATE]);
        expect(await scene.initialized(`train-${index}`)).not.toBe('True');
      }
    },
  },
  {
    who: 'tenant',
    tries: 'gives his gang a PriorityClass of the system',
    ends: {
      up: webhook('podgangs', 'BackendCannotExpress'),
      gone: harmless(201, 'the API server takes no PodGroup of such a priority: the gang waits and says so'),
      down: unreachable('podgangs'),
    },
    attempt: (scene) => gangOfPriority(scene, 'system-node-critical'),
    then: async (scene) => {
      if (scene.state === 'gone') await scene.untilEvent('BackendOperationFailed');
    },
  },
  {
    who: 'tenant',
    tries: 'gives his gang a PriorityClass that a quota keeps from his Pods',
    ends: {
      up: open(201, PRIORITY),
      gone: open(201, PRIORITY),
      down: unreachable('podgangs'),
    },
    given: async (scene) => {
      const quota = {
        metadata: { name: 'none' },
        spec: {
          hard: { pods: '0' },
          scopeSelector: {
            matchExpressions: [
              { scopeName: 'PriorityClass', operator: 'In', values: [`precious-${scene.namespace}`] },
            ],
          },
        },
      };
      await scene.make(`/api/v1/namespaces/${scene.namespace}/resourcequotas`, quota);
      await scene.make('/apis/scheduling.k8s.io/v1/priorityclasses', {
        metadata: { name: `precious-${scene.namespace}` },
        value: 1_000_000,
      });
    },
    attempt: (scene) => gangOfPriority(scene, `precious-${scene.namespace}`),
    then: async (scene) => {
      if (scene.state === 'down') return;
      const found = await scene.untilNative('train');
      expect(found).toMatchObject({ spec: { priorityClassName: `precious-${scene.namespace}` } });
    },
  },
];

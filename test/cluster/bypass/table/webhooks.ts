import { expect } from '@jest/globals';
import { until } from '../../control-plane/until.ts';
import { GATE } from '../../support/registered-muster.ts';
import { secondWebhook, type Answer as Called, type SecondWebhook } from '../../support/second-webhook.ts';
import { gatesOf, TRAIN, type Pod, type Scene } from '../scene.ts';
import { harmless, policy, webhook, type Answer, type Way } from '../way.ts';

/** Registers a webhook behind Muster's, for the Pods of this scene alone, and sends a Pod through it. */
async function through(
  scene: Scene,
  answer: Called,
  labels: Record<string, string>,
): Promise<readonly Answer[]> {
  const name = `zz-${scene.namespace}`;
  const second: SecondWebhook = await secondWebhook(scene.plane.client, name, scene.certificates, { answer });
  try {
    const body = scene.pod('w0', { labels: { ...labels, [name]: 'yes' } });
    await until(`${name} is asked`, async () => {
      await scene.send(scene.tenant, 'POST', scene.pods(), body, { query: { dryRun: 'All' } });
      return second.calls() > 0;
    });
    return [await scene.send(scene.tenant, 'POST', scene.pods(), body)];
  } finally {
    await second.close();
  }
}

/** Somebody else's mutating webhook, which is asked after Muster's. */
export const WEBHOOK_WAYS: readonly Way[] = [
  {
    who: 'webhook',
    tries: 'takes the gate off after Muster put it on',
    ends: { up: policy('gang-pod-create', 'GateMissing'), gone: policy('gang-pod-create', 'GateMissing') },
    attempt: (scene) =>
      through(scene, () => ({ patch: [{ op: 'remove', path: '/spec/schedulingGates' }] }), TRAIN),
  },
  {
    who: 'webhook',
    tries: 'takes the gate off on the first pass, and again when it is asked a second time (reinvocation)',
    ends: { up: policy('gang-pod-create', 'GateMissing'), gone: policy('gang-pod-create', 'GateMissing') },
    attempt: async (scene) => {
      let wasPutBack = false;
      const answers = await through(
        scene,
        ({ object }) => {
          const { metadata, spec } = object as Pod;
          const { annotations = {} } = metadata;
          wasPutBack ||= annotations['seen'] === 'yes' && spec.schedulingGates !== undefined;
          return {
            patch: [
              { op: 'add', path: '/metadata/annotations', value: { ...annotations, seen: 'yes' } },
              ...(spec.schedulingGates === undefined
                ? []
                : [{ op: 'remove', path: '/spec/schedulingGates' }]),
            ],
          };
        },
        TRAIN,
      );
      expect(wasPutBack).toBe(true);
      return answers;
    },
  },
  {
    who: 'webhook',
    tries: 'replaces the gate by one that looks like it',
    ends: { up: policy('gang-pod-create', 'GateMissing'), gone: policy('gang-pod-create', 'GateMissing') },
    attempt: (scene) =>
      through(
        scene,
        () => ({
          patch: [{ op: 'replace', path: '/spec/schedulingGates', value: [{ name: `${GATE}.x` }] }],
        }),
        TRAIN,
      ),
  },
  {
    who: 'webhook',
    tries: 'makes a Pod a gang’s when Muster and its policies have passed it by',
    ends: { up: policy('gang-pod-create', 'GateMissing'), gone: policy('gang-pod-create', 'GateMissing') },
    attempt: (scene) =>
      through(
        scene,
        () => ({
          patch: [
            { op: 'add', path: '/metadata/labels/grove.io~1podgang', value: 'train' },
            { op: 'add', path: '/metadata/labels/grove.io~1podclique', value: 'worker' },
          ],
        }),
        {},
      ),
  },
  {
    who: 'webhook',
    tries: 'takes the gang labels off, and gives the Pod a node',
    ends: {
      up: policy('native-gang-strangers', 'NativeGangForeign'),
      gone: harmless(201, 'it is an ordinary Pod then, and no gang counts it'),
    },
    given: (scene) => scene.make(scene.gangs(), scene.gang('train', 1)),
    attempt: (scene) =>
      through(
        scene,
        // It is asked again, since a policy adds something to what it left.
        ({ object }) => ({
          patch:
            'grove.io/podgang' in ((object as Pod).metadata.labels ?? {})
              ? [
                  { op: 'remove', path: '/metadata/labels/grove.io~1podgang' },
                  { op: 'remove', path: '/spec/schedulingGates' },
                  { op: 'add', path: '/spec/nodeName', value: 'n1' },
                ]
              : [],
        }),
        TRAIN,
      ),
    then: async (scene) => {
      if (scene.state === 'up') return;
      await scene.untilLoopWasBusy();
      expect(gatesOf(await scene.storedPod())).toEqual([]);
      expect(await scene.referencesOf()).toEqual([]);
      expect(await scene.initialized()).toBe('False');
    },
  },
  {
    who: 'webhook',
    tries: 'gives a gang Pod a node after Muster looked',
    ends: {
      up: webhook('pods', 'NodeNameForbidden', 403),
      gone: policy('gang-pod-create', 'NodeNameForbidden'),
    },
    attempt: (scene) =>
      through(
        scene,
        () => ({
          patch: [
            { op: 'remove', path: '/spec/schedulingGates' },
            { op: 'add', path: '/spec/nodeName', value: 'n1' },
          ],
        }),
        TRAIN,
      ),
  },
  {
    who: 'webhook',
    tries: 'gives a gang Pod another scheduler after Muster chose one',
    ends: {
      up: webhook('pods', 'SchedulerNotEnabled'),
      gone: harmless(201, 'the loop counts no Pod of another scheduler, and its gate stays'),
    },
    given: (scene) => scene.make(scene.gangs(), scene.gang('train', 1)),
    attempt: (scene) =>
      through(
        scene,
        () => ({ patch: [{ op: 'replace', path: '/spec/schedulerName', value: 'mine' }] }),
        TRAIN,
      ),
    then: async (scene) => {
      if (scene.state !== 'gone') return;
      await scene.untilSaid('mine');
      expect(gatesOf(await scene.storedPod())).toEqual([GATE]);
    },
  },
];

import { expect } from '@jest/globals';
import { GATE } from '../../support/registered-muster.ts';
import { gatesOf, MERGE, type Scene } from '../scene.ts';
import { harmless, policy, unreachable, webhook, type End, type Way } from '../way.ts';

const ASKS = { 'muster.dev/gang': 'true' };
const JOB_NAME = 'batch.kubernetes.io/job-name';
const NAMED = policy('gang-pod-named', 'GangNotNamed');
const DOWN = unreachable('workload-pods');

const make = async (scene: Scene, labels: Record<string, string>, metadata: object = {}) => [
  await scene.send(scene.tenant, 'POST', scene.pods(), scene.pod('w0', { labels, metadata })),
];

const KEPT = policy('gang-pod-identity', 'GangLabelImmutable');
const NOT_COUNTED: End = harmless(
  200,
  'which gang it is of was decided when it was created, and that of the other does not count it',
);

const NOT_OF_IT = harmless(201, 'a gang that Muster made takes no Pod that does not come from its workload');

/** A Job that nobody makes Pods of, so that those of the scene are all. */
const job = async (scene: Scene, name: string): Promise<object> => {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'a' }] } };
  const { metadata } = await scene.make(`/apis/batch/v1/namespaces/${scene.namespace}/jobs`, {
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name } },
    spec: { parallelism: 2, completions: 2, managedBy: 'example.com/nobody', template },
  });
  return { apiVersion: 'batch/v1', kind: 'Job', name, uid: metadata.uid, controller: true };
};

/** Another's Job `train`, of which one Pod waits for the other. */
const theirs = async (scene: Scene): Promise<object> => {
  const owner = await job(scene, 'train');
  const labels = { ...ASKS, [JOB_NAME]: 'train' };
  await scene.make(scene.pods(), scene.pod('t0', { labels, metadata: { ownerReferences: [owner] } }));
  await scene.untilSaid('main 1/2', 'job-train');
  return owner;
};

/** The same, and a Pod without labels. */
const besideTheirs = async (scene: Scene): Promise<void> => {
  await theirs(scene);
  await scene.make(scene.pods(), scene.pod('w0', { labels: {} }));
};

/** That Pod as one of theirs, which it was not when it was made. */
const joinLate = async (scene: Scene, named: Record<string, string> = {}) => {
  const { ownerReferences } = (await scene.storedPod('t0')).metadata;
  const metadata = { labels: { ...ASKS, ...named, [JOB_NAME]: 'train' }, ownerReferences };
  return [await scene.send(scene.tenant, 'PATCH', scene.pods('w0'), { metadata }, MERGE)];
};

const stillWaits = async (scene: Scene): Promise<void> => {
  if (scene.state === 'down') return;
  await scene.untilLoopWasBusy();
  expect(await scene.initialized('job-train')).not.toBe('True');
  expect(gatesOf(await scene.storedPod('t0'))).toEqual([GATE]);
};

/** The gangs of plain workloads, which nobody writes down. */
export const WORKLOAD_WAYS: readonly Way[] = [
  {
    who: 'tenant',
    tries: 'has a Pod that no workload controls ask for a gang by `muster.dev/gang`, to start alone',
    ends: { up: webhook('workload-pods', 'GangWorkloadUnknown'), gone: NAMED, down: DOWN },
    attempt: (scene) => make(scene, { ...ASKS, [JOB_NAME]: 'train' }),
  },
  {
    who: 'tenant',
    tries: 'writes the label of another’s Job on a Pod that his own Job controls',
    ends: { up: webhook('workload-pods', 'GangWorkloadMismatch', 403), gone: NAMED, down: DOWN },
    attempt: (scene) => {
      const uid = '00000000-0000-4000-8000-000000000000';
      const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'mine', uid, controller: true };
      return make(scene, { ...ASKS, [JOB_NAME]: 'train' }, { ownerReferences: [owner] });
    },
  },
  {
    who: 'tenant',
    tries: 'gives the Pod of his Job the label and the owner of another’s afterwards',
    ends: { up: NOT_COUNTED, gone: NOT_COUNTED, down: unreachable('pods') },
    given: async (scene) => {
      await theirs(scene);
      const owner = await job(scene, 'mine');
      const labels = { ...ASKS, [JOB_NAME]: 'mine' };
      await scene.make(scene.pods(), scene.pod('w0', { labels, metadata: { ownerReferences: [owner] } }));
      await scene.untilSaid('main 1/2', 'job-mine');
    },
    attempt: async (scene) => {
      const [owner] = (await scene.storedPod('t0')).metadata.ownerReferences ?? [];
      const metadata = { labels: { [JOB_NAME]: 'train' }, ownerReferences: [owner] };
      return [await scene.send(scene.tenant, 'PATCH', scene.pods('w0'), { metadata }, MERGE)];
    },
    then: stillWaits,
  },
  {
    who: 'tenant',
    tries: 'writes the name of the gang of another’s Job on his Pod, and asks for none',
    ends: {
      up: NOT_OF_IT,
      gone: NOT_OF_IT,
      down: unreachable('pods'),
    },
    given: theirs,
    attempt: (scene) => make(scene, { 'grove.io/podgang': 'job-train', 'grove.io/podclique': 'main' }),
    then: async (scene) => {
      await stillWaits(scene);
      if (scene.state !== 'down') expect(gatesOf(await scene.storedPod())).toEqual([GATE]);
    },
  },
  {
    who: 'tenant',
    tries: 'adds all labels and the owner to a Pod that was created without',
    ends: KEPT,
    given: besideTheirs,
    attempt: (scene) => joinLate(scene, { 'grove.io/podgang': 'job-train', 'grove.io/podclique': 'main' }),
  },
  {
    who: 'tenant',
    tries: 'adds the label `muster.dev/gang` and the owner alone, to such a Pod',
    ends: {
      up: webhook('workload-pods', 'GangLabelImmutable', 403),
      gone: NOT_COUNTED,
      down: DOWN,
    },
    given: besideTheirs,
    attempt: (scene) => joinLate(scene),
    then: stillWaits,
  },
  {
    who: 'tenant',
    tries:
      'who may patch PodGangs and not delete them, has Muster delete one: he calls it that of a workload which is gone',
    ends: policy('podgang-spec', 'WorkloadProtected'),
    given: (scene) => scene.waiting(),
    attempt: async (scene) => {
      const metadata = { annotations: { 'muster.dev/workload': 'job/none' } };
      return [await scene.send(scene.tenant, 'PATCH', scene.gangs('train'), { metadata }, MERGE)];
    },
  },
];

import { setTimeout as delay } from 'node:timers/promises';
import { LABEL_GANG } from '../src/api/names.ts';
import { NAMESPACE, pod, podGang, yamlOf, type Manifest } from './objects.ts';
import { playKubelet } from './play-kubelet.ts';
import type { Result, Stage } from './stage.ts';

const EVERY_MS = 10_000;
/** Each so many-th gang is urgent. */
const URGENT = 4;

const priority = (name: string, value: number): Manifest => ({
  ...{ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' },
  metadata: { name },
  value,
});

/** A Job whose Pods are a gang: without `seconds` it runs on, and what is preempted of it comes again. */
const jobGang = (
  name: string,
  parallelism: number,
  cpu: string,
  given: { readonly seconds?: number; readonly priorityClassName?: string } = {},
): Manifest => {
  const { seconds, priorityClassName } = given;
  return {
    ...{ apiVersion: 'batch/v1', kind: 'Job' },
    metadata: { name, namespace: NAMESPACE },
    spec: {
      ...{ parallelism, completions: parallelism, ttlSecondsAfterFinished: 30 },
      podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] },
      template: {
        metadata: { labels: { [LABEL_GANG]: 'true' } },
        spec: {
          ...(priorityClassName !== undefined && { priorityClassName }),
          restartPolicy: 'Never',
          terminationGracePeriodSeconds: 1,
          containers: [
            {
              ...{ name: 'main', image: 'registry.example/train:1' },
              ...(seconds !== undefined && { command: ['sleep', String(seconds)] }),
              resources: { requests: { cpu } },
            },
          ],
        },
      },
    },
  };
};

const FIRST: readonly Manifest[] = [
  ...[priority('low', -10), priority('urgent', 1000)],
  ...[podGang(), pod('leader-0', 'leader'), pod('worker-0', 'worker')],
  jobGang('large', 2, '7'),
  jobGang('spare', 2, '2', { priorityClassName: 'low' }),
];

const make = (stage: Stage, objects: readonly Manifest[]): Promise<Result> =>
  stage.quietly(['create', '-f', '-'], objects.map(yamlOf).join('---\n'));

/** Those that are there at once, on a node of 8 CPUs. */
export async function firstGangs(stage: Stage): Promise<void> {
  const { tell } = stage;
  tell.scene('Gangs that live');
  const made = await make(stage, FIRST);
  tell.output(made.stderr + made.stdout);
  tell.say('train waits for a Pod; large for room: two Pods of 7 CPUs, on a node of 8. Every ten');
  tell.say('seconds one more starts, runs and ends; every fourth is urgent, and preempts spare.');
  tell.check('made', made.code === 0);
}

/** Has gangs start, run, end and be preempted until it is aborted. */
export async function keepAlive(stage: Stage, signal: AbortSignal): Promise<void> {
  const kubelet = playKubelet(stage.plane.client, NAMESPACE, signal);
  for (let count = 1; !signal.aborted; count += 1) {
    await make(stage, [
      count % URGENT === 0
        ? jobGang(`urgent-${count}`, 2, '3', { seconds: 15, priorityClassName: 'urgent' })
        : jobGang(`run-${count}`, 3, '250m', { seconds: 15 + (count % 3) * 5 }),
    ]);
    await delay(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  await kubelet;
}

import { LABEL_POD_CLIQUE, LABEL_POD_GANG, LABEL_SCHEDULER_NAME } from '../../../src/api/names.ts';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { POD_GANGS, PODS, type KubeObject } from '../../../src/kube/client/resources.ts';
import { benchPod } from '../../loop/objects.ts';
import { inParallel } from '../../measure/in-parallel.ts';

/** What a tenant does in his own namespace: something first, then the same again and again. */
export interface Flood {
  readonly id: string;
  readonly title: string;
  /** Objects that are there before anything is measured. */
  readonly objects: number;
  /** Writes of his in a second after that: few, since the API server is everybody's, and it is Muster that is measured. */
  readonly perSecond: number;
  make(client: KubeClient, namespace: string, index: number): Promise<unknown>;
  again(client: KubeClient, namespace: string, turn: number): Promise<unknown>;
}

const labels = { [LABEL_SCHEDULER_NAME]: 'default-scheduler' };
const nameOf = (index: number): string => `flood-${String(index).padStart(4, '0')}`;
const target = (namespace: string, index: number) => ({
  resource: POD_GANGS,
  namespace,
  name: nameOf(index),
});

const gang = (
  namespace: string,
  index: number,
  podReferences: readonly object[] = [],
  annotations: Record<string, string> = {},
  minReplicas = 2,
): KubeObject => ({
  metadata: { namespace, name: nameOf(index), labels, annotations },
  spec: { podgroups: [{ name: 'worker', minReplicas, podReferences }] },
});

const ofManyGroups = (namespace: string, index: number): KubeObject => ({
  metadata: { namespace, name: nameOf(index), labels },
  spec: {
    podgroups: Array.from({ length: 1_500 }, (_, group) => ({
      name: `group-${group}`,
      minReplicas: 1,
      podReferences: [],
    })),
  },
});

const pod = (namespace: string, name: string, index: number, group: string): KubeObject => {
  const made = benchPod(namespace, { gang: index, index: 0, contender: 'bare' });
  const membership = { [LABEL_POD_GANG]: nameOf(index), [LABEL_POD_CLIQUE]: group };
  return { ...made, metadata: { namespace, name, labels: { ...labels, ...membership } } };
};

const touch = (client: KubeClient, namespace: string, index: number, turn: number): Promise<unknown> =>
  client.mergePatch(target(namespace, index), { metadata: { annotations: { turn: String(turn) } } }, LITTLE);
const LITTLE = { answer: 'metadata' } as const;

const forged = (namespace: string): object[] =>
  Array.from({ length: 10_000 }, (_, index) => ({ namespace, name: `nobody-${index}` }));

/** Annotations may have 256 KiB together. */
const LARGE = { note: 'x'.repeat(250 * 1024) };

export const FLOODS: readonly Flood[] = [
  {
    id: 'flood-gangs',
    title: '1,000 PodGangs, 50 of them touched in a second',
    objects: 1_000,
    perSecond: 50,
    make: (client, namespace, index) => client.create(POD_GANGS, gang(namespace, index), LITTLE),
    again: (client, namespace, turn) => touch(client, namespace, turn % 1_000, turn),
  },
  {
    id: 'flood-references',
    title: 'six PodGangs of 10,000 references each that he made up, one given again every five seconds',
    objects: 6,
    perSecond: 0.2,
    make: (client, namespace, index) =>
      client.create(POD_GANGS, gang(namespace, index, forged(namespace)), LITTLE),
    again: (client, namespace, turn) =>
      client.mergePatch(
        target(namespace, turn % 6),
        { spec: gang(namespace, turn % 6, forged(namespace))['spec' as keyof KubeObject] },
        LITTLE,
      ),
  },
  {
    id: 'flood-pods',
    title: '30 gated Pods made and removed in a second',
    objects: 20,
    perSecond: 30,
    make: (client, namespace, index) => client.create(POD_GANGS, gang(namespace, index), LITTLE),
    again: async (client, namespace, turn) => {
      const name = `churn-${turn}`;
      await client.create(PODS, pod(namespace, name, turn % 20, 'worker'), LITTLE);
      await client.delete({ resource: PODS, namespace, name }, { gracePeriodSeconds: 0 });
    },
  },
  {
    id: 'flood-large',
    title: '400 PodGangs with 250 KiB of annotations, two of them touched in a second',
    objects: 400,
    perSecond: 2,
    make: (client, namespace, index) => client.create(POD_GANGS, gang(namespace, index, [], LARGE), LITTLE),
    again: (client, namespace, turn) => touch(client, namespace, turn % 400, turn),
  },
  {
    id: 'flood-events',
    title: '30 Pods in a second that each ask for an Event',
    objects: 20,
    perSecond: 30,
    make: (client, namespace, index) => client.create(POD_GANGS, gang(namespace, index), LITTLE),
    again: async (client, namespace, turn) => {
      await client.create(PODS, pod(namespace, `event-${turn}`, turn % 20, 'unknown'), LITTLE);
    },
  },
  {
    id: 'flood-groups',
    title: '60 PodGangs of 1,500 groups each, one of them touched in a second',
    objects: 60,
    perSecond: 1,
    make: (client, namespace, index) => client.create(POD_GANGS, ofManyGroups(namespace, index), LITTLE),
    again: (client, namespace, turn) => touch(client, namespace, turn % 60, turn),
  },
  {
    id: 'flood-complete',
    title: '150 gangs of 4 Pods that are complete at once',
    objects: 150,
    perSecond: 0.1,
    make: async (client, namespace, index) => {
      await client.create(POD_GANGS, gang(namespace, index, [], {}, 4), LITTLE);
      for (const name of ['a', 'b', 'c'])
        await client.create(PODS, pod(namespace, `${nameOf(index)}-${name}`, index, 'worker'), LITTLE);
    },
    again: (client, namespace) =>
      inParallel(
        Array.from({ length: 150 }, (_, index) => index),
        4,
        (index) => client.create(PODS, pod(namespace, `${nameOf(index)}-d`, index, 'worker'), LITTLE),
      ),
  },
];

import { stringify } from 'yaml';
import {
  GATE_POD_GANG_PENDING,
  LABEL_POD_CLIQUE,
  LABEL_POD_GANG,
  LABEL_SCHEDULER_NAME,
  POD_GANG_API_VERSION,
} from '../src/api/names.ts';

/** The objects of the demo, as a user would write them. */
export const NAMESPACE = 'team-a';
export const GANG = 'train';

export type Manifest = Record<string, unknown> & { metadata: Record<string, unknown> };

export const podGang = (
  changes: Record<string, unknown> = {},
  labels: Record<string, string> = {},
  name = GANG,
): Manifest => ({
  apiVersion: POD_GANG_API_VERSION,
  kind: 'PodGang',
  metadata: { name, namespace: NAMESPACE, ...(Object.keys(labels).length > 0 ? { labels } : {}) },
  spec: {
    podgroups: [
      { name: 'leader', minReplicas: 1 },
      { name: 'worker', minReplicas: 2 },
    ],
    ...changes,
  },
});

/** A Pod of a gang. `labels` replace those of the gang where given. */
export const pod = (
  name: string,
  group: string,
  given: { gang?: string; labels?: Record<string, string>; spec?: Record<string, unknown> } = {},
): Manifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: NAMESPACE,
    labels: given.labels ?? { [LABEL_POD_GANG]: given.gang ?? GANG, [LABEL_POD_CLIQUE]: group },
  },
  spec: { containers: [{ name: 'main', image: 'registry.example/train:1' }], ...given.spec },
});

export const forScheduler = (name: string, group: string, scheduler: string): Manifest =>
  pod(name, group, {
    labels: { [LABEL_POD_GANG]: GANG, [LABEL_POD_CLIQUE]: group, [LABEL_SCHEDULER_NAME]: scheduler },
  });

/** A mistake that people make, and a word that the refusal must contain. */
export interface Mistake {
  readonly title: string;
  readonly manifest: Manifest;
  readonly says: string;
}

export const mistakes: readonly Mistake[] = [
  {
    title: 'a gang Pod that names no group',
    manifest: pod('no-group', 'worker', { labels: { [LABEL_POD_GANG]: GANG } }),
    says: 'GroupLabelRequired',
  },
  {
    title: 'a gang Pod that goes past the scheduler',
    manifest: pod('direct', 'worker', { spec: { nodeName: 'node-1' } }),
    says: 'gang pods must not set nodeName',
  },
  {
    title: 'a scheduler that nobody serves',
    manifest: pod('elsewhere', 'worker', { spec: { schedulerName: 'my-scheduler' } }),
    says: 'enabled: default-scheduler, kai-scheduler',
  },
  {
    title: 'a PodGang with three faults, all in one answer',
    manifest: {
      ...podGang({
        podgroups: [
          { name: 'leader', minReplicas: 0 },
          { name: 'leader', minReplicas: 0, podReferences: [{ namespace: 'team-b', name: 'theirs' }] },
        ],
      }),
      metadata: { name: 'wrong', namespace: NAMESPACE },
    },
    says: 'MinReplicasAllZero',
  },
];

/** What Muster touches in a stored Pod, with `+` where the manifest had it not. */
export function preparedParts(sent: Manifest, stored: unknown): string {
  const pick = (object: unknown): Record<string, string> => {
    const { metadata = {}, spec = {} } = object as {
      metadata?: Record<string, unknown>;
      spec?: Record<string, unknown>;
    };
    const flat: Record<string, string> = {};
    for (const map of ['labels', 'annotations'] as const) {
      for (const [key, value] of Object.entries((metadata[map] ?? {}) as Record<string, string>)) {
        flat[`metadata.${map}[${key}]`] = value;
      }
    }
    if (spec['schedulerName'] !== undefined) flat['spec.schedulerName'] = spec['schedulerName'] as string;
    const group = spec['schedulingGroup'] as { podGroupName?: string } | undefined;
    if (group?.podGroupName !== undefined) flat['spec.schedulingGroup.podGroupName'] = group.podGroupName;
    ((spec['schedulingGates'] ?? []) as { name: string }[]).forEach((gate) => {
      flat[`spec.schedulingGates[${gate.name}]`] = '';
    });
    return flat;
  };
  const before = pick(sent);
  return Object.entries(pick(stored))
    .map(
      ([path, value]) => `${before[path] === value ? ' ' : '+'} ${path}${value === '' ? '' : `: ${value}`}`,
    )
    .join('\n');
}

export const isGated = (stored: unknown): boolean =>
  preparedParts(pod('x', 'x'), stored).includes(GATE_POD_GANG_PENDING);

export const yamlOf = (manifest: unknown): string => stringify(manifest);

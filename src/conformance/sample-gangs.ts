import type { JsonObject } from '../json/json.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { parsePodGang } from '../gang/parse-pod-gang.ts';
import type { ConformanceSettings } from '../backends/backend.ts';

/** A PodGang that the API server has stored. */
export type StoredGang = PodGang & { readonly uid: string };

type Groups = Readonly<Record<string, number>>;

/** Groups of the sample gangs: the last shape is the one that most backends accept. */
export const SHAPES: readonly Groups[] = [{ worker: 2, leader: 1 }, { worker: 2 }];

export function sampleGang(
  given: ConformanceSettings['gang'],
  groups: Groups,
  { namespace = 'ml', name = 'train' }: { namespace?: string; name?: string } = {},
): StoredGang {
  const podgroups = Object.entries(groups).map(([group, minReplicas]) => ({
    name: group,
    minReplicas,
    podReferences: [],
  }));
  const { labels = {}, annotations = {} } = given ?? {};
  const object = { metadata: { name, namespace, labels, annotations }, spec: { podgroups } };
  return { ...parsePodGang(object, namespace).gang, uid: `${namespace}.${name}` };
}

const group = (name: unknown, minReplicas: unknown, more: object = {}): object => ({
  name,
  minReplicas,
  podReferences: [],
  ...more,
});
const pack = (required: unknown, preferred: unknown): object => ({
  topologyConstraint: { packConstraint: { required, preferred } },
});

/** Malformed gangs, as they come to a backend before admission has refused them or by a way around admission. */
export const oddGangs = (given: ConformanceSettings['gang']): PodGang[] =>
  [
    {},
    { podgroups: [] },
    { podgroups: [{}] },
    { podgroups: [group('', 0)] },
    { podgroups: [group('a', 0), group('a', 0)] },
    { podgroups: [group('a', -1)] },
    { podgroups: [group('a', 1.5), group('b', 1e308)] },
    { podgroups: [group('\u0000\u202e😀', 1), group('A_b.c', 2)] },
    { podgroups: [group('x'.repeat(300), 1)] },
    { podgroups: [group('__proto__', 1), group('constructor', 1)] },
    { podgroups: Array.from({ length: 200 }, (_, index) => group(`g${index}`, index % 3)) },
    { podgroups: [group('a', 1, { podReferences: undefined })] },
    { podgroups: [group('a', 1, pack('zone', 'zone'))], ...pack('', '') },
    { podgroups: [group('a', 1)], ...pack('no/such/key', 'kubernetes.io/hostname') },
    { podgroups: [group('a', 1)], topologyConstraintGroupConfigs: [{ name: 'c', podGroupNames: ['gone'] }] },
    {
      podgroups: [group('a', 1), group('b', 1)],
      topologyConstraintGroupConfigs: [
        { name: 'c', podGroupNames: ['a', 'b'], ...pack('zone', undefined) },
        { name: 'c', podGroupNames: [] },
      ],
    },
    { podgroups: [group('a', 1)], priorityClassName: '', reuseReservationRef: { namespace: 'x', name: 'y' } },
    { podgroups: [group('a', 1)], priorityClassName: 'no such class' },
  ].flatMap((spec) => {
    const metadata = { labels: given?.labels ?? {}, annotations: given?.annotations ?? {} };
    return ['train', '', 'A'.repeat(253)].map((name) => {
      const object = JSON.parse(JSON.stringify({ metadata: { ...metadata, name }, spec })) as JsonObject;
      return parsePodGang(object, 'ml').gang;
    });
  });

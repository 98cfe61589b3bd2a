import type { JsonObject } from '../json/json.ts';
import { assign } from '../fleet/assign/assign.ts';
import { readBinding, type Binding } from '../fleet/assign/binding.ts';
import { ANNOTATION_MIN_AVAILABLE } from '../fleet/assign/binding-annotations.ts';
import { Unplaced, type Candidate, type TargetCluster } from '../fleet/assign/candidate.ts';
import { minAvailableFor, bindingTemplates } from '../fleet/assign/gang-strategies.ts';
import { readMemberCluster } from '../fleet/assign/member.ts';
import type { Assigner } from '../fleet/assign/assigner.ts';
import { FieldReader } from '../k8s/field-reader.ts';

/** A binding and the candidate clusters for it. */
export interface Sample {
  readonly binding: Binding;
  readonly clusters: readonly Candidate[];
  /** Whether the clusters have so much capacity that every strategy has to place the workload. */
  readonly ample: boolean;
}

interface Workload {
  /** A number for one Pod template; by name for several. */
  readonly replicas: number | Readonly<Record<string, number>>;
  /** Value of the annotation for the minimum. */
  readonly least?: string;
  readonly has?: Readonly<Record<string, number>>;
  readonly fresh?: boolean;
}

/** Free CPUs by cluster; each replica requests one. */
type Rooms = Readonly<Record<string, number>>;

/** Name of a cluster with a taint, which is no candidate. */
const CORDONED = 'cordoned';
const MANY = 1_000;
const RANDOM = 40;

export const samples = (): readonly Sample[] => [
  ...FIXED.map(([workload, rooms, ample]) => sampleOf(workload, rooms, ample)),
  ...randomSamples(),
];

const THREE: Rooms = { m1: 6, m2: 8, m3: 10, [CORDONED]: 100 };
const GANG = { leader: 1, worker: 4 };
const ONE_AT_A_TIME: Rooms = Object.fromEntries(
  Array.from({ length: MANY }, (_, index) => [`m${String(index).padStart(4, '0')}`, (index * 7) % 5]),
);

const FIXED: readonly (readonly [Workload, Rooms, boolean?])[] = [
  [{ replicas: 4 }, { m1: 100, m2: 100, [CORDONED]: 1_000 }, true],
  [{ replicas: 1 }, { m1: 100 }, true],
  [{ replicas: 12, least: '8' }, THREE],
  [{ replicas: 30, least: '20' }, THREE],
  [{ replicas: 30, least: '25' }, THREE],
  [
    { replicas: 4, least: '4' },
    { m1: 0, m2: 0 },
  ],
  [{ replicas: 10, least: '4', has: { m2: 3 } }, THREE],
  [
    { replicas: 4, has: { m1: 6, m2: 6 } },
    { m1: 0, m2: 0, m3: 10 },
  ],
  [
    { replicas: 6, has: { m1: 6 }, fresh: true },
    { m1: 0, m2: 8 },
  ],
  [
    { replicas: { only: 6 }, least: '3' },
    { m1: 2, m2: 3 },
  ],
  [
    { replicas: GANG, least: 'leader=1,worker=2' },
    { m1: 100, m2: 4, m3: 2 },
  ],
  [
    { replicas: GANG, least: 'leader=1,worker=2' },
    { m1: 2, m2: 2 },
  ],
  [{ replicas: 1_000, least: '500' }, ONE_AT_A_TIME],
];

/** Random samples with a fixed seed: the author of a plugin sees whether a correction helped. */
function randomSamples(): Sample[] {
  let state = 20_260_101;
  const below = (end: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >>> 8) % end;
  };
  return Array.from({ length: RANDOM }, () => {
    const names = Array.from({ length: 1 + below(6) }, (_, index) => `m${index + 1}`);
    const rooms = Object.fromEntries(names.map((name) => [name, below(20)]));
    const replicas = 1 + below(40);
    const least = String(1 + below(replicas));
    const has = below(3) === 0 ? { [names[below(names.length)] ?? 'm1']: 1 + below(replicas) } : {};
    return sampleOf({ replicas, least, has }, rooms);
  });
}

function sampleOf(
  { replicas, least, has = {}, fresh = false }: Workload,
  rooms: Rooms,
  ample = false,
): Sample {
  const replicaRequirements = { resourceRequest: { cpu: '1' } };
  const binding = read(
    {
      metadata: {
        name: 'train',
        namespace: 'ml',
        annotations: least === undefined ? {} : { [ANNOTATION_MIN_AVAILABLE]: least },
      },
      spec: {
        resource: { apiVersion: 'batch/v1', kind: 'Job', namespace: 'ml', name: 'train', uid: 'e4c1' },
        ...(typeof replicas === 'number'
          ? { replicas, replicaRequirements }
          : {
              components: Object.entries(replicas).map(([name, count]) => ({
                name,
                replicas: count,
                replicaRequirements,
              })),
            }),
        clusters: Object.entries(has).map(([name, count]) => ({ name, replicas: count })),
        placement: {
          clusterAffinity: {},
          replicaScheduling: { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Aggregated' },
        },
        ...(fresh && { rescheduleTriggeredAt: '2026-01-02T00:00:00Z' }),
      },
      status: fresh ? { lastScheduledTime: '2026-01-01T00:00:00Z' } : {},
    },
    readBinding,
  );
  return { binding, clusters: candidatesOf(binding, rooms), ample };
}

/** The clusters that pass Muster's own filters, in order of preference. */
function candidatesOf(binding: Binding, rooms: Rooms): readonly Candidate[] {
  const members = Object.entries(rooms).map(([name, cpu]) =>
    read(
      {
        metadata: { name, labels: { tier: name } },
        spec: name === CORDONED ? { taints: [{ key: 'out', effect: 'NoSchedule' }] } : {},
        status: {
          apiEnablements: [{ groupVersion: 'batch/v1', resources: [{ name: 'jobs', kind: 'Job' }] }],
          resourceSummary: { allocatable: { cpu, pods: 110 } },
        },
      },
      readMemberCluster,
    ),
  );
  let given: readonly Candidate[] = [];
  const listens: Assigner = {
    name: '',
    strategies: () => [],
    room: { unmodelled: 'summary', least: () => 0 },
    assignReplica: (_, clusters) => {
      given = clusters;
      throw new Unplaced('Unschedulable', '');
    },
  };
  assign(binding, members, { names: [], missing: [], pluginOf: () => listens });
  return given;
}

/** The same binding after its assignment: the replicas are placed, and their capacity is no longer free. */
export function settledIn({ binding, clusters, ample }: Sample, targets: readonly TargetCluster[]): Sample {
  const had = (name: string): number => binding.clusters.find((one) => one.name === name)?.replicas ?? 0;
  const gets = (name: string): number => targets.find((one) => one.name === name)?.replicas ?? 0;
  return {
    binding: { ...binding, clusters: targets, fresh: false },
    clusters: clusters
      .map((one) => ({
        ...one,
        score: gets(one.name) > 0 ? 100 : 0,
        allocatable: one.allocatable + had(one.name) - gets(one.name),
        available: one.allocatable + had(one.name),
      }))
      .sort((a, b) => b.score - a.score || b.available - a.available || (a.name < b.name ? -1 : 1)),
    ample,
  };
}

function read<T>(object: JsonObject, reader: (object: JsonObject, reading: FieldReader) => T): T {
  const reading = new FieldReader('a sample');
  const found = reader(object, reading);
  for (const { field, message } of reading.faults) throw new Error(`${field}: ${message}`);
  return found;
}

/** `12 replicas, 8 at least, where m1 has 6 and m2 has 8`. */
export function describeSample({ binding, clusters }: Sample): string {
  const parts = bindingTemplates(binding).map(
    (one) => `${one.replicas} ${one.name || 'replicas'}, ${minAvailableFor(binding, one)} at least`,
  );
  const rooms = clusters.slice(0, 6).map(({ name, available }) => `${name} ${available}`);
  const more = clusters.length > 6 ? ` and ${clusters.length - 6} more` : '';
  return `of ${parts.join(' and ')}, with ${rooms.join(', ') || 'no cluster'}${more} available`;
}

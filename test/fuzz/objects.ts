import type { Json, JsonObject } from '../../src/json/json.ts';
import { GATE_POD_GANG_PENDING as GATE, MUSTER_USER } from '../../src/api/names.ts';
import { json } from '../support/pods.ts';
import { conditionsOf } from '../support/random-pod-gangs.ts';
import { randomPodText } from '../support/random-pods.ts';
import { review, type RequestParts } from '../support/reviews.ts';
import type { Random } from '../support/random.ts';

/** As the configuration of the program under test has them. */
export const LEVELS = ['topology.kubernetes.io/zone', 'example.com/rack', 'kubernetes.io/hostname'] as const;
const SCHEDULERS = ['default-scheduler', 'kai-scheduler', 'volcano', 'grove-scheduler', 'slurm', ''] as const;
const GROUPS = ['leader', 'worker', 'a', 'b', 'x'] as const;
const ACCOUNTS = [
  'alice',
  MUSTER_USER,
  'system:serviceaccount:grove-system:grove-operator',
  'system:serviceaccount:kube-system:job-controller',
] as const;

/** Now and then, one of what must not be. */
const seldom = <T>(random: Random, usual: T, ...others: [T, ...T[]]): T =>
  random.chance(4) ? random.pick(others) : usual;

const level = (random: Random): string =>
  seldom<string>(random, random.pick(LEVELS), 'zone', 'a b', '', 'example.com/nowhere');

const pack = (random: Random): Json | undefined =>
  random.chance(80)
    ? undefined
    : {
        packConstraint: {
          ...(random.chance(70) ? { required: level(random) } : {}),
          ...(random.chance(40) ? { preferred: level(random) } : {}),
        },
      };

const references = (random: Random, group: string): Json =>
  random.list(4, () => ({
    namespace: seldom(random, 'ml', 'web', ''),
    name: seldom(random, `${group}-${random.below(6)}`, 'leader-0', 'A b', 'x'.repeat(260)),
  }));

/** A PodGang as people and controllers write them; one in a few breaks a rule or two. */
export function gangTree(random: Random): JsonObject {
  const count = seldom(random, 1 + random.below(4), 0, 5);
  const names = GROUPS.slice(0, count).map((name) =>
    seldom<string>(random, name, 'leader', 'A_b', '-x', 'y'.repeat(64), ''),
  );
  const groups = names.map((name) => ({
    name,
    minReplicas: seldom<Json>(random, random.below(4), -1, 2 ** 31, 1.5, '2'),
    ...(random.chance(20) ? {} : { podReferences: random.chance(40) ? [] : references(random, name) }),
    topologyConstraint: pack(random),
  }));
  const labels: Record<string, Json> = {};
  if (random.chance(40)) labels['grove.io/scheduler-name'] = random.pick(SCHEDULERS);
  if (random.chance(8)) labels['app.kubernetes.io/managed-by'] = 'grove-operator';
  if (random.chance(20)) labels['kai.scheduler/queue'] = seldom(random, 'research', '', 'a b');
  const configs = random.list(2, () => ({
    name: seldom(random, `config-${random.below(3)}`, '', 'config-0'),
    podGroupNames: random.list(3, () => seldom<string>(random, random.pick(GROUPS), 'nobody', '')),
    topologyConstraint: pack(random),
  }));
  return json({
    apiVersion: 'scheduler.grove.io/v1alpha1',
    kind: 'PodGang',
    metadata: {
      name: seldom(random, 'train', 'x'.repeat(70), 'A'),
      namespace: 'ml',
      uid: 'uid-train',
      resourceVersion: '7',
      generation: 1 + random.below(3),
      labels: random.chance(80) ? labels : undefined,
      annotations: random.chance(20) ? { 'grove.io/expected-pods': 'leader=1', x: 'y' } : undefined,
      managedFields: random.chance(15) ? managedFields(random) : undefined,
      deletionTimestamp: random.chance(3) ? '2026-06-01T12:00:00Z' : undefined,
    },
    spec: {
      podgroups: groups,
      topologyConstraint: pack(random),
      ...(random.chance(30) ? { topologyConstraintGroupConfigs: configs } : {}),
      ...(random.chance(20) ? { priorityClassName: seldom(random, 'high', 'A b', '') } : {}),
    },
    ...(random.chance(50) ? { status: { phase: 'Pending', conditions: conditionsOf(random) } } : {}),
  });
}

/** What the API server adds, and what the body reader takes out before anything is parsed. */
export const managedFields = (random: Random): Json =>
  random.list(2, () => ({
    manager: random.pick(['kubectl', 'a]b', 'c\\"]}', '},"spec":{', '"managedFields":[']),
    operation: 'Update',
    apiVersion: 'v1',
    fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:app': [random.pick(['x', ']', '[', '\\'])] } } },
  }));

/** The next writing of `gang`: something of it changed, as somebody else than the first author may do. */
export function gangAfter(gang: JsonObject, random: Random): JsonObject {
  const next = JSON.parse(JSON.stringify(gang)) as {
    spec: Record<string, Json>;
    status?: Json;
    metadata: Record<string, Json>;
  };
  const other = gangTree(random) as unknown as typeof next;
  const groups = next.spec['podgroups'] as Record<string, Json>[];
  const [kind, group] = [random.below(7), groups[random.below(Math.max(groups.length, 1))]];
  if (kind === 0 && group) group['podReferences'] = references(random, 'worker');
  else if (kind === 1 && group) group['minReplicas'] = random.below(4);
  else if (kind === 2) next.status = { phase: 'Pending', conditions: conditionsOf(random) };
  else if (kind === 3) next.metadata['labels'] = other.metadata['labels'] ?? {};
  else if (kind === 4) next.spec = other.spec;
  else if (kind === 5) groups.pop();
  else next.metadata['annotations'] = { changed: 'yes' };
  return json(next);
}

/** Most of what a Pod's author writes: it is not parsed either. */
const environment = (random: Random): Json =>
  random.list(3, () => ({
    name: random.pick(['A', ']', '"name']),
    value: random.pick([
      'x',
      ']},"spec":{',
      '\\',
      '\\"]',
      '[{"name',
      '"env":[{"name":"x"}]',
      '😀]',
      ']}]},{"name',
    ]),
  }));

/** A Pod of the gang `train` that is stored, and its next writing. */
function podUpdate(random: Random): RequestParts {
  const gates = random.chance(80) ? [{ name: GATE }, { name: 'a/b' }] : [{ name: 'a/b' }];
  const old = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'worker-0',
      namespace: 'ml',
      labels: random.chance(85)
        ? { 'grove.io/podgang': 'train', 'grove.io/podclique': 'worker' }
        : { app: 'x' },
      annotations: { a: 'b' },
      ...(random.chance(3) ? { deletionTimestamp: '2026-06-01T12:00:00Z' } : {}),
      ...(random.chance(15) ? { managedFields: managedFields(random) } : {}),
    },
    spec: {
      schedulerName: 'default-scheduler',
      schedulingGates: gates,
      containers: [{ name: 'main', image: 'x', ...(random.chance(50) ? { env: environment(random) } : {}) }],
    },
  };
  const next = JSON.parse(JSON.stringify(old)) as typeof old;
  const kind = random.below(5);
  if (kind === 0) next.spec.schedulingGates = random.chance(50) ? [] : [{ name: 'a/b' }];
  else if (kind === 1)
    next.metadata.labels = { 'grove.io/podgang': random.pick(['other', 'train']), 'grove.io/podclique': 'a' };
  else if (kind === 2) next.metadata.labels = { app: 'x' };
  else if (kind === 3) next.metadata.annotations = { a: 'c' };
  return { object: json(next), oldObject: json(old) };
}

/** The way of a review: which endpoint, and the review. */
export interface Asked {
  readonly path: 'mutate-v1-pod' | 'validate-v1-pod' | 'mutate-podgang' | 'validate-podgang';
  readonly text: string;
}

const HERE = '{"here":true}';

/** A review as an API server sends it: what is wrong with it is wrong with the object. */
export function reviewText(random: Random): Asked {
  const username = random.pick(ACCOUNTS);
  const subResource = random.chance(85)
    ? undefined
    : random.pick(['status', 'binding', 'exec', 'ephemeralcontainers']);
  const about = {
    username,
    uid: `uid-${random.below(1_000_000)}`,
    dryRun: random.chance(10),
    namespace: seldom(random, 'ml', 'kube-system', ''),
  };
  const writes = random.chance(60) ? ('mutate' as const) : ('validate' as const);
  if (random.chance(3)) {
    const operation = random.pick(['DELETE', 'CONNECT']);
    const text = JSON.stringify(
      review('Pod', { ...about, operation, oldObject: { metadata: { name: 'x' } } }),
    );
    return { path: `${writes}-v1-pod`, text };
  }
  if (random.chance(35)) {
    const template = JSON.stringify(review('Pod', { ...about, object: { here: true } }));
    const pod = withManagedFields(randomPodText(random), random);
    return { path: `${writes}-v1-pod`, text: template.replace(HERE, () => pod) };
  }
  if (random.chance(30)) {
    const parts = podUpdate(random);
    return {
      path: `${writes}-v1-pod`,
      text: JSON.stringify(review('Pod', { ...about, ...parts, ...(subResource && { subResource }) })),
    };
  }
  const gang = gangTree(random);
  const parts = random.chance(50) ? { object: gang } : { object: gangAfter(gang, random), oldObject: gang };
  const text = JSON.stringify(review('PodGang', { ...about, ...parts, ...(subResource && { subResource }) }));
  return { path: `${writes}-podgang`, text };
}

/** In the place where an API server writes them: the last field of `metadata`. */
function withManagedFields(pod: string, random: Random): string {
  if (!random.chance(30)) return pod;
  const fields = JSON.stringify(managedFields(random));
  const containers = JSON.stringify([{ name: 'main', env: environment(random) }]);
  return pod
    .replace(/"metadata":\{/, (found) => `${found}"managedFields":${fields},`)
    .replace(/"spec":\{(?=")/, (found) => `${found}"containers":${containers},`);
}

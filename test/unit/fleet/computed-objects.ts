/** Random workloads of the kinds whose numbers of Pods are computed, and the parts of all such. */
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/json/json.ts';

export const podTemplate = fc
  .record({ cpu: fc.integer({ min: 1, max: 9 }), name: fc.constantFrom(undefined, 'web') })
  .map(({ cpu, name }): JsonObject => ({
    ...(name !== undefined && { metadata: { name } }),
    spec: { containers: [{ resources: { requests: { cpu: String(cpu) } } }] },
  }));

/** Mostly numbers of Pods, and what is none. */
export const number = (most: number): fc.Arbitrary<Json | undefined> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: most }) },
    { weight: 2, arbitrary: fc.constant(undefined) },
    fc.constantFrom('', '3', 'x', -1, 1.5),
  );

/** The same with fewer that are wrong: where several of them have to be right at a time. */
const few = (most: number): fc.Arbitrary<Json | undefined> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.option(fc.integer({ min: 0, max: most }), { nil: undefined }) },
    number(most),
  );

const LONG = 'a-name-that-is-longer-than-karmada-stores';
export const itemName = fc.constantFrom<Json | undefined>(
  'a',
  'b',
  'a',
  undefined,
  '',
  LONG,
  `${LONG}-2`,
  LONG.slice(0, 31),
  // It would end with what no name may end with.
  'a-name-that-is-cut-at-.-_.-_.-_-and-goes-on',
);

/** Without the fields that are not there. */
const record = (fields: Record<string, fc.Arbitrary<Json | undefined>>): fc.Arbitrary<JsonObject> =>
  fc
    .record(fields)
    .map(
      (made) =>
        Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined)) as JsonObject,
    );

const list = (item: fc.Arbitrary<Json>): fc.Arbitrary<Json | undefined> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.array(item, { minLength: 1, maxLength: 3 }) },
    fc.constantFrom<Json | undefined>(undefined, [], { a: {} }, ['x']),
  );

const maybe = (value: fc.Arbitrary<Json>): fc.Arbitrary<Json | undefined> =>
  fc.option(value, { nil: undefined });

const jobSpec = { parallelism: few(6), completions: few(9), template: maybe(podTemplate) };

/** A template, or the name of a shared one. */
const templateSource = (more: Record<string, fc.Arbitrary<Json | undefined>>): fc.Arbitrary<JsonObject> =>
  record({
    template: maybe(podTemplate),
    templateRef: maybe(record({ name: fc.constantFrom('a', 'b', 'c', undefined) })),
    ...more,
  });

const ray = record({
  enableInTreeAutoscaling: fc.constantFrom(true, false, undefined),
  headGroupSpec: record({ template: podTemplate }),
  workerGroupSpecs: list(
    record({
      groupName: itemName,
      template: maybe(podTemplate),
      replicas: few(6),
      minReplicas: few(4),
      maxReplicas: few(6),
      numOfHosts: few(3),
      suspend: fc.constantFrom<Json | undefined>(true, undefined, undefined),
    }),
  ),
});

/** Of such amounts both write the same; Karmada leaves an amount as the template has it. */
const amount = fc.constantFrom<Json | undefined>(
  '2047m',
  '3g',
  '5 GB',
  '513 mebibytes',
  '7Gi',
  '1tb',
  '4097kb',
  undefined,
);
const manager = (more: Record<string, fc.Arbitrary<Json | undefined>>): fc.Arbitrary<Json | undefined> =>
  maybe(
    record({
      ...more,
      resource: record({
        cpu: fc.constantFrom<Json | undefined>(2, '1', undefined),
        memory: amount,
        ephemeralStorage: amount,
      }),
      podTemplate: maybe(
        record({
          spec: record({
            nodeSelector: fc.constantFrom<Json | undefined>({ zone: 'a' }, undefined),
            containers: fc.constantFrom<Json | undefined>(
              undefined,
              [{ name: 'log' }],
              [{ name: 'log' }, { name: 'flink-main-container', resources: { requests: { cpu: '9' } } }],
            ),
          }),
        }),
      ),
    }),
  );

const patchedJob = record({
  name: fc.constantFrom('node', 'launcher'),
  template: record({
    spec: record({
      template: record({
        spec: record({
          nodeSelector: fc.constantFrom<Json | undefined>(
            { zone: 'a' },
            { zone: 'b', gpu: 'yes' },
            undefined,
          ),
          tolerations: fc.constantFrom<Json | undefined>([{ key: 'gpu', operator: 'Exists' }], undefined),
        }),
      }),
    }),
  }),
});

/** The `spec` of each. */
export const computedObjects: Readonly<Record<string, fc.Arbitrary<JsonObject>>> = {
  'PodGang.scheduler.grove.io': record({
    podgroups: list(
      record({
        name: itemName,
        minReplicas: few(4),
        podReferences: fc.constantFrom<Json | undefined>(undefined, [], [{ name: 'a' }, { name: 'b' }], {
          name: 'a',
        }),
      }),
    ),
  }),
  'PodCliqueSet.grove.io': record({
    replicas: few(3),
    template: record({
      priorityClassName: fc.constantFrom<Json | undefined>('high', '', undefined),
      podCliqueScalingGroups: maybe(
        fc.array(
          record({
            cliqueNames: fc.constantFrom<Json | undefined>(['a', 'b'], ['b', 'a'], ['a'], undefined),
            replicas: fc.constantFrom<Json | undefined>(2, 3, 3, undefined),
            minAvailable: fc.constantFrom<Json | undefined>(1, 2, 2, undefined),
          }),
          { minLength: 1, maxLength: 2 },
        ),
      ),
      cliques: list(
        record({
          name: fc.oneof({ weight: 3, arbitrary: fc.constantFrom('a', 'b') }, itemName),
          spec: record({
            replicas: few(4),
            minAvailable: few(3),
            podSpec: fc.constantFrom<Json | undefined>(
              { containers: [{ resources: { requests: { cpu: '2' } } }] },
              { priorityClassName: 'own', containers: [{}] },
              undefined,
            ),
          }),
        }),
      ),
    }),
  }),
  'TrainJob.trainer.kubeflow.org': record({
    trainer: maybe(
      record({
        numNodes: number(9),
        resourcesPerNode: fc.constantFrom<Json | undefined>({ requests: { cpu: '4' } }, undefined),
      }),
    ),
    runtimePatches: fc.oneof(
      fc.constant(undefined),
      list(
        record({
          trainingRuntimeSpec: record({
            template: record({ spec: record({ replicatedJobs: list(patchedJob) }) }),
          }),
        }),
      ),
    ),
  }),
  'JobSet.jobset.x-k8s.io': record({
    replicatedJobs: list(
      record({ name: itemName, replicas: few(4), template: record({ spec: record(jobSpec) }) }),
    ),
  }),
  'LeaderWorkerSet.leaderworkerset.x-k8s.io': record({
    replicas: number(4),
    leaderWorkerTemplate: record({
      size: number(4),
      leaderTemplate: fc.oneof(podTemplate, fc.constant(undefined)),
      workerTemplate: maybe(podTemplate),
    }),
  }),
  'RayCluster.ray.io': ray,
  'RayJob.ray.io': record({ rayClusterSpec: maybe(ray) }),
  'FlinkDeployment.flink.apache.org': record({
    podTemplate: maybe(record({ spec: record({ priorityClassName: fc.constantFrom('high', undefined) }) })),
    job: maybe(record({ parallelism: few(9) })),
    flinkConfiguration: fc.constantFrom<Json | undefined>(
      undefined,
      { 'taskmanager.numberOfTaskSlots': '2' },
      { 'taskmanager.numberOfTaskSlots': 4 },
      { 'taskmanager.numberOfTaskSlots': 'many' },
      { 'taskmanager.numberOfTaskSlots': '0' },
    ),
    jobManager: manager({ replicas: few(3) }),
    taskManager: manager({ replicas: few(5) }),
  }),
  'RoleBasedGroup.workloads.x-k8s.io': record({
    roleTemplates: fc.oneof(
      fc.constant(undefined),
      list(record({ name: fc.constantFrom('a', 'b'), template: maybe(podTemplate) })),
    ),
    roles: list(
      record({
        name: itemName,
        replicas: few(4),
        standalonePattern: maybe(templateSource({})),
        leaderWorkerPattern: fc.oneof(fc.constant(undefined), templateSource({ size: few(4) })),
        customComponentsPattern: fc.oneof(
          { weight: 3, arbitrary: fc.constant(undefined) },
          record({
            components: list(record({ name: itemName, size: few(3), template: maybe(podTemplate) })),
          }),
        ),
      }),
    ),
  }),
  'ModelServing.workload.serving.volcano.sh': record({
    replicas: number(3),
    template: record({
      gangPolicy: maybe(
        record({ minRoleReplicas: record({ a: number(3), 'role-0': number(3), b: number(3) }) }),
      ),
      roles: list(
        record({
          name: itemName,
          replicas: few(4),
          entryTemplate: maybe(podTemplate),
          workerReplicas: few(3),
          workerTemplate: maybe(podTemplate),
        }),
      ),
    }),
  }),
  'Job.batch': record(jobSpec),
};

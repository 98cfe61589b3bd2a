import { isObject, own, ownList, type Json, type JsonObject } from '../json/json.ts';
import { itemsAt, rolesIn, textAt } from './listed-templates.ts';
import { path, type Path } from './path.ts';
import type { HealthSigns, StatusShape, Template, WorkloadKind } from './workload-kind.ts';
import type { WorkloadReading } from './workload-reading.ts';

const FAILED: HealthSigns = { phases: [], conditions: ['Failed'] };
const JOB_STATUS: StatusShape = { sums: ['replicaStatuses'], phases: [] };

/** The training jobs of the first Kubeflow operator: a map from roles to templates. */
const trainingJob = (given: {
  readonly kind: string;
  readonly version?: string;
  readonly specs: string;
  readonly roles: readonly string[];
  /** Roles that have no Pod where they give no number. */
  readonly none?: readonly string[];
  readonly elastic?: string;
}): WorkloadKind => ({
  group: 'kubeflow.org',
  version: given.version ?? 'v1',
  kind: given.kind,
  templates: (_, reading) => {
    const otherwise = (role: string): number => (given.none?.includes(role) === true ? 0 : 1);
    const templates = rolesIn(reading, ['spec', given.specs], given.roles, otherwise);
    return given.elastic === undefined ? templates : elastic(templates, path(given.elastic), reading);
  },
  shapes: [
    {
      as: 'roles',
      at: `spec.${given.specs}`,
      roles: given.roles,
      none: given.none ?? [],
      ...(given.elastic !== undefined && { elastic: given.elastic }),
    },
  ],
  totalMinimum: 'spec.runPolicy.schedulingPolicy.minAvailable',
  health: FAILED,
  status: JOB_STATUS,
  kept: {
    always: [
      'spec.runPolicy.suspend',
      'spec.runPolicy.schedulingPolicy.minAvailable',
      'spec.elasticPolicy.minReplicas',
    ],
    filled: [`spec.${given.specs}.*.replicas`, `spec.${given.specs}.*.restartPolicy`],
    templates: [`spec.${given.specs}.*.template`],
  },
  says: {
    components: given.roles.map((role) => `\`${role.toLowerCase()}\``).join(', '),
    minimum: `\`runPolicy.schedulingPolicy.minAvailable\` of all${given.elastic === undefined ? '' : '; of an elastic job `elasticPolicy.minReplicas`'}`,
  },
});

/** `elasticPolicy.minReplicas` is a number of workers. */
const elastic = (templates: Template[], minimum: Path, reading: WorkloadReading): Template[] => {
  const least = reading.count(minimum, undefined);
  return templates.map((template) =>
    template.name === 'worker' && least !== undefined
      ? { ...template, minAvailable: least, minimum: { path: minimum, per: 1 } }
      : template,
  );
};

/** The runtime of a TrainJob calls its trainers so. */
const NODE = 'node';

/** The second operator keeps templates in a runtime elsewhere; the job says how many nodes and what each needs. */
function trainers(object: JsonObject, reading: WorkloadReading): Template[] {
  const count = path('spec.trainer.numNodes');
  const trainer = own(own(object, 'spec'), 'trainer');
  const resources = own(trainer, 'resourcesPerNode');
  const container: JsonObject = {
    ...(resources === undefined ? {} : { resources }),
    env: own(trainer, 'env') ?? [],
  };
  const spec: JsonObject = { ...patchesOf(reading), containers: [container] };
  return [
    {
      name: NODE,
      template: isObject(trainer) ? { spec } : undefined,
      path: path('spec.trainer'),
      replicas: reading.count(count, 1),
      minAvailable: undefined,
      count: { path: count, per: 1 },
    },
  ];
}

/** What managers such as Kueue add to the Pods of the trainers. */
function patchesOf(reading: WorkloadReading): JsonObject {
  let nodeSelector: JsonObject = {};
  const tolerations: Json[] = [];
  for (const { at } of itemsAt(reading, path('spec.runtimePatches'))) {
    const jobs = [...at, ...path('trainingRuntimeSpec.template.spec.replicatedJobs')];
    for (const { item, at: where } of itemsAt(reading, jobs)) {
      if (textAt(reading, [...where, 'name']) !== NODE) continue;
      const spec = own(own(own(own(item, 'template'), 'spec'), 'template'), 'spec');
      const selector = own(spec, 'nodeSelector');
      if (isObject(selector)) nodeSelector = { ...nodeSelector, ...selector };
      tolerations.push(...(ownList(spec, 'tolerations') ?? []));
    }
  }
  return { nodeSelector, tolerations };
}

export const kubeflowKinds: readonly WorkloadKind[] = [
  trainingJob({
    kind: 'PyTorchJob',
    specs: 'pytorchReplicaSpecs',
    roles: ['Master', 'Worker'],
    elastic: 'spec.elasticPolicy.minReplicas',
  }),
  trainingJob({
    kind: 'TFJob',
    specs: 'tfReplicaSpecs',
    roles: ['Chief', 'Master', 'PS', 'Worker', 'Evaluator'],
  }),
  trainingJob({
    kind: 'MPIJob',
    specs: 'mpiReplicaSpecs',
    roles: ['Launcher', 'Worker'],
    none: ['Worker'],
  }),
  trainingJob({ kind: 'XGBoostJob', specs: 'xgbReplicaSpecs', roles: ['Master', 'Worker'] }),
  trainingJob({
    kind: 'PaddleJob',
    specs: 'paddleReplicaSpecs',
    roles: ['Master', 'Worker'],
    elastic: 'spec.elasticPolicy.minReplicas',
  }),
  trainingJob({ kind: 'JAXJob', specs: 'jaxReplicaSpecs', roles: ['Worker'] }),
  {
    group: 'trainer.kubeflow.org',
    version: 'v1alpha1',
    kind: 'TrainJob',
    templates: trainers,
    health: FAILED,
    status: { sums: [], phases: [] },
    kept: { always: ['spec.suspend'], filled: ['spec.managedBy', 'spec.runtimePatches'], templates: [] },
    says: { components: `\`${NODE}\``, minimum: 'all' },
  },
];

import { own, ownString, type JsonObject } from '../../json/json.ts';
import { hasLabel } from '../gang-label.ts';
import type { GangTerms, Kind, OrderedStart } from '../kind.ts';
import { rolesIn } from '../listed-templates.ts';
import { orderedBy } from '../ordered-start.ts';
import { path, type Path } from '../path.ts';
import type { Template } from '../workload-kind.ts';
import type { WorkloadReading } from '../workload-reading.ts';

// pkg/apis/kubeflow.org/v1/common_types.go of kubeflow/training-operator. kubeflow/mpi-operator has the same keys
// (pkg/apis/kubeflow/v2beta1/constants.go) and writes the role only on Pods (defaultLabels in pkg/controller).
const TRAINING_JOB = 'training.kubeflow.org/job-name';
const TRAINING_ROLE = 'training.kubeflow.org/replica-type';
const MPI_ROLE = 'training.kubeflow.org/job-role';

/** A training job of Kubeflow's training-operator: a map from roles to templates. */
const trainingJob = (given: {
  readonly kind: string;
  readonly specs: string;
  readonly roles: readonly string[];
  /** Roles that default to 0 Pods. */
  readonly none?: readonly string[];
  readonly elastic?: string;
  readonly gang?: Partial<GangTerms>;
}): Kind => {
  const { kind, specs, roles, none = [] } = given;
  const short = kind.toLowerCase();
  return {
    ...{ group: 'kubeflow.org', version: 'v1', kind, plural: `${short}s` },
    templates: (_, reading) => {
      const templates = rolesIn(reading, ['spec', specs], roles, (role) => (none.includes(role) ? 0 : 1));
      return given.elastic === undefined ? templates : elastic(templates, path(given.elastic), reading);
    },
    totalMinimum: 'spec.runPolicy.schedulingPolicy.minAvailable',
    gang: {
      short,
      controllers: [`kubeflow.org/${kind}`],
      marked: TRAINING_JOB,
      read: (pod, { name, uid }) => {
        if (name !== pod.label(TRAINING_JOB)) return { differs: TRAINING_JOB };
        const group = pod.label(TRAINING_ROLE)?.toLowerCase();
        return group === undefined ? { differs: TRAINING_ROLE } : { name, uid, group };
      },
      mark: (name, role) => ({
        labels: { [TRAINING_JOB]: name, [TRAINING_ROLE]: role },
        controller: { apiVersion: 'kubeflow.org/v1', kind, name },
      }),
      suspend: 'spec.runPolicy.suspend',
      ...given.gang,
    },
    fleet: {
      shapes: [
        {
          as: 'roles',
          at: `spec.${specs}`,
          roles,
          none,
          ...(given.elastic !== undefined && { elastic: given.elastic }),
        },
      ],
      health: { phases: [], conditions: ['Failed'] },
      status: { sums: ['replicaStatuses'], phases: [] },
      kept: {
        always: [
          'spec.runPolicy.suspend',
          'spec.runPolicy.schedulingPolicy.minAvailable',
          'spec.elasticPolicy.minReplicas',
        ],
        filled: [`spec.${specs}.*.replicas`, `spec.${specs}.*.restartPolicy`],
        templates: [`spec.${specs}.*.template`],
      },
      says: {
        components: roles.map((role) => `\`${role.toLowerCase()}\``).join(', '),
        minimum: `\`runPolicy.schedulingPolicy.minAvailable\` of all${given.elastic === undefined ? '' : '; of an elastic job `elasticPolicy.minReplicas`'}`,
      },
    },
  };
};

/** Sets the workers' minimum: `elasticPolicy.minReplicas` is a number of workers. */
const elastic = (templates: Template[], minimum: Path, reading: WorkloadReading): Template[] => {
  const least = reading.count(minimum, undefined);
  return templates.map((template) =>
    template.name === 'worker' && least !== undefined
      ? { ...template, minAvailable: least, minimum: { path: minimum, per: 1 } }
      : template,
  );
};

export const pyTorchJob = trainingJob({
  kind: 'PyTorchJob',
  specs: 'pytorchReplicaSpecs',
  roles: ['Master', 'Worker'],
  elastic: 'spec.elasticPolicy.minReplicas',
});

export const tfJob = trainingJob({
  kind: 'TFJob',
  specs: 'tfReplicaSpecs',
  roles: ['Chief', 'Master', 'PS', 'Worker', 'Evaluator'],
});

export const xgBoostJob = trainingJob({
  kind: 'XGBoostJob',
  specs: 'xgbReplicaSpecs',
  roles: ['Master', 'Worker'],
});

export const paddleJob = trainingJob({
  kind: 'PaddleJob',
  specs: 'paddleReplicaSpecs',
  roles: ['Master', 'Worker'],
  elastic: 'spec.elasticPolicy.minReplicas',
});

export const jaxJob = trainingJob({ kind: 'JAXJob', specs: 'jaxReplicaSpecs', roles: ['Worker'] });

export const mpiJob = trainingJob({
  kind: 'MPIJob',
  specs: 'mpiReplicaSpecs',
  roles: ['Launcher', 'Worker'],
  none: ['Worker'],
  gang: {
    otherVersion: 'v2beta1',
    // The newer operator runs its launcher as a Job.
    controllers: ['kubeflow.org/MPIJob', 'batch/Job'],
    read: (pod, { kind: by, name, uid }) => {
      const job = pod.label(TRAINING_JOB) ?? '';
      if (by === 'Job')
        return name === `${job}-launcher`
          ? { name: job, uid: undefined, group: 'launcher' }
          : { differs: TRAINING_JOB };
      if (name !== job) return { differs: TRAINING_JOB };
      const group = (pod.label(TRAINING_ROLE) ?? pod.label(MPI_ROLE))?.toLowerCase();
      return group === undefined ? { differs: TRAINING_ROLE } : { name, uid, group };
    },
    orderedStart: launcherLast,
  },
});

/** A launcher that is created after its workers, which are gated until the launcher exists. */
function launcherLast(workload: JsonObject): OrderedStart[] {
  const spec = own(workload, 'spec');
  const launcher = own(own(own(spec, 'mpiReplicaSpecs'), 'Launcher'), 'template');
  // A launcher without the label is no member of the gang, so it may wait for the workers of a PodGang that a user wrote.
  return hasLabel(launcher) && ownString(spec, 'launcherCreationPolicy') === 'WaitForWorkersReady'
    ? [orderedBy(workload, { field: 'spec.launcherCreationPolicy', instead: 'AtStartup' })]
    : [];
}

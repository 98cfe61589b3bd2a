import { own, ownList, type Json } from '../../json/json.ts';
import { hasLabel, namedBy } from '../gang-label.ts';
import type { Kind } from '../kind.ts';
import { templatesIn } from '../listed-templates.ts';
import { orderedByList } from '../ordered-start.ts';
import type { TemplateList } from '../workload-kind.ts';

// staging/src/volcano.sh/apis/pkg/apis/batch/v1alpha1/labels.go of volcano-sh/volcano: labels and annotations.
const VOLCANO_JOB = 'volcano.sh/job-name';
const VOLCANO_TASK = 'volcano.sh/task-spec';

const TASKS: TemplateList = {
  items: 'spec.tasks',
  unnamed: 'task',
  template: 'template',
  replicas: 'replicas',
  minAvailable: 'minAvailable',
};

export const volcanoJob: Kind = {
  ...{ group: 'batch.volcano.sh', version: 'v1alpha1', kind: 'Job', plural: 'jobs' },
  templates: (_, reading) => templatesIn(reading, TASKS),
  totalMinimum: 'spec.minAvailable',
  gang: {
    short: 'vcjob',
    controllers: ['batch.volcano.sh/Job'],
    read: namedBy(VOLCANO_JOB, (pod) => pod.label(VOLCANO_TASK) ?? pod.annotation(VOLCANO_TASK)),
    mark: (name, task) => ({
      labels: { [VOLCANO_JOB]: name, [VOLCANO_TASK]: task },
      controller: { apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job', name },
    }),
    phase: { path: 'status.state.phase', succeeded: ['Completed'] },
    orderedStart: (workload) =>
      orderedByList(workload, {
        field: 'spec.tasks',
        isMember: (task: Json) => hasLabel(own(task, 'template')),
        namesIn: (on) => ownList(on, 'name') ?? [],
      }),
  },
  fleet: {
    shapes: [{ as: 'list', ...TASKS }],
    health: {
      phases: [{ path: 'status.state.phase', values: ['Failed', 'Aborted', 'Terminated'] }],
      conditions: [],
    },
    status: {
      sums: ['pending', 'running', 'succeeded', 'failed', 'terminating', 'unknown', 'taskStatusCount'],
      phases: [
        {
          path: 'state.phase',
          order: [
            'Failed',
            'Aborted',
            'Aborting',
            'Terminated',
            'Terminating',
            'Restarting',
            'Pending',
            'Running',
            'Completing',
            'Completed',
          ],
          waiting: 'Pending',
        },
      ],
    },
    kept: {
      always: ['spec.minAvailable', 'spec.tasks.*.minAvailable'],
      // Volcano's webhook rejects every other change after creation.
      filled: [
        'spec.queue',
        'spec.schedulerName',
        'spec.maxRetry',
        'spec.tasks.*.name',
        'spec.tasks.*.maxRetry',
      ],
      templates: [],
    },
    says: {
      components: 'the name of each task, `task-<n>` where it has none',
      minimum: '`minAvailable` of the task; without one, of the job',
    },
  },
};

import { templatesIn } from './listed-templates.ts';
import type { TemplateList } from './template-shape.ts';
import type { WorkloadKind } from './workload-kind.ts';

const TASKS: TemplateList = {
  items: 'spec.tasks',
  unnamed: 'task',
  template: 'template',
  replicas: 'replicas',
  minAvailable: 'minAvailable',
};

export const volcanoKinds: readonly WorkloadKind[] = [
  {
    group: 'batch.volcano.sh',
    version: 'v1alpha1',
    kind: 'Job',
    templates: (_, reading) => templatesIn(reading, TASKS),
    shapes: [{ as: 'list', ...TASKS }],
    totalMinimum: 'spec.minAvailable',
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
      // Its webhook lets nothing else be changed once the job is there.
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
];

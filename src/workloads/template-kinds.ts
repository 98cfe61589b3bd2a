import { isObject } from '../json/json.ts';
import { path, valueAt } from './path.ts';
import { replicated } from './plain.ts';
import type { TemplateKind } from './workload-kind.ts';
import { workloadKinds } from './workload-kinds.ts';

/** The template under `at`, of which nobody can say how many Pods there are at a time. */
const uncounted = (group: string, kind: string, at: string): TemplateKind => ({
  group,
  version: 'v1',
  kind,
  single: (object) => {
    const template = valueAt(object, path(at));
    return {
      name: '',
      template: isObject(template) ? template : undefined,
      path: path(at),
      replicas: 0,
      uncounted: true,
      minAvailable: undefined,
    };
  },
});

/** All kinds whose Pod templates are known: the workloads, and those that no fleet is told of. */
export const templateKinds: readonly TemplateKind[] = [
  ...workloadKinds,
  uncounted('', 'PodTemplate', 'template'),
  { group: '', version: 'v1', kind: 'ReplicationController', single: replicated },
  { group: 'apps', version: 'v1', kind: 'ReplicaSet', single: replicated },
  // As many as there are fitting nodes.
  uncounted('apps', 'DaemonSet', 'spec.template'),
  // The Jobs of several times may run beside each other.
  uncounted('batch', 'CronJob', 'spec.jobTemplate.spec.template'),
];

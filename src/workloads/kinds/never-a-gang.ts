import type { Kind } from '../kind.ts';
import { replicatedTemplate, uncountedTemplate } from '../single-template.ts';

/** As many Pods as there are fitting nodes: there is no number to wait for. */
export const daemonSet: Kind = {
  ...{ group: 'apps', version: 'v1', kind: 'DaemonSet', plural: 'daemonsets' },
  single: uncountedTemplate('spec.template'),
  gang: 'never',
};

export const replicationController: Kind = {
  ...{ group: '', version: 'v1', kind: 'ReplicationController', plural: 'replicationcontrollers' },
  single: replicatedTemplate,
  gang: 'never',
};

/** Makes nothing by itself. */
export const podTemplate: Kind = {
  ...{ group: '', version: 'v1', kind: 'PodTemplate', plural: 'podtemplates' },
  single: uncountedTemplate('template'),
};

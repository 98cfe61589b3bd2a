import type { Kind } from '../kind.ts';
import { replicatedTemplate, uncountedTemplate } from '../single-template.ts';

/** A DaemonSet has a Pod for each matching node, so there is no number of Pods to wait for. */
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

/** A PodTemplate creates no Pods by itself. */
export const podTemplate: Kind = {
  ...{ group: '', version: 'v1', kind: 'PodTemplate', plural: 'podtemplates' },
  single: uncountedTemplate('template'),
};

import type { Kind } from '../kind.ts';
import { MAIN, replicatedTemplate, servingFleet } from '../single-template.ts';

// https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pod-template-hash-label; the name of a Deployment's
// ReplicaSet ends with this hash, and a ReplicaSet without a Deployment lacks the label.
const TEMPLATE_HASH = 'pod-template-hash';

export const deployment: Kind = {
  ...{ group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments' },
  single: replicatedTemplate,
  // The ReplicaSet's real name ends with a hash of the template.
  children: [{ group: 'apps', version: 'v1', kind: 'ReplicaSet', suffix: '-hash', spec: 'spec' }],
  fleet: servingFleet('updatedReplicas', 'availableReplicas'),
};

/** A ReplicaSet of its own, or one revision of a Deployment: each is a gang. */
export const replicaSet: Kind = {
  ...{ group: 'apps', version: 'v1', kind: 'ReplicaSet', plural: 'replicasets' },
  single: replicatedTemplate,
  gang: {
    short: 'replicaset',
    controllers: ['apps/ReplicaSet'],
    read: (pod, { name, uid }) => {
      const hash = pod.label(TEMPLATE_HASH);
      return hash === undefined || name.endsWith(`-${hash}`)
        ? { name, uid, group: MAIN }
        : { differs: TEMPLATE_HASH };
    },
    mark: (name) => ({ labels: {}, controller: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name } }),
  },
};

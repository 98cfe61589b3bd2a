import { fault } from '../../api/fault.ts';
import { own, ownObject, ownString, type Json } from '../../json/json.ts';
import type { Kind } from '../kind.ts';
import { MAIN, replicatedTemplate, servingFleet } from '../single-template.ts';

// https://kubernetes.io/docs/reference/labels-annotations-taints/#statefulsetkubernetesiopod-name
const POD_NAME = 'statefulset.kubernetes.io/pod-name';

export const statefulSet: Kind = {
  ...{ group: 'apps', version: 'v1', kind: 'StatefulSet', plural: 'statefulsets' },
  single: (object, reading) => ({
    ...replicatedTemplate(object, reading),
    oneByOne:
      ownString(ownObject(object, 'spec'), 'podManagementPolicy') === 'Parallel'
        ? undefined
        : { field: 'spec.podManagementPolicy', instead: 'Parallel' },
  }),
  hostOf: (workload) => ({
    hostname: `${ownString(own(workload, 'metadata'), 'name')}-0`,
    subdomain: ownString(own(workload, 'spec'), 'serviceName'),
  }),
  gang: {
    short: 'statefulset',
    controllers: ['apps/StatefulSet'],
    read: (pod, { name, uid }) =>
      pod.label(POD_NAME) === pod.name && pod.name?.startsWith(`${name}-`) === true
        ? { name, uid, group: MAIN }
        : { differs: POD_NAME },
    mark: (name) => ({
      labels: { [POD_NAME]: `${name}-0` },
      controller: { apiVersion: 'apps/v1', kind: 'StatefulSet', name },
      name: `${name}-0`,
    }),
    hosts: (name, { replicas }) => [{ prefix: `${name}-`, from: 0, count: replicas }],
    replaces: (workload, pods) => {
      const strategy = own(own(workload, 'spec'), 'updateStrategy');
      if (ownString(strategy, 'type') === 'OnDelete') return 'by hand';
      const most: Json | undefined = own(own(strategy, 'rollingUpdate'), 'maxUnavailable');
      if (pods < 2 || most === '100%' || (typeof most === 'number' && most >= pods)) return 'together';
      // Existing Pods lack the label, and each new one would wait for the next.
      const detail = 'scale it to 0 before, or write type: OnDelete and delete all of its Pods together';
      return fault('PodsOneByOne', 'spec.updateStrategy', { detail });
    },
  },
  fleet: servingFleet('updatedReplicas', 'readyReplicas'),
};

import { z } from 'zod';

/** Parts of Kubernetes’ own objects, strict where a slip would go unnoticed until the API server sees the Deployment. */

export const labels = z.record(z.string(), z.string());

/** Objects whose fields the API server knows best. */
export const objects = z.array(z.record(z.string(), z.unknown()));

const anything = z.record(z.string(), z.unknown());

/** As Kubernetes' resource.Quantity, or a whole number. */
const quantity = z.union([
  z.number().min(0),
  z.string().regex(/^\d+(\.\d+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/),
]);
export const quantities = z.record(z.string(), quantity);

export const toleration = z.strictObject({
  key: z.string().optional(),
  operator: z.enum(['Exists', 'Equal', 'Lt', 'Gt']).optional(),
  value: z.string().optional(),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional(),
  tolerationSeconds: z.int().optional(),
});

export const affinity = z.strictObject({
  nodeAffinity: anything.optional(),
  podAffinity: anything.optional(),
  podAntiAffinity: anything.optional(),
});

export const spread = z.strictObject({
  topologyKey: z.string().min(1),
  maxSkew: z.int().min(1),
  whenUnsatisfiable: z.enum(['ScheduleAnyway', 'DoNotSchedule']),
  minDomains: z.int().min(1).optional(),
  matchLabelKeys: z.array(z.string()).optional(),
  nodeAffinityPolicy: z.enum(['Honor', 'Ignore']).optional(),
  nodeTaintsPolicy: z.enum(['Honor', 'Ignore']).optional(),
  labelSelector: z
    .strictObject({ matchLabels: labels.optional(), matchExpressions: objects.optional() })
    .optional(),
});

export const environment = z.strictObject({
  name: z.string().min(1),
  value: z.string().optional(),
  valueFrom: anything.optional(),
});

export const volume = z.looseObject({ name: z.string().min(1) });

export const volumeMount = z.strictObject({
  name: z.string().min(1),
  mountPath: z.string().min(1),
  readOnly: z.boolean().optional(),
  subPath: z.string().optional(),
  subPathExpr: z.string().optional(),
  mountPropagation: z.string().optional(),
  recursiveReadOnly: z.string().optional(),
});

export const networkPeer = z.strictObject({
  namespaceSelector: anything.optional(),
  podSelector: anything.optional(),
  ipBlock: z.strictObject({ cidr: z.string(), except: z.array(z.string()).optional() }).optional(),
});

import type { JsonObject } from '../../../src/json/json.ts';

/** A Pod template whose one container asks for `requests`. */
export const template = (requests: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  spec: { containers: [{ name: 'main', resources: { requests } }], ...more },
});

export const workload = (
  apiVersion: string,
  kind: string,
  spec: JsonObject,
  more: JsonObject = {},
): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name: 'train', namespace: 'ml' },
  spec,
  ...more,
});

export const volcanoJob = (spec: JsonObject, more: JsonObject = {}): JsonObject =>
  workload('batch.volcano.sh/v1alpha1', 'Job', spec, more);

export const deployment = (spec: JsonObject, more: JsonObject = {}): JsonObject =>
  workload('apps/v1', 'Deployment', spec, more);

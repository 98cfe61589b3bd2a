import type { Json, JsonObject } from '../../src/api/json.ts';
import { json } from './pods.ts';

/** An HPCPolicy `flux` of the namespace `ml`. */
export const hpcPolicy = (spec: Json): JsonObject =>
  json({
    apiVersion: 'muster.dev/v1alpha1',
    kind: 'HPCPolicy',
    metadata: { namespace: 'ml', name: 'flux' },
    spec,
  });

import { definition } from './definition.ts';

const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** A policy of Karmada, of which no field is checked here. */
export const propagationPolicies = definition({
  group: 'policy.karmada.io',
  version: 'v1alpha1',
  kind: 'PropagationPolicy',
  plural: 'propagationpolicies',
  spec: free,
  statusSchema: free,
});

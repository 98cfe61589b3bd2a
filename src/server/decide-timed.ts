import type { Decision, Policy } from '../admission/decision.ts';
import { decideRequest, type Endpoint } from '../admission/endpoints.ts';
import type { AdmissionRequest } from '../admission/review.ts';
import { PATH_MUTATE_POD } from '../api/names.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Decides, and counts what a backend did to a Pod: the operation `mutate` of the backend framework's metrics. */
export function decideTimed(
  endpoint: Endpoint,
  review: AdmissionRequest,
  policy: Policy,
  metrics: Metrics,
): Decision {
  if (endpoint.path !== PATH_MUTATE_POD) return decideRequest(endpoint, review, policy);
  const since = performance.now();
  const decision = decideRequest(endpoint, review, policy);
  if (decision.backend !== undefined) {
    const seconds = (performance.now() - since) / 1000;
    metrics.backends.operated(decision.backend, 'mutate', decision.faults.length === 0, seconds);
  }
  return decision;
}

/** Decides once what the watches do not know was read. @throws TryLater where it could not be */
export async function decideAsked(
  place: NonNullable<Decision['ask']>,
  endpoint: Endpoint,
  review: AdmissionRequest,
  policy: Policy,
  metrics: Metrics,
  withinMs: number,
): Promise<Decision> {
  const placement = await policy.placement?.read?.(place, withinMs);
  return decideTimed(endpoint, review, { ...policy, placement }, metrics);
}

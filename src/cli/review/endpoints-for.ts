import { admissionWebhooks, sameKind, type AdmissionWebhook } from '../../admission/endpoints.ts';
import type { Policy } from '../../admission/policy.ts';
import type { AdmissionRequest } from '../../admission/review.ts';
import { askingWorkload } from '../../workloads/asking-workload.ts';

/** Who is asked about a request, as the webhooks are registered; nobody about most kinds. */
export function endpointsFor(
  request: AdmissionRequest,
  policy: Policy,
): { readonly mutating: AdmissionWebhook | undefined; readonly validating: AdmissionWebhook | undefined } {
  const asked = admissionWebhooks.filter((endpoint) => takes(endpoint, request, policy));
  const first = (wanted: AdmissionWebhook['verb']): AdmissionWebhook | undefined =>
    asked.find(({ verb }) => verb === wanted);
  return { mutating: first('mutate'), validating: first('validate') };
}

const takes = (
  { kind, resource }: AdmissionWebhook,
  { object, kind: given, subResource, resource: asked }: AdmissionRequest,
  { gangKinds }: Policy,
): boolean =>
  kind === undefined
    ? object !== undefined && askingWorkload(object, gangKinds) !== undefined
    : sameKind(given, kind) || (subResource !== '' && asked === resource);

import { admissionWebhooks, sameKind, type AdmissionWebhook } from '../../admission/endpoints.ts';
import type { Policy } from '../../admission/policy.ts';
import { REVIEW_API_VERSION, REVIEW_KIND, type AdmissionRequest } from '../../admission/review.ts';
import { askingWorkload } from '../../workloads/asking-workload.ts';
import type { JsonObject } from '../../json/json.ts';
import { parseGroupVersion } from '../../k8s/resource.ts';
import type { Ref } from './render-review.ts';

/** The webhooks that the API server would call for a request; none for most kinds. */
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

/** A uid that no API server sends, so that nobody searches an audit log for it. */
const UID = '00000000-0000-0000-0000-000000000000';

/** The AdmissionReview that an API server would send when `object` is created. */
export function createReview(object: JsonObject, ref: Ref, resource: string, username: string): JsonObject {
  const served = parseGroupVersion(ref.apiVersion);
  return {
    apiVersion: REVIEW_API_VERSION,
    kind: REVIEW_KIND,
    request: {
      uid: UID,
      kind: { ...served, kind: ref.kind },
      resource: { ...served, resource },
      name: ref.name,
      namespace: ref.namespace,
      operation: 'CREATE',
      userInfo: { username, groups: ['system:authenticated'] },
      object,
      oldObject: null,
      dryRun: true,
    },
  };
}

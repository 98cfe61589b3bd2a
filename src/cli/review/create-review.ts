import { REVIEW_API_VERSION, REVIEW_KIND } from '../../admission/review.ts';
import type { JsonObject } from '../../json/json.ts';
import { parseGroupVersion } from '../../k8s/resource.ts';
import type { Ref } from './review-result.ts';

/** No API server sends this one, so that nobody looks for it in an audit log. */
const UID = '00000000-0000-0000-0000-000000000000';

/** The review that an API server would send for `object` when it is created. */
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

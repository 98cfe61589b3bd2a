import {
  PATH_MUTATE_POD,
  PATH_MUTATE_POD_GANG,
  PATH_VALIDATE_POD,
  PATH_VALIDATE_POD_GANG,
  POD_GANG_GROUP,
  POD_GANG_KIND,
  POD_GANG_VERSION,
} from '../api/names.ts';
import { quoted } from '../api/printable.ts';
import { untouched, type Decide, type Decision, type Policy } from './decision.ts';
import { mutatePodGang } from './mutate-pod-gang.ts';
import { mutatePod } from './mutate-pod.ts';
import { BadReview, type AdmissionRequest, type GroupVersionKind } from './review.ts';
import { validatePodGang } from './validate-pod-gang.ts';
import { validatePod } from './validate-pod.ts';

/** One path of the server: which kind it takes and how it decides. */
export interface Endpoint {
  readonly path: string;
  readonly verb: 'mutate' | 'validate';
  readonly kind: GroupVersionKind;
  /** Plural name of the resource, to recognise its subresources by. */
  readonly resource: string;
  readonly decide: Decide;
}

const POD: GroupVersionKind = { group: '', version: 'v1', kind: 'Pod' };
const POD_GANG: GroupVersionKind = { group: POD_GANG_GROUP, version: POD_GANG_VERSION, kind: POD_GANG_KIND };

export const endpoints: readonly Endpoint[] = [
  { path: PATH_MUTATE_POD, verb: 'mutate', kind: POD, resource: 'pods', decide: mutatePod },
  { path: PATH_VALIDATE_POD, verb: 'validate', kind: POD, resource: 'pods', decide: validatePod },
  { path: PATH_MUTATE_POD_GANG, verb: 'mutate', kind: POD_GANG, resource: 'podgangs', decide: mutatePodGang },
  {
    path: PATH_VALIDATE_POD_GANG,
    verb: 'validate',
    kind: POD_GANG,
    resource: 'podgangs',
    decide: validatePodGang,
  },
];

const sameKind = (a: GroupVersionKind, b: GroupVersionKind): boolean =>
  a.kind === b.kind && a.version === b.version && a.group === b.group;

/**
 * The decision of one endpoint about one request. Subresources of another kind (Binding, PodExecOptions) and
 * deletions are let through here, once for all endpoints.
 * @throws {BadReview} where the request is for another kind
 */
export function decideRequest(endpoint: Endpoint, request: AdmissionRequest, policy: Policy): Decision {
  const { kind, operation, subResource, resource } = request;
  if (!sameKind(kind, endpoint.kind)) {
    if (subResource !== '' && resource === endpoint.resource) return untouched();
    const found = `${kind.group || 'core'}/${kind.version} ${kind.kind}`;
    throw new BadReview(
      `request.kind: unexpected kind ${quoted(found)}: ${endpoint.path} takes ${endpoint.kind.group || 'core'}/${endpoint.kind.version} ${endpoint.kind.kind}`,
    );
  }
  if (operation === 'DELETE' || operation === 'CONNECT') return untouched();
  return endpoint.decide(request, policy);
}

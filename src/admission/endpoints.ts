import {
  HPC_POLICY_GROUP,
  HPC_POLICY_KIND,
  HPC_POLICY_VERSION,
  PATH_MUTATE_POD,
  PATH_MUTATE_POD_GANG,
  PATH_VALIDATE_HPC_POLICY,
  PATH_VALIDATE_POD,
  PATH_VALIDATE_POD_GANG,
  PATH_VALIDATE_WORKLOAD,
  POD_GANG_GROUP,
  POD_GANG_KIND,
  POD_GANG_VERSION,
} from '../api/names.ts';
import { own, ownString } from '../json/json.ts';
import { ENVIRONMENT_AND_VOLUMES, MANAGED_FIELDS, type UnreadList } from '../json/unread-lists.ts';
import { quoted } from '../text/printable.ts';
import { hostedIn } from '../backends/hosted.ts';
import { BadRequest, TryLater } from '../errors.ts';
import type { PrepareFailed } from '../preparers/prepare.ts';
import { nameOf } from './denial.ts';
import { validateHpcPolicy } from './hpc-policies.ts';
import { mutatePodGang, validatePodGang } from './pod-gangs.ts';
import { mutatePod, validatePod } from './pods.ts';
import { answered, type Policy } from './policy.ts';
import {
  parseReview,
  renderResponse,
  untouched,
  type AdmissionRequest,
  type Decision,
  type GroupVersionKind,
} from './review.ts';
import { validateWorkload } from './workloads.ts';

/** What is decided about one request: a pure function of the request and of what is known. */
export type Decide = (request: AdmissionRequest, policy: Policy, failed?: PrepareFailed) => Decision;

/** One path of the server: which kind it takes and how it decides. */
export interface Endpoint {
  readonly path: string;
  readonly verb: 'mutate' | 'validate';
  /** Absent: every kind that has Pod templates. */
  readonly kind?: GroupVersionKind;
  /** Plural name of the resource, to recognise its subresources by. */
  readonly resource?: string;
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
  {
    path: PATH_VALIDATE_HPC_POLICY,
    verb: 'validate',
    kind: { group: HPC_POLICY_GROUP, version: HPC_POLICY_VERSION, kind: HPC_POLICY_KIND },
    resource: 'hpcpolicies',
    decide: validateHpcPolicy,
  },
  { path: PATH_VALIDATE_WORKLOAD, verb: 'validate', decide: validateWorkload },
];

export const sameKind = (a: GroupVersionKind, b: GroupVersionKind): boolean =>
  a.kind === b.kind && a.version === b.version && a.group === b.group;

/**
 * The decision of one endpoint about one request. Subresources of another kind (Binding, PodExecOptions) and
 * deletions are let through here, once for all endpoints.
 * @throws {BadRequest} where the request is for another kind
 */
export function decideRequest(
  endpoint: Endpoint,
  request: AdmissionRequest,
  policy: Policy,
  failed?: PrepareFailed,
): Decision {
  const { kind, operation, subResource, resource } = request;
  if (endpoint.kind !== undefined && !sameKind(kind, endpoint.kind)) {
    if (subResource !== '' && resource === endpoint.resource) return untouched();
    const found = `${kind.group || 'core'}/${kind.version} ${kind.kind}`;
    throw new BadRequest(
      `request.kind: unexpected kind ${quoted(found)}: ${endpoint.path} takes ${endpoint.kind.group || 'core'}/${endpoint.kind.version} ${endpoint.kind.kind}`,
    );
  }
  if (operation === 'DELETE' || operation === 'CONNECT') return untouched();
  return endpoint.decide(request, policy, failed);
}

/** Who hears of what was decided. Must not throw. */
export interface ReviewObserver {
  /** A backend has prepared a Pod, or has not been able to. */
  prepared(backend: string, ok: boolean, seconds: number): void;
  /** An answer was sent, `ms` after its headers had come. */
  decided(request: AdmissionRequest, decision: Decision, name: string, ms: number): void;
}

/** An answer as the server sends it. */
export interface ReviewAnswer {
  readonly body: string;
  readonly operation: string;
  readonly outcome: 'allowed' | 'patched' | 'denied';
  sent(ms: number): void;
}

/** What the server mounts: one path, which takes and gives AdmissionReviews. */
export interface ReviewEndpoint {
  readonly path: string;
  readonly unread: readonly UnreadList[];
  readonly readsAll?: ((head: { readonly namespace: string }) => boolean) | undefined;
  /** At once, but for the few that have to wait: for what no watch knows, or for a backend that runs elsewhere. */
  answer(
    body: unknown,
    asked: { readonly remainingMs: number; entire(): unknown },
  ): ReviewAnswer | Promise<ReviewAnswer>;
  idOf(body: unknown): string | undefined;
}

/** The endpoints, at work under `policy`. */
export const reviewEndpoints = (policy: Policy, observer: ReviewObserver): ReviewEndpoint[] =>
  endpoints.map((endpoint) => {
    const mutatesPods = endpoint.path === PATH_MUTATE_POD;
    const decide = (request: AdmissionRequest, under: Policy): Decision =>
      mutatesPods
        ? decideObserved(endpoint, request, under, observer)
        : decideRequest(endpoint, request, under);
    const answerOf = (request: AdmissionRequest, decision: Decision): ReviewAnswer => ({
      body: renderResponse(request, decision),
      operation: request.operation,
      outcome: outcomeOf(decision),
      sent: (ms) => observer.decided(request, decision, nameOf(request), ms),
    });
    const cut = endpoint.kind === POD && !readsLists(policy);
    // Of a workload nobody reads them, and it is never patched.
    const unread =
      cut || endpoint.kind === undefined ? [MANAGED_FIELDS, ENVIRONMENT_AND_VOLUMES] : [MANAGED_FIELDS];
    return {
      path: endpoint.path,
      unread,
      readsAll: cut ? readsAllIn(policy) : undefined,
      idOf: (body) => ownString(own(body, 'request'), 'uid'),
      answer: (body, asked) => {
        const request = parseReview(body, cut ? () => asked.entire() : undefined);
        const decision = decide(request, policy);
        return decision.ask === undefined && !isForetold(request, decision)
          ? answerOf(request, decision)
          : answerLater(request, decision, asked);
      },
    };

    async function answerLater(
      request: AdmissionRequest,
      first: Decision,
      clock: { readonly remainingMs: number },
    ): Promise<ReviewAnswer> {
      let decision = first;
      let under = policy;
      for (let asked = 0; decision.ask !== undefined; asked += 1) {
        if (asked === MOST_ASKED)
          throw new TryLater('not-ready', 'whose the object is changed while it was asked about: try again');
        under = await answered(decision.ask, under, clock.remainingMs);
        decision = decide(request, under);
      }
      if (!isForetold(request, decision)) return answerOf(request, decision);
      const tried = { user: request.username, namespace: request.namespace, object: request.object ?? {} };
      const foretold = (await policy.preview?.(tried, clock.remainingMs)) ?? [];
      return answerOf(request, { ...decision, warnings: [...decision.warnings, ...foretold] });
    }

    /** A creation that is let in and only tried out; it is asked about once, when it is as it would be stored. */
    function isForetold({ dryRun, operation, subResource }: AdmissionRequest, decision: Decision): boolean {
      if (!dryRun || policy.preview === undefined || endpoint.verb !== 'validate') return false;
      const { faults, gang } = decision;
      return operation === 'CREATE' && subResource === '' && faults.length === 0 && gang !== undefined;
    }
  });

/** Whoever declares to add to lists is going to look: it would be parsed twice. */
const readsLists = ({ registry, preparers = [] }: Policy): boolean =>
  [...registry.backends.filter((backend) => hostedIn(backend) === undefined), ...preparers].some(
    ({ patchSurface: { lists = [], fields = [] } }) => lists.length + fields.length > 0,
  );

/** The same, of what is not known before: a policy for the Pods of gangs, and what a backend that runs elsewhere declares. */
function readsAllIn({ registry: { hosted }, hpc }: Policy): ReviewEndpoint['readsAll'] {
  if (hosted.length === 0 && hpc === undefined) return undefined;
  return (head) =>
    hosted.some(({ hosted: { readsLargeLists } }) => readsLargeLists) || hpc?.anyIn(head.namespace) === true;
}

/** Counts what a backend did to a Pod: the operation `mutate` of the backend framework's metrics. */
function decideObserved(
  endpoint: Endpoint,
  request: AdmissionRequest,
  policy: Policy,
  observer: ReviewObserver,
): Decision {
  const since = policy.said?.since ?? performance.now();
  const prepared = (backend: string, ok: boolean): void =>
    observer.prepared(backend, ok, (performance.now() - since) / 1000);
  const decision = decideRequest(endpoint, request, policy, (backend) => prepared(backend, false));
  const { backend, faults } = decision;
  // A Pod that never came to the backend is no failure of the backend's.
  const refused = faults.some(({ rule }) => rule === 'BackendFailed');
  if (backend !== undefined && (refused || faults.length === 0)) prepared(backend, !refused);
  return decision;
}

/**
 * First where an object stands, then the backend that serves it there, then who prepares its Pods beside that; once more where
 * that has changed by then.
 */
const MOST_ASKED = 4;

function outcomeOf({ faults, changes }: Decision): ReviewAnswer['outcome'] {
  if (faults.length > 0) return 'denied';
  return changes.length > 0 ? 'patched' : 'allowed';
}

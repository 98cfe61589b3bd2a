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
import { decideWithNeeds, Needs } from '../api/needs.ts';
import { ALL_READ, type WebhookEndpoint, type WebhookResponse } from '../api/webhook-endpoint.ts';
import { KnownSpecs } from '../json/known-specs.ts';
import { SpecTexts } from '../json/spec-texts.ts';
import { ENVIRONMENT_AND_VOLUMES, MANAGED_FIELDS, type UnreadList } from '../json/unread-lists.ts';
import { quoted } from '../text/printable.ts';
import { hostedIn } from '../backends/hosted.ts';
import { BadRequest, TryLater } from '../errors.ts';
import type { PrepareFailed } from '../preparers/prepare.ts';
import { renderResponse } from './response.ts';
import {
  nameOfRequest,
  parseReview,
  untouched,
  type AdmissionRequest,
  type Decision,
  type GroupVersionKind,
  type Decided,
} from './review.ts';
import { validateHpcPolicy } from './hpc-policies.ts';
import { mutatePodGang, validatePodGang } from './pod-gangs.ts';
import { mutatePod, validatePod } from './pods.ts';
import { answered, type Policy } from './policy.ts';
import { validateWorkload } from './workloads.ts';

/** Decides about one request: a pure function of the request and the policy. */
export type Decide = (request: AdmissionRequest, policy: Policy, failed?: PrepareFailed) => Decided;

/** One admission webhook: the kind it takes and how it decides. */
export interface AdmissionWebhook {
  readonly path: string;
  readonly verb: 'mutate' | 'validate';
  /** The only kind that the webhook takes; absent: every kind that has Pod templates. */
  readonly kind?: GroupVersionKind;
  /** Plural name of the resource, to recognise its subresources by. */
  readonly resource?: string;
  readonly decide: Decide;
}

const POD: GroupVersionKind = { group: '', version: 'v1', kind: 'Pod' };
const POD_GANG: GroupVersionKind = { group: POD_GANG_GROUP, version: POD_GANG_VERSION, kind: POD_GANG_KIND };

export const admissionWebhooks: readonly AdmissionWebhook[] = [
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
 * The decision of one webhook about one request. Subresources of another kind (Binding, PodExecOptions) and deletions are
 * allowed here, once for all webhooks.
 * @throws {BadRequest} where the request is for another kind
 */
export function decideRequest(
  webhook: AdmissionWebhook,
  request: AdmissionRequest,
  policy: Policy,
  failed?: PrepareFailed,
): Decided {
  const { kind, operation, subResource, resource } = request;
  if (webhook.kind !== undefined && !sameKind(kind, webhook.kind)) {
    if (subResource !== '' && resource === webhook.resource) return untouched();
    const found = `${kind.group || 'core'}/${kind.version} ${kind.kind}`;
    throw new BadRequest(
      `request.kind: unexpected kind ${quoted(found)}: ${webhook.path} takes ${webhook.kind.group || 'core'}/${webhook.kind.version} ${webhook.kind.kind}`,
    );
  }
  if (operation === 'DELETE' || operation === 'CONNECT') return untouched();
  return webhook.decide(request, policy, failed);
}

/** Is called with decisions. Its methods must not throw. */
export interface ReviewObserver {
  /** Called when a backend has prepared a Pod, or has failed to. */
  prepared(backend: string, ok: boolean, seconds: number): void;
  /** A response was sent, `ms` after the headers of the request had arrived. */
  decided(request: AdmissionRequest, decision: Decision, name: string, ms: number): void;
}

/** The endpoints that answer AdmissionReviews, deciding under `policy`. */
export const admissionEndpoints = (policy: Policy, observer: ReviewObserver): WebhookEndpoint[] =>
  admissionWebhooks.map((webhook) => {
    const observes = webhook.path === PATH_MUTATE_POD ? observer : undefined;
    const isCut = webhook.kind === POD && !readsLists(policy);
    const specs = observes && isCut && policy.hpc ? new KnownSpecs(ALL_READ) : undefined;
    const respond = (request: AdmissionRequest, decision: Decision): WebhookResponse => ({
      body: renderResponse(request, decision),
      operation: request.operation,
      outcome: outcomeOf(decision),
      sent: (ms) => observer.decided(request, decision, nameOfRequest(request), ms),
    });
    return {
      path: webhook.path,
      specs,
      texts: isCut ? new SpecTexts() : undefined,
      unread: isCut ? unreadOfPods(policy) : webhook.kind === undefined ? CUT : ALL_READ,
      handle: (asked) => {
        const { bytes, found } = asked;
        const request = parseReview(
          asked.body,
          isCut ? () => asked.entire() : undefined,
          specs && bytes && { of: specs, known: found?.fits === true ? found.known : undefined, bytes },
        );
        const first = decideObserved(webhook, request, policy, observes);
        if (!(first instanceof Needs)) return respond(request, first);
        const decided = decideWithNeeds(
          {
            decide: (known) => decideObserved(webhook, request, known, observes),
            answer: (needs, known) => answered(needs, known, asked.remainingMs),
            known: policy,
            rounds: MOST_ASKED,
            exhausted: whoseChanged,
          },
          first,
        );
        return decided.then((decision) => respond(request, decision));
      },
    };
  });

/**
 * The most answers that one review waits for: where the object is in the cluster, the hosted backend, the hosted preparers
 * of its Pods, a forecast, and one more in case the first has changed meanwhile.
 */
const MOST_ASKED = 5;

const whoseChanged = (): never => {
  throw new TryLater('not-ready', 'whose the object is changed while it was asked about: try again');
};

/**
 * Lists that are cut from the body. Muster never reads them in a workload and never patches a workload; in a Pod few
 * preparers read them.
 */
const CUT: readonly UnreadList[] = [MANAGED_FIELDS, ENVIRONMENT_AND_VOLUMES];

/**
 * Whether a backend or preparer of this process declares to patch lists. Cutting the lists would then mean parsing each body
 * twice.
 */
const readsLists = ({ registry, preparers = [] }: Policy): boolean =>
  [...registry.backends.filter((backend) => hostedIn(backend) === undefined), ...preparers].some(
    ({ patchSurface: { lists = [], fields = [] } }) => lists.length + fields.length > 0,
  );

/**
 * Which other preparers read the lists depends on the Pod: on the HPCPolicies of its namespace, and on what hosted backends
 * declare.
 */
function unreadOfPods({ registry: { hosted }, hpc }: Policy): WebhookEndpoint['unread'] {
  if (hosted.length === 0 && hpc === undefined) return CUT;
  return ({ namespace }) =>
    hosted.some(({ hosted: { readsLargeLists } }) => readsLargeLists) || hpc?.anyIn(namespace) === true
      ? ALL_READ
      : CUT;
}

/** Decides, reports what the backend did to a Pod, and asks for a forecast where a dry run is allowed. */
function decideObserved(
  webhook: AdmissionWebhook,
  request: AdmissionRequest,
  policy: Policy,
  observer: ReviewObserver | undefined,
): Decided {
  if (observer === undefined) return withForecast(webhook, request, policy);
  const since = policy.said?.since ?? performance.now();
  const prepared = (backend: string, ok: boolean): void =>
    observer.prepared(backend, ok, (performance.now() - since) / 1000);
  const decision = decideRequest(webhook, request, policy, (backend) => prepared(backend, false));
  if (decision instanceof Needs) return decision;
  const { backend, faults } = decision;
  // A Pod that is refused for another reason never reached the backend, and is no failure of the backend.
  const refused = faults.some(({ rule }) => rule === 'BackendFailed');
  if (backend !== undefined && (refused || faults.length === 0)) prepared(backend, !refused);
  return decision;
}

/** Asks for a forecast for an allowed creation by dry run, with the object as it would be stored. */
function withForecast(webhook: AdmissionWebhook, request: AdmissionRequest, policy: Policy): Decided {
  const decision = decideRequest(webhook, request, policy);
  const { dryRun, operation, subResource, username, namespace } = request;
  if (!dryRun || policy.preview === undefined || webhook.verb !== 'validate') return decision;
  if (decision instanceof Needs || operation !== 'CREATE' || subResource !== '') return decision;
  if (decision.faults.length > 0 || decision.gang === undefined) return decision;
  if (policy.forecast === undefined)
    return new Needs({ forecastOf: { user: username, namespace, object: request.object ?? {} } });
  return { ...decision, warnings: [...decision.warnings, ...policy.forecast] };
}

function outcomeOf({ faults, changes }: Decision): WebhookResponse['outcome'] {
  if (faults.length > 0) return 'denied';
  return changes.length > 0 ? 'patched' : 'allowed';
}

/**
 * What Karmada's own client does with an answer of the interpreter: the checks that it makes, in its order, and what
 * becomes of a patch. So a test that goes through here fails where Karmada would.
 */
import fastJsonPatch from 'fast-json-patch';
import { ownString, type JsonObject } from '../../../src/json/json.ts';
import { withoutLists } from '../../../src/json/unread-lists.ts';
import type { WebhookEndpoint } from '../../../src/api/webhook-endpoint.ts';
import { unreadOf } from '../../../src/server/request-body.ts';

export interface Answer {
  readonly successful: boolean;
  readonly status?: { readonly code: number; readonly message?: string };
  readonly replicas?: number;
  readonly replicaRequirements?: JsonObject;
  readonly components?: readonly {
    readonly name: string;
    readonly replicas: number;
    readonly replicaRequirements?: JsonObject;
  }[];
  readonly rawStatus?: JsonObject;
  readonly healthy?: boolean;
  readonly dependencies?: readonly {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly namespace?: string;
    readonly name?: string;
  }[];
  /** The object after the patch; for the operations that patch. */
  readonly object?: JsonObject;
}

export interface Question {
  readonly operation: string;
  readonly object: JsonObject;
  readonly observedObject?: JsonObject;
  readonly replicas?: number;
  readonly aggregatedStatus?: readonly JsonObject[];
}

const PATCHING = ['ReviseReplica', 'Retain', 'AggregateStatus'];

/** What the server makes of a body: without the lists that the endpoint leaves out, unless its head says that they are read. */
export function answerTo(endpoint: WebhookEndpoint, body: JsonObject): string {
  const bytes = Buffer.from(JSON.stringify(body));
  const cut: unknown = JSON.parse(withoutLists(bytes, unreadOf(endpoint, bytes)));
  const read = [cut, body].map((one) => JSON.stringify(one));
  const answer = handled(endpoint, cut, () => body);
  // The base of a patch is the object that was sent.
  if ([cut, body].some((one, index) => JSON.stringify(one) !== read[index]))
    throw new Error('it was changed');
  return answer;
}

/** What a parsed body is answered, at once. */
export function handled(endpoint: WebhookEndpoint, body: unknown, entire: () => unknown): string {
  const response = endpoint.handle({ body, remainingMs: 1_000, entire });
  if (response instanceof Promise) throw new Error('it has waited');
  return response.body;
}

/** The body as Karmada sends it: `replicas` always, lists only where they have items. */
export function contextOf(uid: string, { operation, object, ...rest }: Question): JsonObject {
  const apiVersion = ownString(object, 'apiVersion') ?? '';
  const slash = apiVersion.indexOf('/');
  const kind = {
    group: slash < 0 ? '' : apiVersion.slice(0, slash),
    version: apiVersion.slice(slash + 1),
    kind: ownString(object, 'kind') ?? '',
  };
  const metadata = object['metadata'] as { name?: string; namespace?: string } | undefined;
  return {
    kind: 'ResourceInterpreterContext',
    apiVersion: 'config.karmada.io/v1alpha1',
    request: {
      uid,
      kind,
      name: metadata?.name ?? '',
      ...(metadata?.namespace === undefined ? {} : { namespace: metadata.namespace }),
      operation,
      object,
      ...(rest.observedObject && { observedObject: rest.observedObject }),
      replicas: rest.replicas ?? 0,
      ...(rest.aggregatedStatus &&
        rest.aggregatedStatus.length > 0 && { aggregatedStatus: rest.aggregatedStatus }),
    },
  };
}

/** @throws Error in Karmada's words, where it would not take the answer */
export function readAnswer(uid: string, question: Question, body: string): Answer {
  const context = JSON.parse(body) as {
    kind?: string;
    apiVersion?: string;
    response?: Record<string, unknown>;
  };
  if (context.kind !== undefined && context.kind !== 'ResourceInterpreterContext')
    throw new Error('wrong kind');
  if (context.apiVersion !== undefined && context.apiVersion !== 'config.karmada.io/v1alpha1')
    throw new Error('wrong version');
  const { response } = context;
  if (response === undefined) throw new Error('webhook response was absent');
  if (response['uid'] !== uid)
    throw new Error(`expected response.uid "${uid}", got "${String(response['uid'])}"`);
  const answer = response as unknown as Answer & { patch?: string; patchType?: string };
  if (!answer.successful) {
    if (answer.status === undefined)
      throw new Error('webhook require response.status when response.successful is false');
    return answer;
  }
  const { operation } = question;
  if (operation === 'InterpretReplica' && typeof answer.replicas !== 'number')
    throw new Error('webhook returned nil response.replicas');
  if (operation === 'InterpretStatus' && answer.rawStatus === undefined)
    throw new Error('webhook returned nill response.rawStatus');
  if (operation === 'InterpretHealth' && typeof answer.healthy !== 'boolean')
    throw new Error('webhook returned nil response.healthy');
  if (operation === 'InterpretDependency') {
    for (const { apiVersion, kind, name } of answer.dependencies ?? []) {
      if (!apiVersion) throw new Error('missing required apiVersion');
      if (!kind) throw new Error('missing required kind');
      if (!name) throw new Error('dependency can not leave name and labelSelector all empty');
    }
  }
  if (!PATCHING.includes(operation)) return answer;
  const { patch, patchType } = answer;
  if (patch !== undefined && patchType === undefined)
    throw new Error('webhook returned nil response.patchType');
  if (patchType !== undefined && !patch) throw new Error('webhook returned empty response.patch');
  if (patchType !== undefined && patchType !== 'JSONPatch')
    throw new Error(`webhook returned invalid response.patchType of "${patchType}"`);
  if (patch === undefined) return { ...answer, object: question.object };
  const operations = JSON.parse(Buffer.from(patch, 'base64').toString('utf8')) as fastJsonPatch.Operation[];
  const { newDocument } = fastJsonPatch.applyPatch(structuredClone(question.object), operations, true);
  return { ...answer, object: newDocument };
}

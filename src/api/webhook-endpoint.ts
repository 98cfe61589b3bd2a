import type { FoundSpec, KnownSpecs } from '../json/known-specs.ts';
import type { SpecTexts } from '../json/spec-texts.ts';
import { MANAGED_FIELDS, type UnreadList } from '../json/unread-lists.ts';

/**
 * One path of the webhook port, for any protocol. The server handles limits, deadline, drain and TLS, so an endpoint only
 * implements `handle`.
 */
export interface WebhookEndpoint {
  readonly path: string;
  /**
   * Lists that are cut from a body before it is parsed, since {@link handle} hardly ever reads them; a function where the
   * lists depend on the body. Absent: {@link ALL_READ}.
   */
  readonly unread?: readonly UnreadList[] | ((head: BodyHead) => readonly UnreadList[]) | undefined;
  /** Specs that need not be parsed again, see {@link KnownSpecs.among}. Absent: each body is parsed. */
  readonly specs?: KnownSpecs | undefined;
  /** Parses bodies of which more than managedFields is left out. Absent: `JSON.parse` does. */
  readonly texts?: SpecTexts | undefined;
  /**
   * Answers a request at once, or returns a promise where the answer has to wait.
   * @throws {BadRequest} answered with 400; {TryLater} with 503, which the caller retries by itself; anything else with 500
   */
  handle(request: WebhookRequest): WebhookResponse | Promise<WebhookResponse>;
}

/** A request whose body was parsed. */
export interface WebhookRequest {
  /** The parsed JSON, without the unread lists. */
  readonly body: unknown;
  /** Milliseconds until the deadline. */
  readonly remainingMs: number;
  /** The bytes of the body. */
  readonly bytes?: Buffer | undefined;
  /** A known spec in the bytes; where it fits, {@link body} has it without its large lists. */
  readonly found?: FoundSpec | undefined;
  /** Returns the body with all lists but managedFields. The first call parses it again. */
  entire(): unknown;
}

export interface WebhookResponse {
  /** The response as JSON. */
  readonly body: string;
  /** The operation of the request, for the metrics. */
  readonly operation: string;
  readonly outcome: 'allowed' | 'patched' | 'denied';
  /** Called once the response is sent. `ms`: milliseconds since the headers of the request had arrived. */
  sent(ms: number): void;
}

/**
 * What the first bytes of a body seem to say, before it is parsed. It may be wrong, so only the order and cost of answers
 * may depend on it.
 */
export interface BodyHead {
  readonly namespace: string;
  readonly operation: string;
}

/** Only managedFields are left out. */
export const ALL_READ: readonly UnreadList[] = [MANAGED_FIELDS];

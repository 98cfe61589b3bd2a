import { MANAGED_FIELDS, type UnreadList } from '../json/unread-lists.ts';

/**
 * One path of the webhook port, whatever protocol is spoken there. Limits, deadline, drain and TLS are the server's; an
 * endpoint has a single method to implement.
 */
export interface WebhookEndpoint {
  readonly path: string;
  /**
   * Lists that are cut from a body before it is parsed, since {@link handle} hardly ever reads them; a function where that
   * depends on the body. Absent: {@link ALL_READ}.
   */
  readonly unread?: readonly UnreadList[] | ((head: BodyHead) => readonly UnreadList[]) | undefined;
  /**
   * Answers a request at once, or with a promise where it has to wait.
   * @throws {BadRequest} 400; {TryLater} 503, which the caller retries by itself; anything else is answered with 500
   */
  handle(request: WebhookRequest): WebhookResponse | Promise<WebhookResponse>;
}

/** A request whose body was parsed. */
export interface WebhookRequest {
  /** Parsed JSON, without the unread lists. */
  readonly body: unknown;
  /** Milliseconds until the deadline. */
  readonly remainingMs: number;
  /** The body without managedFields only. It is parsed once more at the first call. */
  entire(): unknown;
}

export interface WebhookResponse {
  /** JSON. */
  readonly body: string;
  /** What was asked for, for the metrics. */
  readonly operation: string;
  readonly outcome: 'allowed' | 'patched' | 'denied';
  /** Called once the response is sent, `ms` after the headers of the request had arrived. */
  sent(ms: number): void;
}

/** The first bytes of a body, guessed at before it is parsed: only the order and the cost of answers may follow from them. */
export interface BodyHead {
  readonly namespace: string;
  readonly operation: string;
}

/** Nothing is unread but managedFields. */
export const ALL_READ: readonly UnreadList[] = [MANAGED_FIELDS];

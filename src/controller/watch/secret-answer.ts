import { ApiError } from '../../kube/client/errors.ts';

/** A reason is one word; what is none was not written by an API server. */
const REASON = /^[A-Za-z]{1,40}$/;

/**
 * The API server's no to a Secret, without its words. Whoever stands on the way, a proxy or a webhook, may repeat in them
 * what was sent, and they would reach the log, an Event and `muster status`.
 */
export function secretAnswer(error: unknown, name: string): unknown {
  if (!(error instanceof ApiError)) return error;
  const { status, reason, retryAfter } = error;
  const help = status === 403 ? '; grant this right (manifests/ has the roles that Muster needs)' : '';
  return new ApiError(`keeping Secret ${name}`, {
    status,
    reason: REASON.test(reason) ? reason : '',
    message: `what was answered is not shown, as it may repeat the Secret${help}`,
    retryAfter,
  });
}

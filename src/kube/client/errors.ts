import { MusterError, messageOf } from '../../errors.ts';
import { own, ownObject, ownString } from '../../json/json.ts';
import { printable } from '../../text/printable.ts';

/** The API server answered with an error. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status, or `Status.code` of an ERROR event in a watch. */
  readonly status: number;
  /** Machine-readable, e.g. `Conflict`, `Expired`; empty when the answer was no `Status`. */
  readonly reason: string;
  /** Seconds after which to retry, when the server sent them. */
  readonly retryAfter: number | undefined;

  constructor(
    what: string,
    answer: { status: number; reason?: string; message: string; retryAfter?: number | undefined },
  ) {
    super(`${what}: ${answer.status}${answer.reason ? ` ${answer.reason}` : ''}: ${answer.message}`);
    this.status = answer.status;
    this.reason = answer.reason ?? '';
    this.retryAfter = answer.retryAfter;
  }
}

const hasStatus = (error: unknown, ...statuses: readonly number[]): boolean =>
  error instanceof ApiError && statuses.includes(error.status);

export const isNotFound = (error: unknown): boolean => hasStatus(error, 404);
export const isForbidden = (error: unknown): boolean => hasStatus(error, 401, 403);
/** The object was changed since it was read, or an object of that name exists already. */
export const isConflict = (error: unknown): boolean => hasStatus(error, 409);
export const isAlreadyExists = (error: unknown): boolean =>
  isConflict(error) && (error as ApiError).reason === 'AlreadyExists';
/** The object or patch is invalid: retrying does not help. A failed `test` of a JSON patch is one of these. */
export const isInvalid = (error: unknown): boolean => hasStatus(error, 400, 422);
/** The resourceVersion or continue token is too old: list again. */
export const isGone = (error: unknown): boolean =>
  hasStatus(error, 410) || (error instanceof ApiError && error.reason === 'Expired');
/** The API server has failed at what it was asked, and may do so with another request for the same. */
export const isServerFailure = (error: unknown): boolean => error instanceof ApiError && error.status >= 500;
/** There was no answer: whether a write happened is unknown. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof MusterError && error.code === 'CLUSTER_UNREACHABLE';

/** Reasons of a 403 that come from admission and that no right would change. */
const OF_ADMISSION: readonly string[] = ['QuotaExceeded'];

/** Converts an answer of 400 and above; `text` is a `Status`, or any text of a proxy in between. */
export function errorFromAnswer(
  what: string,
  status: number,
  text: string,
  retryAfter: string | undefined,
): ApiError {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  const seconds = Number(retryAfter ?? own(ownObject(body, 'details'), 'retryAfterSeconds') ?? NaN);
  const message = ownString(body, 'message') ?? printable(text.trim() || 'no explanation', 512);
  const reason = ownString(body, 'reason') ?? '';
  const help =
    status === 401
      ? ' (the credentials are not accepted: are they of this cluster, and not expired?)'
      : status === 403 && !OF_ADMISSION.includes(reason)
        ? ' (grant this right: manifests/ has the roles that Muster needs)'
        : '';
  return new ApiError(what, {
    status,
    reason,
    message: `${message}${help}`,
    retryAfter: Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined,
  });
}

/** Converts the `Status` of an ERROR event in a watch. */
export function errorFromStatus(what: string, status: unknown): ApiError {
  const code = own(status, 'code');
  return errorFromAnswer(
    what,
    typeof code === 'number' ? code : 500,
    JSON.stringify(status ?? null),
    undefined,
  );
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|TLS|SSL/;

/** The error for a call without an answer: refused, reset, timed out, or with an untrusted certificate. */
export function unreachable(what: string, server: string, cause: unknown): MusterError {
  const code = (cause as { code?: unknown } | undefined)?.code;
  const detail = describe(cause);
  const fix =
    typeof code === 'string' && CERTIFICATE.test(code) && !code.startsWith('UND_')
      ? 'Check certificate-authority-data of the kubeconfig, or ca.crt of the service account: it must be of the CA that signed the API server’s certificate.'
      : 'Check that the API server runs and that its address can be reached from here (kubectl cluster-info).';
  return new MusterError('CLUSTER_UNREACHABLE', `${what}: no answer from ${server}: ${detail}`, fix, {
    cause,
  });
}

/** Connecting to several addresses fails with an empty message and a list of causes. */
function describe(cause: unknown): string {
  const causes = (cause as { errors?: unknown } | undefined)?.errors;
  if (Array.isArray(causes) && causes.length > 0) return messageOf(causes[0]);
  return messageOf(cause) || 'connection failed';
}

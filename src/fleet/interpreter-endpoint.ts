import { PATH_INTERPRET } from '../api/names.ts';
import {
  ALL_READ,
  type WebhookEndpoint,
  type WebhookRequest,
  type WebhookResponse,
} from '../api/webhook-endpoint.ts';
import { quoted } from '../text/printable.ts';
import { KnownSpecs, type KnownSpec } from '../json/known-specs.ts';
import { ENVIRONMENT_AND_VOLUMES, leavesOut, MANAGED_FIELDS } from '../json/unread-lists.ts';
import { MusterError } from '../errors.ts';
import type { WorkloadKind } from '../workloads/workload-kind.ts';
import {
  isPatched,
  parseContext,
  renderAnswer,
  renderRefusal,
  type InterpreterRequest,
} from './interpreter-context.ts';
import { COUNTING, operate, operations } from './operations.ts';

/** Called with each answered request. Must not throw. @param refusal the error message of a failed answer */
export type InterpreterObserver = (
  request: InterpreterRequest,
  refusal: string | undefined,
  ms: number,
) => void;

/** Fields that operations in {@link COUNTING} do not parse. */
const CUT = [MANAGED_FIELDS, ENVIRONMENT_AND_VOLUMES];

/**
 * Karmada's resource interpreter for the workloads of `kinds`. Errors about an object are returned inside of the answer with
 * its uid, since Karmada shows no other message.
 */
export const interpreterEndpoint = (
  kinds: readonly WorkloadKind[],
  observer: InterpreterObserver,
): WebhookEndpoint => {
  const isCut = !kinds.some(keepsTemplatesInUnread);
  const specs = isCut ? new KnownSpecs(CUT) : undefined;
  return {
    path: PATH_INTERPRET,
    specs,
    unread: isCut ? ({ operation }) => (COUNTING.has(operation) ? CUT : ALL_READ) : ALL_READ,
    handle: (asked) => {
      const read = parseContext(asked.body);
      const isCounting = COUNTING.has(read.operation);
      const whole = !isCut || isCounting ? asked.body : asked.entire();
      const request = whole === asked.body ? read : parseContext(whole);
      const { uid } = request;
      const operation = operations.get(request.operation);
      const refused = (code: number, message: string): WebhookResponse => ({
        body: renderRefusal(uid, code, message),
        operation: operation === undefined ? 'unknown' : request.operation,
        outcome: 'denied',
        sent: (ms) => observer(request, message, ms),
      });
      if (operation === undefined) {
        const known = [...operations.keys()].join(', ');
        return refused(400, `request.operation: ${quoted(request.operation)} is none of ${known}`);
      }
      if (request.object === undefined) return refused(400, 'request.object: an object is needed');
      try {
        const spec = specs && isCounting ? knownOf(asked, specs) : undefined;
        const answered = operate(operation, request.object, request, kinds, spec);
        return {
          body: renderAnswer(uid, answered),
          operation: request.operation,
          outcome: isPatched(answered) ? 'patched' : 'allowed',
          sent: (ms) => observer(request, undefined, ms),
        };
      } catch (thrown) {
        if (!(thrown instanceof MusterError)) throw thrown;
        return refused(422, `${thrown.message}; ${thrown.fix} [${thrown.code}]`);
      }
    },
  };
};

/** The known spec of a request; an unknown one is learnt for the next. */
function knownOf({ bytes, found }: WebhookRequest, specs: KnownSpecs): KnownSpec | undefined {
  if (found !== undefined) specs.used(found.known, found.fits);
  if (found?.fits === true) return found.known;
  if (bytes !== undefined) specs.learn(bytes);
  return undefined;
}

/** Whether the kind's list of templates is inside of an unparsed field: it may be called `env` or `volumes`. */
const keepsTemplatesInUnread = ({ shapes = [] }: WorkloadKind): boolean =>
  shapes.some((shape) => shape.as === 'list' && leavesOut(ENVIRONMENT_AND_VOLUMES, shape.items));

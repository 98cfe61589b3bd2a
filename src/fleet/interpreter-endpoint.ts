import { PATH_INTERPRET } from '../api/names.ts';
import { quoted } from '../text/printable.ts';
import { ENVIRONMENT_AND_VOLUMES, leavesOut, MANAGED_FIELDS, type UnreadList } from '../json/unread-lists.ts';
import { MusterError } from '../errors.ts';
import type { WorkloadKind } from '../workloads/workload-kind.ts';
import {
  isPatched,
  parseContext,
  renderAnswer,
  renderRefusal,
  uidOf,
  type InterpreterRequest,
} from './interpreter-context.ts';
import { COUNTING, operate, operations } from './operations.ts';

/** Who hears of what was answered. Must not throw. @param refusal why nothing could be said, where nothing could */
export type InterpreterObserver = (
  request: InterpreterRequest,
  refusal: string | undefined,
  ms: number,
) => void;

interface InterpreterAnswer {
  readonly body: string;
  readonly operation: string;
  readonly outcome: 'allowed' | 'patched' | 'denied';
  sent(ms: number): void;
}

/** What the server mounts: one path, which takes and gives ResourceInterpreterContexts. */
export interface InterpreterEndpoint {
  readonly path: string;
  readonly unread: readonly UnreadList[];
  readonly readsAll: (head: { readonly operation: string }) => boolean;
  answer(body: unknown, asked: { entire(): unknown }): InterpreterAnswer;
  idOf(body: unknown): string | undefined;
}

/**
 * Karmada's resource interpreter for the workloads of `kinds`. What cannot be said of an object is said inside of the
 * answer, with its uid: Karmada shows no other message.
 */
export const interpreterEndpoint = (
  kinds: readonly WorkloadKind[],
  observer: InterpreterObserver,
): InterpreterEndpoint => {
  const isCut = !kinds.some(keepsTemplatesInUnread);
  return {
    path: PATH_INTERPRET,
    unread: isCut ? [MANAGED_FIELDS, ENVIRONMENT_AND_VOLUMES] : [MANAGED_FIELDS],
    readsAll: ({ operation }) => isCut && !COUNTING.has(operation),
    idOf: uidOf,
    answer: (body, asked) => {
      const read = parseContext(body);
      const whole = !isCut || COUNTING.has(read.operation) ? body : asked.entire();
      const request = whole === body ? read : parseContext(whole);
      const { uid } = request;
      const operation = operations.get(request.operation);
      const refused = (code: number, message: string): InterpreterAnswer => ({
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
        const answered = operate(operation, request.object, request, kinds);
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

/** Somebody may call the list of his templates as containers call theirs. */
const keepsTemplatesInUnread = ({ shapes = [] }: WorkloadKind): boolean =>
  shapes.some((shape) => shape.as === 'list' && leavesOut(ENVIRONMENT_AND_VOLUMES, shape.items));

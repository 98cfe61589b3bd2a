import { stdSerializers, type LoggerOptions } from 'pino';
import { own, ownString, type JsonObject } from '../json/json.ts';
import { messageOf, MusterError } from '../errors.ts';

/** Interval (ms) between log lines of the same failure; lines omitted in between are counted in the next. */
const EVERY_MS = 60_000;
/** Number of different failures that are remembered. */
const MOST = 512;
/** Number of nested causes that are examined. */
const DEEPEST = 8;

/** Counts of log lines, counted up by whoever writes: a decision is logged for every review. */
export class LogCounts {
  /** By level. */
  readonly lines: Record<string, number> = { debug: 0, info: 0, warn: 0, error: 0 };
  /**
   * Lines left out: decisions above the most that are logged in a second, and failures that were logged within the last
   * minute.
   */
  readonly omitted = { decisions: 0, repeated: 0 };
  /** Bytes that nobody read in time. */
  droppedBytes = 0;
}

/** An error answer of the API server, or a missing answer. */
interface Refusal {
  readonly type: string;
  /** HTTP status; absent when there was no answer. */
  readonly status?: number;
  readonly code?: string;
}

/**
 * Finds the API server's error in an error and its causes; undefined for a defect of Muster's own, which keeps its
 * stack.
 */
function refusalIn(error: unknown): Refusal | undefined {
  let at = error;
  for (let depth = 0; depth < DEEPEST && typeof at === 'object' && at !== null; depth += 1) {
    const { name, status, cause } = at as { name?: unknown; status?: unknown; cause?: unknown };
    if (name === 'ApiError' && typeof status === 'number') return { type: 'ApiError', status };
    if (at instanceof MusterError) return { type: 'MusterError', code: at.code };
    at = cause;
  }
  return undefined;
}

/** The error's message, and those messages of its causes that it does not contain. */
function messagesOf(error: unknown): string {
  let text = messageOf(error);
  let at = (error as { cause?: unknown }).cause;
  for (let depth = 0; depth < DEEPEST && at !== undefined && at !== null; depth += 1) {
    const more = messageOf(at);
    if (more !== '' && !text.includes(more)) text += `: ${more}`;
    at = (at as { cause?: unknown }).cause;
  }
  return text;
}

/** Formats an error for a log line: a stack locates a defect, but says nothing about an error of the API server. */
function errorLine(error: unknown): unknown {
  const refusal = refusalIn(error);
  if (refusal !== undefined) return { ...refusal, message: messagesOf(error) };
  return error instanceof Error ? stdSerializers.err(error) : error;
}

/** Whether the failure lasts: missing rights, credentials, or the API server itself. Other failures are always logged. */
const lasts = ({ status, code }: Refusal): boolean =>
  status === undefined ? code === 'CLUSTER_UNREACHABLE' : status === 401 || status === 403 || status >= 500;

interface Told {
  readonly at: number;
  omitted: number;
}

/** Logs each lasting failure once a minute: thousands of gangs may have the same one. */
class FailureLines {
  readonly #told = new Map<string, Told>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Returns the additional fields of a line; undefined when the line is omitted.
   * @param fields the line's fields, with its error under `err`
   */
  fieldsFor(fields: unknown, message: unknown): JsonObject | undefined {
    const refusal = refusalIn(own(fields, 'err'));
    if (refusal === undefined || !lasts(refusal)) return {};
    // A 403 may concern one namespace alone, because of its quota or policies.
    const where = refusal.status === 403 ? namespaceOf(fields) : '';
    const key = JSON.stringify([
      message,
      ownString(fields, 'what'),
      ownString(fields, 'backend'),
      refusal,
      where,
    ]);
    const known = this.#told.get(key);
    const now = this.#now();
    if (known !== undefined && now - known.at < EVERY_MS) {
      known.omitted += 1;
      return undefined;
    }
    this.#told.delete(key);
    const [oldest] = this.#told.keys();
    if (this.#told.size >= MOST && oldest !== undefined) this.#told.delete(oldest);
    this.#told.set(key, { at: now, omitted: 0 });
    return known === undefined || known.omitted === 0 ? {} : { omitted: known.omitted };
  }
}

const namespaceOf = (fields: unknown): string =>
  ['gang', 'podgang', 'binding'].map((key) => ownString(fields, key)?.split('/')[0] ?? '').join('');

/** Pino's options that format errors, omit repeated failures, and count lines. */
export function failureLines(
  counts: LogCounts,
  now?: () => number,
): Pick<LoggerOptions, 'serializers' | 'hooks'> {
  const lines = new FailureLines(now);
  return {
    serializers: { err: errorLine },
    hooks: {
      logMethod(given, method, level) {
        const [fields, message, ...rest] = given as unknown as [object, string | undefined, ...unknown[]];
        const more = lines.fieldsFor(fields, message);
        if (more === undefined) {
          counts.omitted.repeated += 1;
          return;
        }
        const { [level]: label = '' } = this.levels.labels;
        counts.lines[label] = (counts.lines[label] ?? 0) + 1;
        if (Object.keys(more).length === 0) method.apply(this, given);
        else method.apply(this, [{ ...fields, ...more }, message, ...rest] as unknown as typeof given);
      },
    },
  };
}

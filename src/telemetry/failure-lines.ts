import { stdSerializers, type LoggerOptions } from 'pino';
import { own, ownString, type JsonObject } from '../json/json.ts';
import { messageOf, MusterError } from '../errors.ts';

/** Of one failure a line is written so often; what is left out between is counted in the next. */
const EVERY_MS = 60_000;
/** So many failures are told apart. */
const MOST = 512;
/** Causes that are looked through. */
const DEEPEST = 8;

/** What the API server answered, or that it did not. */
interface Refusal {
  readonly type: string;
  /** HTTP status; absent where there was no answer. */
  readonly status?: number;
  readonly code?: string;
}

/** The API server's no within an error and its causes. A defect of Muster's own is none, and keeps its stack. */
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

/** Its own message, and those of its causes that this one does not repeat. */
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

/** An error in a line: a stack tells where a defect is, and nothing of what the API server refused. */
function errorLine(error: unknown): unknown {
  const refusal = refusalIn(error);
  if (refusal !== undefined) return { ...refusal, message: messagesOf(error) };
  return error instanceof Error ? stdSerializers.err(error) : error;
}

/** Whether it lasts: the rights, the login or the API server itself. Conflicts and the like are told each. */
const lasts = ({ status, code }: Refusal): boolean =>
  status === undefined ? code === 'CLUSTER_UNREACHABLE' : status === 401 || status === 403 || status >= 500;

interface Told {
  readonly at: number;
  omitted: number;
}

/** Says each lasting failure once a minute: thousands of gangs come to the same one. */
class FailureLines {
  readonly #told = new Map<string, Told>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * What a line is to have besides; undefined: it is not written.
   * @param fields of the line, with its error under `err`
   */
  fieldsFor(fields: unknown, message: unknown): JsonObject | undefined {
    const refusal = refusalIn(own(fields, 'err'));
    if (refusal === undefined || !lasts(refusal)) return {};
    // A 403 may be that of one namespace alone: its quota, its policies.
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

/** How a logger writes errors. */
export function failureLines(now?: () => number): Pick<LoggerOptions, 'serializers' | 'hooks'> {
  const lines = new FailureLines(now);
  return {
    serializers: { err: errorLine },
    hooks: {
      logMethod(given, method) {
        const [fields, message, ...rest] = given as unknown as [object, string | undefined, ...unknown[]];
        const more = lines.fieldsFor(fields, message);
        if (more === undefined) return;
        if (Object.keys(more).length === 0) method.apply(this, given);
        else method.apply(this, [{ ...fields, ...more }, message, ...rest] as unknown as typeof given);
      },
    },
  };
}

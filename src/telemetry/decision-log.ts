import { pino } from 'pino';
import { printableJson } from '../json/json.ts';
import { isoTime, type Logger } from './log.ts';

/** What is logged of a decision: names and numbers, never the object. Undefined fields are left out. */
export interface DecisionLine {
  readonly uid: string;
  readonly operation: string;
  readonly kind: string;
  readonly subResource: string | undefined;
  readonly namespace: string;
  readonly name: string;
  readonly user: string;
  readonly backend: string | undefined;
  /** `namespace/name` */
  readonly gang: string | undefined;
  readonly allowed: boolean;
  /** Names of the rules that it breaks. */
  readonly rules: readonly string[];
  /** Number of operations in the patch. */
  readonly operations: number;
  readonly dryRun: boolean;
  /** Milliseconds from its headers to its answer. */
  readonly ms: number;
}

/** Lets so many lines through within each second, and counts the others. */
class LinesPerSecond {
  readonly #most: number;
  readonly #now: () => number;
  #second = -Infinity;
  #told = 0;
  #omitted = 0;

  constructor(most: number, now: () => number) {
    this.#most = most;
    this.#now = now;
  }

  /** How many were left out since the last one; undefined: this one is left out, too. */
  take(): number | undefined {
    const second = Math.floor(this.#now() / 1000);
    if (second !== this.#second) [this.#second, this.#told] = [second, 0];
    if (this.#told >= this.#most) {
      this.#omitted += 1;
      return undefined;
    }
    this.#told += 1;
    const omitted = this.#omitted;
    this.#omitted = 0;
    return omitted;
  }
}

/**
 * Writes the one line of a decision past pino's general serialiser, into the same stream and in the same form: the
 * fields are known, and this line is written as often as a review is answered, where the general way costs a tenth of
 * the review.
 * @param perSecond lines within a second of what is let in; what is refused is always told
 */
export function decisionLog(
  logger: Logger,
  perSecond: number,
  now: () => number = Date.now,
): (line: DecisionLine) => void {
  if (!logger.isLevelEnabled('info')) return () => undefined;
  const stream = (logger as unknown as Record<symbol, { write(line: string): void }>)[pino.symbols.streamSym];
  const allowed = new LinesPerSecond(perSecond, now);
  return (line) => {
    const omitted = line.allowed ? allowed.take() : 0;
    if (omitted !== undefined) stream?.write(render(line, omitted));
  };
}

function render(line: DecisionLine, omitted: number): string {
  return (
    `{"level":"info"${isoTime()},"uid":${printableJson(line.uid)},"operation":"${line.operation}"` +
    `,"kind":${printableJson(line.kind)}` +
    (line.subResource === undefined ? '' : `,"subResource":${printableJson(line.subResource)}`) +
    `,"namespace":${printableJson(line.namespace)},"name":${printableJson(line.name)},"user":${printableJson(line.user)}` +
    (line.backend === undefined ? '' : `,"backend":${printableJson(line.backend)}`) +
    (line.gang === undefined ? '' : `,"gang":${printableJson(line.gang, 320)}`) +
    `,"allowed":${line.allowed}` +
    (line.rules.length === 0 ? '' : `,"rules":${JSON.stringify(line.rules)}`) +
    `,"operations":${line.operations}${line.dryRun ? ',"dryRun":true' : ''}` +
    (omitted === 0 ? '' : `,"omitted":${omitted}`) +
    `,"ms":${Math.round(line.ms * 1000) / 1000},"msg":"decided"}\n`
  );
}

import { pino } from 'pino';
import { printable } from '../api/printable.ts';
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

/**
 * Writes the one line of every decision past pino's general serialiser, into the same stream and in the same form: the
 * fields are known, and this line is written as often as a review is answered, where the general way costs a tenth of
 * the review.
 */
export function decisionLog(logger: Logger): (line: DecisionLine) => void {
  if (!logger.isLevelEnabled('info')) return () => undefined;
  const stream = (logger as unknown as Record<symbol, { write(line: string): void }>)[pino.symbols.streamSym];
  return (line) => stream?.write(render(line));
}

function render(line: DecisionLine): string {
  return (
    `{"level":"info"${isoTime()},"uid":${quote(line.uid)},"operation":"${line.operation}"` +
    `,"kind":${quote(line.kind)}` +
    (line.subResource === undefined ? '' : `,"subResource":${quote(line.subResource)}`) +
    `,"namespace":${quote(line.namespace)},"name":${quote(line.name)},"user":${quote(line.user)}` +
    (line.backend === undefined ? '' : `,"backend":${quote(line.backend)}`) +
    (line.gang === undefined ? '' : `,"gang":${quote(line.gang, 320)}`) +
    `,"allowed":${line.allowed}` +
    (line.rules.length === 0 ? '' : `,"rules":${JSON.stringify(line.rules)}`) +
    `,"operations":${line.operations}${line.dryRun ? ',"dryRun":true' : ''}` +
    `,"ms":${Math.round(line.ms * 1000) / 1000},"msg":"decided"}\n`
  );
}

/** Letters, digits and signs that mean the same in JSON and on a terminal: all that a proper name is made of. */
const PLAIN = /^[ !#-[\]-~]{0,256}$/;

const quote = (text: string, maxRunes?: number): string =>
  PLAIN.test(text) ? `"${text}"` : JSON.stringify(printable(text, maxRunes));

import { pino } from 'pino';
import { printableJson } from '../api/json-text.ts';
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
    `{"level":"info"${isoTime()},"uid":${printableJson(line.uid)},"operation":"${line.operation}"` +
    `,"kind":${printableJson(line.kind)}` +
    (line.subResource === undefined ? '' : `,"subResource":${printableJson(line.subResource)}`) +
    `,"namespace":${printableJson(line.namespace)},"name":${printableJson(line.name)},"user":${printableJson(line.user)}` +
    (line.backend === undefined ? '' : `,"backend":${printableJson(line.backend)}`) +
    (line.gang === undefined ? '' : `,"gang":${printableJson(line.gang, 320)}`) +
    `,"allowed":${line.allowed}` +
    (line.rules.length === 0 ? '' : `,"rules":${JSON.stringify(line.rules)}`) +
    `,"operations":${line.operations}${line.dryRun ? ',"dryRun":true' : ''}` +
    `,"ms":${Math.round(line.ms * 1000) / 1000},"msg":"decided"}\n`
  );
}

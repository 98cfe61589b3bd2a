import { styleText } from 'node:util';
import type { DestinationStream } from 'pino';
import { isObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import { printable } from '../text/printable.ts';

/** The destination of log lines: standard output, or a test's own. */
export interface LogSink {
  write(line: string): void;
}

const COLOURS = { error: 'red', warn: 'yellow', info: 'green', debug: 'blue' } as const;
/** Longer than any message of Muster's. */
const MAX_RUNES = 4096;

/**
 * Converts JSON log lines into lines for people: time, level, message, and the fields on one line under their JSON
 * names. An error's stack follows on the next lines.
 */
export function textLines(sink: LogSink | undefined): DestinationStream {
  const { stdout } = process;
  const coloured = sink === undefined && stdout.isTTY;
  return {
    write: (line) => {
      const text = render(JSON.parse(line) as JsonObject, coloured);
      if (sink === undefined) stdout.write(text);
      else sink.write(text);
    },
  };
}

function render({ level, time, msg, err, ...fields }: JsonObject, coloured: boolean): string {
  const name = wordsOf(level);
  const word = name.toUpperCase();
  const colour = Object.hasOwn(COLOURS, name) ? COLOURS[name as keyof typeof COLOURS] : 'red';
  const shown = coloured ? styleText(colour, word, { validateStream: false }) : word;
  const rest = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
  return `[${wordsOf(time)}] ${shown}: ${printable(wordsOf(msg), MAX_RUNES)}${rest}\n${stackOf(err)}`;
}

const wordsOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** The stack as pino writes it, with the error's type and message. A thrown value that is no error is written unchanged. */
function stackOf(err: Json | undefined): string {
  if (err === undefined) return '';
  const text =
    (isObject(err) ? (ownString(err, 'stack') ?? ownString(err, 'message')) : undefined) ??
    JSON.stringify(err);
  return text
    .split('\n')
    .map((line) => `    ${printable(line.trim(), MAX_RUNES)}\n`)
    .join('');
}

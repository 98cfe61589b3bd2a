import { isAscii, isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Slot } from './load-limits.ts';
import { MANAGED_FIELDS, withoutLists, type UnreadList } from '../json/unread-lists.ts';
import { HttpFailure } from './failure.ts';
import { giveBack } from './give-back.ts';
import { SAMPLED_BYTES, tooMuchJson } from '../json/bounds.ts';
import { LargeBody, refuse } from './large-body.ts';

/**
 * Collects a request body within its slot.
 * @param announced its length, 0 where that is not known
 * @param done called once, with the whole body
 * @param failed called instead, with why there is none (400, 413, 503)
 */
export function readBody(
  request: IncomingMessage,
  announced: number,
  slot: Slot,
  done: (body: Buffer) => void,
  failed: (failure: HttpFailure) => void,
): void {
  let chunks: Buffer[] = [];
  let large: LargeBody | undefined;
  // Instead of taking the listeners off, which costs more than the rest of this function.
  let finished = false;
  const fail = (failure: HttpFailure): void => {
    finished = true;
    chunks = [];
    large = undefined;
    failed(failure);
  };
  request.on('data', (chunk: Buffer) => {
    if (finished) return;
    try {
      const received = slot.grow(chunk.length);
      if (large === undefined && (announced > SAMPLED_BYTES || received > SAMPLED_BYTES)) {
        large = new LargeBody();
        for (const earlier of chunks.splice(0)) large.push(earlier);
      }
      if (large === undefined) chunks.push(chunk);
      else {
        large.push(chunk);
        giveBack(chunk);
      }
    } catch (failure) {
      fail(failure as HttpFailure);
    }
  });
  request.on('end', () => {
    if (finished) return;
    slot.received();
    let body: Buffer;
    try {
      body = large?.whole() ?? (chunks.length === 1 ? chunks[0] : undefined) ?? joined(chunks);
    } catch (failure) {
      fail(failure as HttpFailure);
      return;
    }
    finished = true;
    done(body);
  });
  request.on('error', () => {
    if (!finished) fail(new HttpFailure(400, 'the request ended before its body did'));
  });
}

function joined(chunks: readonly Buffer[]): Buffer {
  const whole = Buffer.concat(chunks);
  for (const chunk of chunks) giveBack(chunk);
  return whole;
}

/**
 * @param unread what is left out
 * @throws {HttpFailure} 400, or 413 where parsing it would cost too much
 */
export function parseJson(bytes: Buffer, unread: readonly UnreadList[] = [MANAGED_FIELDS]): unknown {
  const encoding = encodingOf(bytes);
  // A larger one was judged while it came.
  if (bytes.length <= SAMPLED_BYTES) refuse(tooMuchJson(bytes));
  return parsed(withoutLists(bytes, unread, encoding));
}

/** @throws {HttpFailure} 400 where it is no text */
export function encodingOf(bytes: Buffer): 'latin1' | 'utf8' {
  if (bytes.length === 0) throw new HttpFailure(400, 'the body is empty, JSON is needed');
  if (isAscii(bytes)) return 'latin1';
  // JavaScript would read broken UTF-8 as U+FFFD, so the object that is decided on would not be the one stored.
  if (!isUtf8(bytes)) throw new HttpFailure(400, 'the body is not valid UTF-8');
  return 'utf8';
}

/** @throws {HttpFailure} 400 */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (thrown) {
    throw notJson(thrown);
  }
}

export const notJson = (thrown: unknown): HttpFailure =>
  new HttpFailure(400, `the body is not JSON: ${withoutQuotation((thrown as Error).message)}`);

/** V8 quotes the text around the fault. This goes into the log, where nothing of an object may stand. */
const withoutQuotation = (message: string): string =>
  message.replace(/, (?:\.\.\.)?".*is not valid JSON$/s, '');

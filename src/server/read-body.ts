import { isAscii, isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Slot } from './load-limits.ts';
import { MANAGED_FIELDS, withoutLists, type UnreadList } from '../api/unread-lists.ts';
import { HttpFailure } from './failure.ts';
import { tooMuchJson } from './json-bounds.ts';

/**
 * Collects a request body within its slot.
 * @param done called once, with the whole body
 * @param failed called instead, with why there is none (400, 413, 503)
 */
export function readBody(
  request: IncomingMessage,
  slot: Slot,
  done: (body: Buffer) => void,
  failed: (failure: HttpFailure) => void,
): void {
  const chunks: Buffer[] = [];
  // Instead of taking the listeners off, which costs more than the rest of this function.
  let finished = false;
  request.on('data', (chunk: Buffer) => {
    if (finished) return;
    try {
      slot.grow(chunk.length);
      chunks.push(chunk);
    } catch (failure) {
      finished = true;
      chunks.length = 0;
      failed(failure as HttpFailure);
    }
  });
  request.on('end', () => {
    if (finished) return;
    finished = true;
    slot.received();
    done(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
  });
  request.on('error', () => {
    if (finished) return;
    finished = true;
    failed(new HttpFailure(400, 'the request ended before its body did'));
  });
}

/**
 * @param unread what is left out
 * @throws {HttpFailure} 400, or 413 where parsing it would cost too much
 */
export function parseJson(bytes: Buffer, unread: readonly UnreadList[] = [MANAGED_FIELDS]): unknown {
  if (bytes.length === 0) throw new HttpFailure(400, 'an AdmissionReview is needed, the body is empty');
  // JavaScript would read broken UTF-8 as U+FFFD, so the object that is decided on would not be the one stored.
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) throw new HttpFailure(400, 'the body is not valid UTF-8');
  const tooMuch = tooMuchJson(bytes);
  if (tooMuch !== undefined) throw new HttpFailure(413, `the review is too costly to parse: ${tooMuch}`);
  const text = withoutLists(bytes, unread, ascii ? 'latin1' : 'utf8');
  try {
    return JSON.parse(text) as unknown;
  } catch (thrown) {
    throw new HttpFailure(400, `the body is not JSON: ${withoutQuotation((thrown as Error).message)}`);
  }
}

/** V8 quotes the text around the fault. This goes into the log, where nothing of an object may stand. */
const withoutQuotation = (message: string): string =>
  message.replace(/, (?:\.\.\.)?".*is not valid JSON$/s, '');

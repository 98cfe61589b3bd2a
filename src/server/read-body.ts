import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Slot } from './load-limits.ts';
import { HttpFailure } from './status.ts';

/**
 * Collects a request body within its slot and parses it.
 * @param done called once: with an HttpFailure (400, 413, 503), or with the parsed JSON
 */
export function readJson(
  request: IncomingMessage,
  slot: Slot,
  done: (failure: Error | null, body?: unknown) => void,
): void {
  const chunks: Buffer[] = [];
  const finish = (failure: Error | null, body?: unknown): void => {
    request.off('data', onData).off('end', onEnd).off('error', onError);
    done(failure, body);
  };
  const onData = (chunk: Buffer): void => {
    try {
      slot.grow(chunk.length);
    } catch (failure) {
      chunks.length = 0;
      finish(failure as Error);
      return;
    }
    chunks.push(chunk);
  };
  const onEnd = (): void => {
    const bytes = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    try {
      finish(null, parseJson(bytes ?? Buffer.alloc(0)));
    } catch (failure) {
      finish(failure as Error);
    }
  };
  const onError = (): void => finish(new HttpFailure(400, 'the request ended before its body did'));
  request.on('data', onData).on('end', onEnd).on('error', onError);
}

function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new HttpFailure(400, 'an AdmissionReview is needed, the body is empty');
  // JavaScript would read broken UTF-8 as U+FFFD, so the object that is decided on would not be the one stored.
  if (!isUtf8(bytes)) throw new HttpFailure(400, 'the body is not valid UTF-8');
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch (thrown) {
    throw new HttpFailure(400, `the body is not JSON: ${withoutQuotation((thrown as Error).message)}`);
  }
}

/** V8 quotes the text around the fault. This goes into the log, where nothing of an object may stand. */
const withoutQuotation = (message: string): string =>
  message.replace(/, (?:\.\.\.)?".*is not valid JSON$/s, '');

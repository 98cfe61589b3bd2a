import { partsWithoutLists, textOf, type UnreadList } from '../json/unread-lists.ts';
import { MAX_DEPTH, sampledDensity, SAMPLED_BYTES, TOO_DEEP, tooMuchInSteps } from '../json/bounds.ts';
import { parseInPieces, TooDeep } from '../json/pieces.ts';
import { refuse } from './large-body.ts';
import { encodingOf, notJson, parsed } from './read-body.ts';

/** Of what is left of a body to be parsed, so much is parsed at once; and so much where a sample shows little structure. */
const AT_ONCE_BYTES = 48 * 1024;
const SPARSE_BYTES = 256 * 1024;
const SPARSE = 1 / 10;

/**
 * What a large body comes to, in steps of less than a millisecond. See `parseJson`, which does the same for a small one.
 * @param unread what is left out
 * @throws {HttpFailure} 400, or 413 where parsing it would cost too much
 */
export function* parseLarge(bytes: Buffer, unread: readonly UnreadList[]): Generator<void, unknown> {
  const encoding = encodingOf(bytes);
  // A larger one was judged while it came.
  if (bytes.length <= SAMPLED_BYTES) refuse(yield* tooMuchInSteps(bytes));
  const parts = yield* partsWithoutLists(bytes, unread);
  const left = parts.reduce((sum, { start, end }) => sum + end - start, 0);
  const sparse = left <= SPARSE_BYTES && sampledDensity(bytes, parts) <= SPARSE;
  if (sparse || left <= AT_ONCE_BYTES) return parsed(textOf(bytes, parts, encoding));
  try {
    return yield* parseInPieces(bytes, parts, { encoding, maxDepth: MAX_DEPTH });
  } catch (thrown) {
    if (thrown instanceof TooDeep) refuse(TOO_DEEP);
    throw notJson(thrown);
  }
}

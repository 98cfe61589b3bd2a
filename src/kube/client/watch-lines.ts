import { withoutLists, type UnreadList } from '../../json/unread-lists.ts';

/**
 * The longest line of a watch (bytes). etcd takes objects of 1.5 MiB, JSON escapes make at most six bytes of one; what is
 * longer is no watch event, and would only fill our memory.
 */
const MAX_LINE = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Cuts the bytes of a watch into lines, wherever the network cut them: in a line, or in a character. Gives all lines that
 * are complete together, since a busy watch has hundreds.
 * @param stream pieces, as many as there are at a time
 * @param unread lists that are left empty: of a Pod most bytes are in such as nobody who watches goes by
 * @throws where the stream ends inside a line: the event is lost, and whoever reads has to connect again
 */
export async function* linesOf(
  stream: AsyncIterable<readonly Buffer[]>,
  unread: readonly UnreadList[],
): AsyncGenerator<string[], void> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const pieces of stream) {
    const last = pieces.findLastIndex((piece) => piece.includes(NEWLINE));
    const piece = pieces[last];
    if (piece === undefined) {
      pending.push(...pieces);
      pendingBytes += bytesIn(pieces);
      if (pendingBytes > MAX_LINE) throw new Error(`a line of more than ${MAX_LINE} bytes`);
      continue;
    }
    const end = piece.lastIndexOf(NEWLINE);
    const whole = Buffer.concat([...pending, ...pieces.slice(0, last), piece.subarray(0, end)]);
    const rest = Buffer.concat([piece.subarray(end + 1), ...pieces.slice(last + 1)]);
    pending = rest.length === 0 ? [] : [rest];
    pendingBytes = rest.length;
    const lines = withoutLists(whole, unread)
      .split('\n')
      .filter((line) => line.trim() !== '');
    if (lines.length > 0) yield lines;
  }
  if (pendingBytes > 0 && Buffer.concat(pending).toString('utf8').trim() !== '')
    throw new Error('the stream ended inside an event');
}

const bytesIn = (pieces: readonly Buffer[]): number => pieces.reduce((sum, { length }) => sum + length, 0);

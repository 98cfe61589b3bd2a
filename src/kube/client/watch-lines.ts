import { MANAGED_FIELDS, withoutLists } from '../../api/unread-lists.ts';

/**
 * The longest line of a watch (bytes). etcd takes objects of 1.5 MiB, JSON escapes make at most six bytes of one; what is
 * longer is no watch event, and would only fill our memory.
 */
const MAX_LINE = 16 * 1024 * 1024;

/**
 * Cuts the bytes of a watch into lines, wherever the network cut them: in a line, or in a character. Gives the complete
 * lines of each chunk together, since a busy watch has hundreds in one; without their `managedFields`, which are half of a
 * Pod's bytes, more than half of its parsing, and nothing that anybody who watches goes by.
 * @throws where the stream ends inside a line: the event is lost, and whoever reads has to connect again
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string[], void> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(0x0a);
    if (end === -1) {
      pending.push(chunk);
      pendingBytes += chunk.length;
      if (pendingBytes > MAX_LINE) throw new Error(`a line of more than ${MAX_LINE} bytes`);
      continue;
    }
    const complete = withoutLists(Buffer.concat([...pending, chunk.subarray(0, end)]), [MANAGED_FIELDS]);
    pending = end + 1 < chunk.length ? [Buffer.from(chunk.subarray(end + 1))] : [];
    pendingBytes = pending[0]?.length ?? 0;
    const lines = complete.split('\n').filter((line) => line.trim() !== '');
    if (lines.length > 0) yield lines;
  }
  if (pendingBytes > 0 && Buffer.concat(pending).toString('utf8').trim() !== '')
    throw new Error('the stream ended inside an event');
}

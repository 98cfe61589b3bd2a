import { own, ownString, type Json } from '../../json/json.ts';
import { printable } from '../../text/printable.ts';
import type { WatchEvent } from './client.ts';
import { Slices } from './clock.ts';
import { errorFromStatus } from './errors.ts';

/**
 * Parses what a watch was split into. Yields the events of a batch together where that is quick, else in parts.
 * @param what the call, for messages
 * @throws an ERROR event, after the events before it
 */
export async function* eventsIn<T, Piece extends string | Buffer>(
  batches: AsyncIterable<readonly Piece[]>,
  parse: (piece: Piece) => unknown,
  what: string,
): AsyncGenerator<readonly WatchEvent<T>[], void> {
  const slices = new Slices();
  for await (const pieces of batches) {
    let events: WatchEvent<T>[] = [];
    for (const piece of pieces) {
      if (slices.isOver()) {
        yield events;
        events = [];
        await slices.next();
      }
      const event = parse(piece);
      if (ownString(event, 'type') === 'ERROR') {
        if (events.length > 0) yield events;
        throw errorFromStatus(what, own(event, 'object'));
      }
      if (!isWatchEvent(event)) throw new Error(`no event of a watch: ${printable(String(piece), 80)}`);
      events.push(event as WatchEvent<T>);
    }
    yield events;
  }
}

const TYPES = new Set<Json | undefined>(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);

/** Whether a watch event has a known type and names its object. Nothing would remove other data from a cache again. */
export function isWatchEvent(event: unknown): boolean {
  const type = own(event, 'type');
  const metadata = own(own(event, 'object'), 'metadata');
  const version = ownString(metadata, 'resourceVersion');
  return TYPES.has(type) && !!version && (type === 'BOOKMARK' || !!ownString(metadata, 'name'));
}

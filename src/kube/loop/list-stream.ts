import type { Clock } from '../client/clock.ts';
import type { KubeClient, Selection, Unread, WatchEvent } from '../client/client.ts';
import { isInvalid, unreachable } from '../client/errors.ts';
import type { KubeObject, Resource } from '../client/resources.ts';
import { startSilenceAlarm } from './deadline.ts';
import { selectionOf } from './list-pages.ts';

/** The annotation of the bookmark that ends the initial events. */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';
/** The requested duration of the request (s): longer than a list takes, since it is void when the server ends it. */
const LIST_SECONDS = 600;
/** How long (ms) no stream is requested from a server that refused one: it may have been upgraded since. */
const REFUSED_MS = 3_600_000;

/** Until when no stream is requested, by client. */
const refusedUntil = new WeakMap<KubeClient, number>();

export interface ListStreamOptions extends Selection, Unread {
  readonly client: KubeClient;
  readonly resource: Resource;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Milliseconds without an event after which the request has failed. */
  readonly silenceMs: number;
  /** Called when it has failed for that. */
  readonly silent: () => void;
  readonly take: (events: readonly WatchEvent<KubeObject>[]) => void;
  /** Called when the server does not stream lists, which is then remembered. */
  readonly refused: (why: string) => void;
}

/**
 * Lists by one request whose answer is a stream of events (WatchList): no page has to be found again by the API server,
 * which from its watch cache reads all objects that follow, and no more than one object is parsed at once. No
 * resourceVersion is sent, so the list is the newest, as it is with {@link listPages}. Only the bookmark at the end makes
 * it a list: what a request that failed has passed on is void.
 *
 * The caller watches by a request of its own. The watch would also go on in this one, but a watch shows that its
 * connection is alive only by ending when requested, and nobody knows in advance how long a list takes.
 * @param options `take` is called with events as of a watch: changes may follow the objects
 * @returns the resourceVersion that a watch starts from; undefined when the server does not stream lists
 */
export async function listStream(options: ListStreamOptions): Promise<string | undefined> {
  const { client, resource, clock, signal, silenceMs, take, refused } = options;
  if (clock.now() < (refusedUntil.get(client) ?? -Infinity)) return undefined;
  const refuse = (why: string): undefined => {
    // Several kinds are listed at once, and each is refused.
    if (clock.now() >= (refusedUntil.get(client) ?? -Infinity)) refused(why);
    refusedUntil.set(client, clock.now() + REFUSED_MS);
  };
  const what = `list ${resource.plural}`;
  const ended = new AbortController();
  let accepted = false;
  let silent = false;
  const alarm = startSilenceAlarm(clock, silenceMs, () => {
    silent = true;
    options.silent();
    ended.abort(unreachable(what, client.server, new Error(`nothing for ${silenceMs / 1000} s`)));
  });
  try {
    const batches = client.watch(resource, {
      ...selectionOf(options),
      initialEvents: true,
      resourceVersion: '',
      timeoutSeconds: LIST_SECONDS,
      signal: AbortSignal.any([signal, ended.signal]),
      accepted: () => {
        accepted = true;
        alarm.heard();
      },
    });
    for await (const batch of batches) {
      alarm.heard();
      const end = batch.findIndex(({ type }) => type === 'BOOKMARK');
      take(end === -1 ? batch : batch.slice(0, end));
      const bookmark = batch[end]?.object.metadata;
      if (bookmark === undefined) continue;
      if (bookmark.annotations?.[INITIAL_EVENTS_END] === 'true') return bookmark.resourceVersion;
      return refuse('it sends a bookmark that does not end the initial events');
    }
  } catch (error) {
    if (isInvalid(error)) return refuse((error as Error).message);
    // A server that takes the request for a plain watch says nothing more.
    if (silent && accepted) return refuse(`no bookmark within ${silenceMs / 1000} s`);
    throw error;
  } finally {
    alarm.cancel();
  }
  throw unreachable(what, client.server, new Error('the stream ended before the bookmark'));
}

import type { KubeClient, Selection, Unread } from '../client/client.ts';
import { isGone } from '../client/errors.ts';
import { AnswerTooLarge } from '../client/pending-call.ts';
import type { KubeObject, Resource } from '../client/resources.ts';

/** A page of thousands of objects from a busy server takes its time (ms). */
const PAGE_TIMEOUT = 60_000;
/**
 * A page of a hundred Pods has half of it; one of a hundred objects of the largest size there is would have 150 MiB. It is
 * parsed at once, on the thread that answers reviews.
 */
const PAGE_BYTES = 4 * 2 ** 20;
/** Of one object alone: etcd takes 1.5 MiB, of which JSON escapes may make six times as many. */
const OBJECT_BYTES = 16 * 2 ** 20;
/** A page that was too large is asked for again with so many times fewer objects. */
const SMALLER = 4;

/**
 * Lists page by page, so that only one page of full objects is in memory. The list is the newest there is (no
 * resourceVersion given), never one that a lagging server remembers: going back in time would bring back the dead.
 *
 * Should the pages expire under way (410), it begins again without pages: that cannot expire. Should a page be too large,
 * since somebody keeps large objects, it goes on with smaller ones.
 * @param take gets each page, and whether it is the first of a list, so that an earlier one is void
 * @returns the resourceVersion that a watch starts from
 */
export async function listPages(
  from: { client: KubeClient; resource: Resource } & Selection & Unread,
  pageSize: number,
  signal: AbortSignal,
  take: (page: readonly KubeObject[], first: boolean) => void,
): Promise<string> {
  let limit: number | undefined = pageSize;
  let token: string | undefined;
  for (;;) {
    try {
      const maxBytes = limit === 1 ? OBJECT_BYTES : PAGE_BYTES;
      const options = { limit, continue: token, signal, timeoutMs: PAGE_TIMEOUT, maxBytes };
      const page = await from.client.list(from.resource, { ...selectionOf(from), ...options });
      take(page.items, token === undefined);
      if (page.continue === undefined) return page.resourceVersion;
      token = page.continue;
    } catch (error) {
      if (error instanceof AnswerTooLarge && limit !== 1) {
        // Without pages there is nothing to go on with.
        if (limit === undefined) token = undefined;
        limit = Math.max(1, Math.floor((limit ?? pageSize) / SMALLER));
      } else if (isGone(error) && limit !== undefined) {
        limit = undefined;
        token = undefined;
      } else {
        throw error;
      }
    }
  }
}

export const selectionOf = ({
  namespace,
  labelSelector,
  fieldSelector,
  unread,
}: Selection & Unread): Selection & Unread => ({ namespace, labelSelector, fieldSelector, unread });

import type { KubeClient, Selection, Unread } from '../client/client.ts';
import { isGone } from '../client/errors.ts';
import type { KubeObject, Resource } from '../client/resources.ts';

/** A page of thousands of objects from a busy server takes its time (ms). */
const PAGE_TIMEOUT = 60_000;

/**
 * Lists page by page, so that only one page of full objects is in memory. The list is the newest there is (no
 * resourceVersion given), never one that a lagging server remembers: going back in time would bring back the dead.
 *
 * Should the pages expire under way (410), it begins again without pages: that cannot expire.
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
      const options = { limit, continue: token, signal, timeoutMs: PAGE_TIMEOUT };
      const page = await from.client.list(from.resource, { ...selectionOf(from), ...options });
      take(page.items, token === undefined);
      if (page.continue === undefined) return page.resourceVersion;
      token = page.continue;
    } catch (error) {
      if (!isGone(error) || limit === undefined) throw error;
      limit = undefined;
      token = undefined;
    }
  }
}

export const selectionOf = ({
  namespace,
  labelSelector,
  fieldSelector,
  unread,
}: Selection & Unread): Selection & Unread => ({ namespace, labelSelector, fieldSelector, unread });

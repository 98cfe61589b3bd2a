import type { JsonObject } from '../../json/json.ts';
import { groupVersionString } from '../../k8s/resource.ts';
import type { KubeClient, Selection, Unread } from '../client/client.ts';
import { isGone } from '../client/errors.ts';
import { AnswerTooLarge } from '../client/pending-call.ts';
import type { KubeObject, Resource } from '../client/resources.ts';

/** Objects of a page where somebody waits for all of them: fewer round trips matter more than memory. */
const PAGE_SIZE = 500;
/** Timeout of a page (ms): thousands of objects from a busy server take long. */
const PAGE_TIMEOUT = 60_000;
/**
 * Largest page (bytes). A page of a hundred Pods has half of it; one of a hundred objects of the maximum size would
 * have 150 MiB. A page is parsed at once, on the thread that answers reviews.
 */
const PAGE_BYTES = 4 * 2 ** 20;
/** Largest page of a single object (bytes): etcd accepts 1.5 MiB, which JSON escapes may make six times as large. */
const OBJECT_BYTES = 16 * 2 ** 20;
/** A page that was too large is requested again with this many times fewer objects. */
const SMALLER = 4;

/**
 * Lists page by page, so that only one page of full objects is in memory. The list is the newest (no resourceVersion is
 * sent), never a lagging server's older state, which would contain deleted objects.
 *
 * If the pages expire in between (410), the list starts over without pages, which cannot expire. If a page is too
 * large because its objects are, the list continues with smaller pages.
 * @param take called with each page and whether it is the first of a list, in which case earlier pages are void
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
        // A list without pages has no token to continue from.
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

/**
 * Lists into one array.
 * @param read called with each object, with the apiVersion and kind that items of a list lack, and again where a list starts over
 */
export async function listAll<T>(
  from: { client: KubeClient; resource: Resource } & Selection & Unread,
  read: (object: JsonObject) => T,
  signal = new AbortController().signal,
): Promise<T[]> {
  const found: T[] = [];
  const type = { apiVersion: groupVersionString(from.resource), kind: from.resource.kind };
  await listPages(from, PAGE_SIZE, signal, (page, first) => {
    if (first) found.length = 0;
    for (const object of page) found.push(read({ ...(object as unknown as JsonObject), ...type }));
  });
  return found;
}

export const selectionOf = ({
  namespace,
  labelSelector,
  fieldSelector,
  unread,
  fields,
}: Selection & Unread): Selection & Unread => ({ namespace, labelSelector, fieldSelector, unread, fields });

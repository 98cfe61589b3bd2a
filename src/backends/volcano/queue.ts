import { keyed } from '../../api/fault.ts';
import { ownObject, ownString } from '../../json/json.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { quoted } from '../../text/printable.ts';
import type { SyncContext } from '../cluster.ts';

/** Annotation on a PodGang, the same as Grove's: the queue it waits in. */
export const ANNOTATION_QUEUE = 'scheduling.grove.io/volcano-queue';
export const QUEUE_FIELD = keyed('metadata.annotations', ANNOTATION_QUEUE);

const QUEUES = '/apis/scheduling.volcano.sh/v1beta1/queues';

/**
 * The queue that is asked for. None where nobody names one: Volcano's own webhook then puts in the default of the
 * Namespace, and only at creation, so naming `default` here would undo that at the next sync.
 */
export const queueOf = (
  gang: Pick<PodGang, 'annotations'>,
  fallback: string | undefined,
): string | undefined => gang.annotations.get(ANNOTATION_QUEUE)?.trim() || fallback;

/**
 * Asks for the queue before a PodGroup is put into it: one in a queue that is missing or closed waits for ever, and
 * Volcano says nothing of it, neither there nor on the Pods.
 * @throws Error that names the queue and what is wrong with it; ApiError
 */
export async function checkQueue(context: Pick<SyncContext, 'read' | 'warn'>, queue: string): Promise<void> {
  if (context.read === undefined) return;
  let found;
  try {
    found = await context.read(`${QUEUES}/${queue}`);
  } catch (error) {
    if (!isRefused(error)) throw error;
    context.warn(`whether volcano queue ${quoted(queue)} exists is not known: Muster may not read queues`);
    return;
  }
  const wayOut = `or name another one in the annotation ${ANNOTATION_QUEUE}`;
  if (found === undefined)
    throw new Error(`volcano queue ${quoted(queue)} does not exist: create it, ${wayOut}`);
  // Volcano's controller-manager writes the state, a moment after the queue is made.
  const state = ownString(ownObject(found, 'status'), 'state') ?? 'Open';
  if (state !== 'Open') {
    throw new Error(`volcano queue ${quoted(queue)} is not Open (state ${state}): open it, ${wayOut}`);
  }
}

/** Whether the API server refused to read it, by the HTTP status that its error carries. */
const isRefused = (error: unknown): boolean =>
  error instanceof Error && 'status' in error && (error.status === 401 || error.status === 403);

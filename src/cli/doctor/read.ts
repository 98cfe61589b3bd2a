import { messageOf } from '../../errors.ts';
import { isNotFound, isUnreachable } from '../../kube/client/errors.ts';

/** What a question to the cluster came to. */
export type Read<T> =
  | { readonly state: 'found'; readonly value: T }
  | { readonly state: 'absent' }
  /** Mostly for want of a right. */
  | { readonly state: 'unread'; readonly reason: string };

export const found = <T>(value: T): Read<T> => ({ state: 'found', value });
export const ABSENT: Read<never> = { state: 'absent' };
export const unread = (reason: string): Read<never> => ({ state: 'unread', reason });

/** Asks, and keeps what went wrong. @throws MusterError CLUSTER_UNREACHABLE: then there is nothing to tell at all */
export async function attempt<T>(ask: () => Promise<T>): Promise<Read<T>> {
  try {
    return found(await ask());
  } catch (error) {
    if (isUnreachable(error)) throw error;
    return isNotFound(error) ? ABSENT : unread(reasonOf(error));
  }
}

/** A missing right in few words: `may not list pods`. Anything else as it is; a webhook's 403 is not about rights. */
export function reasonOf(error: unknown): string {
  const message = messageOf(error);
  const what = /^(.*?): 403 /.exec(message)?.[1];
  return what !== undefined && / is forbidden: User ".*" cannot /.test(message) ? `may not ${what}` : message;
}

/** What was found. */
export const valueOf = <T>(read: Read<T>): T | undefined => (read.state === 'found' ? read.value : undefined);

export const RIGHTS_FIX = 'run it as somebody who may read this, such as cluster-admin';

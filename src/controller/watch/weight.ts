import { splitKey } from '../../kube/loop/cache.ts';
import type { GangView } from './gang-view.ts';

/**
 * Groups that are judged in about the time of a small gang and its writes. A gang of 1,500 takes as long as six, at each of
 * its steps: five of them at work in one namespace would have the thread, and the API server, for themselves.
 */
const GROUPS = 250;

/** As how many gangs one counts among those of its namespace that are worked on. */
export const weightIn =
  ({ gangs }: { readonly gangs: Pick<GangView['gangs'], 'get'> }) =>
  (key: string): number => {
    const { namespace, name } = splitKey(key);
    return Math.max(1, Math.ceil((gangs.get(namespace, name)?.spec.groups.length ?? 0) / GROUPS));
  };

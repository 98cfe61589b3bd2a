import { splitKey } from '../../kube/loop/cache.ts';
import type { GangView } from './gang-view.ts';

/**
 * So many groups count as one gang: a choice, of the size that hardly any gang has. The time of a judgement grows with the
 * groups, and five gangs of 1,500 at work in one namespace would have the thread to themselves.
 */
const GROUPS = 250;

/** As how many gangs one counts among those of its namespace that are worked on. */
export const weightIn =
  ({ gangs }: { readonly gangs: Pick<GangView['gangs'], 'get'> }) =>
  (key: string): number => {
    const { namespace, name } = splitKey(key);
    return Math.max(1, Math.ceil((gangs.get(namespace, name)?.spec.groups.length ?? 0) / GROUPS));
  };

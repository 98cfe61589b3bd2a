import { printable } from '../../text/printable.ts';
import { listed } from '../status-text.ts';
import type { GroupCensus } from './census.ts';

const MAX_NAME_SHOWN = 63;

/** The groups that have less than they want: `leader 0/1, workers 2/4`; '' where none has. */
export function shortfall(
  census: readonly GroupCensus[],
  have: (group: GroupCensus) => number,
  want: (group: GroupCensus) => number,
): string {
  const short = census.filter((group) => have(group) < want(group));
  return listed(
    short.map((group) => `${printable(group.name, MAX_NAME_SHOWN)} ${have(group)}/${want(group)}`),
    'groups',
  );
}

export const boundShortfall = (census: readonly GroupCensus[]): string =>
  shortfall(
    census,
    (group) => group.bound,
    (group) => group.minReplicas,
  );

import { printable } from '../api/printable.ts';
import type { GroupCensus } from './census.ts';

/** A condition's or an Event's message: an Event takes 1,024 bytes, a terminal less. */
export const MAX_STATUS_MESSAGE = 512;
/** A gang of hundreds of groups names the first few; the number of the others is enough to know. */
const MAX_GROUPS_NAMED = 8;
const MAX_NAME_SHOWN = 63;

export const statusText = (text: string): string => printable(text, MAX_STATUS_MESSAGE);

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

/** `a, b, c and 12 more groups`. */
export function listed(items: readonly string[], what: string, atMost = MAX_GROUPS_NAMED): string {
  const named = items.slice(0, atMost).join(', ');
  const rest = items.length - atMost;
  return rest > 0 ? `${named} and ${rest} more ${what}` : named;
}

export const boundShortfall = (census: readonly GroupCensus[]): string =>
  shortfall(
    census,
    (group) => group.bound,
    (group) => group.minReplicas,
  );

import { printable } from '../text/printable.ts';

/** A condition's or an Event's message: an Event takes 1,024 bytes, a terminal less. */
const MAX_STATUS_MESSAGE = 512;
/** A gang of hundreds of groups names the first few; the number of the others is enough to know. */
const MAX_GROUPS_NAMED = 8;

/** More than is shown; a text of a megabyte is not read to its end. */
const MAX_READ = 16 * MAX_STATUS_MESSAGE;

/** A text of several lines on one, as conditions, Events and tables have it. */
export const oneLine = (text: string): string => text.slice(0, MAX_READ).replaceAll(/\s+/g, ' ').trim();

/** The last text that was made fit to show: of a gang of a thousand each Pod waits for the same. */
let last = { text: '', shown: '' };

export function statusText(text: string): string {
  if (text !== last.text) last = { text, shown: printable(oneLine(text), MAX_STATUS_MESSAGE) };
  return last.shown;
}

/** `a, b, c and 12 more groups`. */
export function listed(items: readonly string[], what: string, atMost = MAX_GROUPS_NAMED): string {
  const named = items.slice(0, atMost).join(', ');
  const rest = items.length - atMost;
  return rest > 0 ? `${named} and ${rest} more ${what}` : named;
}

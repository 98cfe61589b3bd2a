/**
 * Storms and searches have two lengths: `npm test` runs the short one on every change, `npm run test:long` (and so
 * `.ci/run`) the long one. The cases are the same; there are fewer rounds of each.
 */
const LONG = process.env['TESTING_MUSTER_LONG'] === '1';

/** This share of the inputs of a long search is tried: all of them, or what TESTING_MUSTER_SEARCH says. */
const SHARE = Number(process.env['TESTING_MUSTER_SEARCH'] ?? 1);

export const inLength = <T>(given: { readonly short: T; readonly long: T }): T =>
  LONG ? given.long : given.short;

/** How many inputs a search of pure functions tries. */
export const searchLength = ({ short, long }: { readonly short: number; readonly long: number }): number =>
  LONG ? Math.max(short, Math.round(long * SHARE)) : short;

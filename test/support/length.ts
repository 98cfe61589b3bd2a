/**
 * Storms and searches have two lengths: `npm test` runs the short one on every change, `npm run test:long` (and so
 * `.ci/run`) the long one. The cases are the same; there are fewer rounds of each.
 */
const LONG = process.env['TESTING_MUSTER_LONG'] === '1';

export const inLength = <T>(given: { readonly short: T; readonly long: T }): T =>
  LONG ? given.long : given.short;

/** Versions of a contract that somebody may be written for. An older one works for as long as it is in the range, with a notice. */
export interface ContractRange {
  readonly oldest: number;
  readonly current: number;
}

/**
 * Why what is written for a version cannot work here; undefined: it can.
 * @param who for people, `backend "kai-scheduler"`
 */
export function outOfRange(
  who: string,
  version: number,
  { oldest, current }: ContractRange,
): string | undefined {
  if (version >= oldest && version <= current) return undefined;
  const served =
    oldest === current ? `this is version ${current}` : `versions ${oldest} to ${current} work here`;
  return `${who} is written for version ${version} of the contract, ${served}`;
}

/**
 * What to tell of one that still works and will not for ever; undefined: nothing.
 * @param what `backend`
 */
export const deprecation = (
  what: string,
  { name, contractVersion }: { readonly name: string; readonly contractVersion: number },
  { current }: ContractRange,
): string | undefined =>
  contractVersion < current
    ? `${what} ${name} is written for version ${contractVersion} of the contract; this is version ${current}, and a later Muster will refuse it: use a newer release of the ${what}`
    : undefined;

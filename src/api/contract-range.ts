/**
 * Versions of the contract that a backend, strategy or preparation may be written for. An older version within the range
 * works, with a notice.
 */
export interface ContractRange {
  readonly oldest: number;
  readonly current: number;
}

/**
 * Why code that is written for this version cannot work here; undefined where it can.
 * @param who the subject of the message: `backend "kai-scheduler"`
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
 * The notice about a version that still works and will be refused later; undefined for the current version.
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

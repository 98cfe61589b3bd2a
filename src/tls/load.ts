import { checkPair } from './check.ts';
import type { PairExpectations, ServingPair } from './check.ts';
import { readMountedFiles } from './mounted-directory.ts';

export type { PairExpectations, ServingPair } from './check.ts';

/**
 * Reads `tls.crt`, `tls.key` and, if it is there, `ca.crt` from a directory as the kubelet mounts a Secret, and checks
 * that a client which calls `serverName` now will accept them.
 *
 * @throws MusterError `TLS_UNREADABLE`, `TLS_MISMATCH`, `TLS_EXPIRED`, `TLS_NOT_YET_VALID`, `TLS_WRONG_NAME` or
 *   `TLS_CHAIN`; the message says which file and what, `fix` what to do
 */
export const loadServingPair = async (
  directory: string,
  expectations: PairExpectations,
): Promise<ServingPair> => checkPair(await readMountedFiles(directory), directory, expectations);

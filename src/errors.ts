import { isNativeError } from 'node:util/types';

/**
 * Errors of running Muster, as opposed to faults of an object under review (`api/fault.ts`). Every error names its cause and
 * the way out. docs/reference/cli.md has this table, and a test compares the two.
 */
export const errorCatalogue = {
  USAGE: { exitCode: 2, summary: 'a flag or argument is missing, unknown or malformed' },
  NODE_TOO_OLD: { exitCode: 2, summary: 'Node.js is older than what Muster is written for' },
  INPUT_UNREADABLE: { exitCode: 2, summary: 'an input file is missing, unreadable, or not YAML or JSON' },
  SNAPSHOT_INVALID: {
    exitCode: 2,
    summary: 'an object of a snapshot cannot be counted with; all are listed',
  },
  BINDING_INVALID: {
    exitCode: 2,
    summary: 'a binding or a cluster of a fleet cannot be counted with; all are listed',
  },
  STRATEGY_INVALID: { exitCode: 1, summary: 'two plugins claim one strategy of assigning replicas' },
  CONFIG_UNREADABLE: {
    exitCode: 2,
    summary: 'the configuration file is missing, unreadable, or not YAML or JSON',
  },
  CONFIG_INVALID: { exitCode: 1, summary: 'the configuration breaks one or more rules; all are listed' },
  BACKEND_UNSUPPORTED: { exitCode: 1, summary: 'a scheduler name that no backend serves' },
  BACKEND_INIT_FAILED: { exitCode: 1, summary: 'a backend refused to start; the reason follows' },
  BACKEND_CONTRACT: { exitCode: 1, summary: 'a backend broke its contract (reported and contained)' },
  BACKEND_OBJECT_FOREIGN: {
    exitCode: 1,
    summary: 'a backend’s object has the name of one that is not its gang’s',
  },
  BACKEND_MODULE_MISSING: {
    exitCode: 2,
    summary: 'the module of a profile, a strategy or a preparation is not there, or may not be read',
  },
  BACKEND_MODULE_INVALID: {
    exitCode: 1,
    summary: 'a module does not load, or exports nothing of the name that its entry says',
  },
  BACKEND_MODULE_INTEGRITY: {
    exitCode: 1,
    summary: 'a module is not the file that the configuration gives the hash of',
  },
  TLS_UNREADABLE: {
    exitCode: 2,
    summary: 'tls.crt, tls.key, ca.crt or a client CA is missing, empty or not PEM',
  },
  TLS_MISMATCH: { exitCode: 1, summary: 'tls.key is not the key of tls.crt' },
  TLS_EXPIRED: { exitCode: 1, summary: 'the serving certificate is past its notAfter' },
  TLS_NOT_YET_VALID: { exitCode: 1, summary: 'the serving certificate is before its notBefore' },
  TLS_WRONG_NAME: { exitCode: 1, summary: 'the serving certificate lacks the name the API server calls' },
  TLS_CHAIN: { exitCode: 1, summary: 'the serving certificate was not issued by ca.crt' },
  OUTPUT_FAILED: { exitCode: 1, summary: 'standard output cannot be written: the disk is full, for one' },
  LISTEN_FAILED: { exitCode: 1, summary: 'a port is taken or may not be opened' },
  WORKLOAD_UNKNOWN: { exitCode: 1, summary: 'a kind whose Pod templates nobody has told Muster of' },
  WORKLOAD_INVALID: {
    exitCode: 1,
    summary: 'a workload has numbers or amounts that cannot be counted with; all are listed',
  },
  WORKLOAD_SCALE: { exitCode: 1, summary: 'a workload cannot have the numbers of Pods that are asked for' },
  HPC_NOTHING: {
    exitCode: 1,
    summary: 'no gang of the input names an HPCPolicy, or it has no files for --out',
  },
  GANG_UNKNOWN: { exitCode: 1, summary: 'no PodGang and no Pod of the cluster has that gang name' },
  CLUSTER_REFUSED: {
    exitCode: 1,
    summary: 'the API server answers, but refuses: a right, the login or the PodGang definition is missing',
  },
  UNINSTALL_HELD: {
    exitCode: 1,
    summary: 'an object is not gone after it was deleted, or comes back: something holds or applies it',
  },
  CLUSTER_UNREACHABLE: { exitCode: 3, summary: 'no kubeconfig, or the API server does not answer' },
} as const satisfies Record<string, { exitCode: 1 | 2 | 3; summary: string }>;

export type ErrorCode = keyof typeof errorCatalogue;

/** `file:line:column: error: …`, one a line. */
export interface Listed {
  readonly lines: readonly string[];
  readonly summary: string;
}

/** An error with a code of {@link errorCatalogue}, a message that says what happened, and the way out. */
export class MusterError extends Error {
  readonly code: ErrorCode;
  /** What to do about the error, one sentence a line. */
  readonly fix: string;
  /** Set where the message is a list of places in files: the places as compilers write them, and the summary. */
  readonly listed: Listed | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    fix: string,
    options: { cause?: unknown; listed?: Listed | undefined } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : {});
    this.name = 'MusterError';
    this.code = code;
    this.fix = fix;
    this.listed = options.listed;
  }

  get exitCode(): 1 | 2 | 3 {
    return errorCatalogue[this.code].exitCode;
  }
}

/** A request that can never be answered as it is: HTTP 400, whatever its protocol. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest';
}

/** A request that cannot be answered now: HTTP 503, which the caller retries. `why` is the reason in the metric. */
export class TryLater extends Error {
  override readonly name = 'TryLater';
  readonly why: 'not-ready' | 'gang-unread';

  constructor(why: TryLater['why'], message: string) {
    super(message);
    this.why = why;
  }
}

/** The message of any thrown value. */
export const messageOf = (thrown: unknown): string =>
  // `instanceof` alone is not enough: an error of another realm (a worker, a test runner) is an error as well.
  thrown instanceof Error || isNativeError(thrown) ? thrown.message : String(thrown);

/**
 * What is stored of certificates that Muster makes itself, and what a replica remembers, as plain data: the state machine of
 * next-step.ts computes on nothing else. Times are milliseconds since 1970 unless they are called durations.
 */

/** A certificate as far as decisions depend on it. */
export interface CertificateFacts {
  /** SHA-256 of the certificate. */
  readonly id: string;
  readonly notBefore: number;
  readonly notAfter: number;
}

export interface TrustedCa extends CertificateFacts {
  readonly pem: string;
}

export interface SignedLeaf extends CertificateFacts {
  /** Ids of those CAs among all known ones that signed it. */
  readonly signers: readonly string[];
  /** Whether it is for the name that API servers call. */
  readonly fits: boolean;
}

/** The Secret; a part whose certificate or key is missing or damaged is undefined. */
export interface StoredSecret {
  readonly current: TrustedCa | undefined;
  /** The CA that is being put into every caBundle, and signs nothing yet. */
  readonly next: TrustedCa | undefined;
  readonly leaf: SignedLeaf | undefined;
}

export interface StoredWebhook {
  readonly name: string;
  /** The certificates in its caBundle; text that is no certificate is left out. */
  readonly trusts: readonly TrustedCa[];
}

export interface StoredConfiguration {
  /** `MutatingWebhookConfiguration muster` */
  readonly name: string;
  readonly webhooks: readonly StoredWebhook[];
  /** Annotation by which another program is asked to write the caBundles; undefined without one. */
  readonly injector: string | undefined;
}

/** One reading of everything. */
export interface Stored {
  /** undefined: there is no such Secret. */
  readonly secret: StoredSecret | undefined;
  /** Muster's webhook configurations that exist. */
  readonly configurations: readonly StoredConfiguration[];
}

/** The leaf in service, which may not be the one in the Secret. */
export interface ServedLeaf {
  readonly leaf: SignedLeaf;
  /** Its CAs, put back into a caBundle that lost them. */
  readonly cas: readonly TrustedCa[];
}

/** What one replica remembers. Durations come from a clock that never goes back. */
export interface ReplicaMemory {
  readonly served: ServedLeaf | undefined;
  /** How long this replica has seen the CA in every caBundle without interruption; 0 where it is missing in one now. */
  trustedForMs(id: string): number;
  /** How long ago this replica saw the certificate for the first time. */
  seenForMs(id: string): number;
  /** Names of configurations whose write has just failed, so that the next step is another. */
  readonly failed: ReadonlySet<string>;
}

export interface CertificateTimes {
  /** How long a CA is valid, and how long before its end the next one is made. */
  readonly ca: { readonly durationMs: number; readonly renewBeforeMs: number };
  readonly leaf: { readonly durationMs: number; readonly renewBeforeMs: number };
  /** How long a CA is in every caBundle before a leaf of it replaces a good one: API servers read it by a watch. */
  readonly settleMs: number;
}

/** Two clocks that need not agree. */
export interface CertificateClocks {
  /** The API server's clock, by which it accepts or refuses a certificate. */
  readonly now: number;
  /** The earlier one of the API server's clock and this machine's: what both call past is past. */
  readonly earliest: number;
}

export const isInDate = ({ notBefore, notAfter }: CertificateFacts, now: number): boolean =>
  notBefore <= now && now <= notAfter;

/** How long after its end (ms) a CA stays in a caBundle, for clocks that disagree by hours. */
const GRACE_MS = 24 * 60 * 60 * 1000;

/** Whether a CA has expired by every clock, with a day of grace, or a tenth of its life where that is shorter. */
export const isSurelyExpired = (
  { notBefore, notAfter }: CertificateFacts,
  { earliest }: CertificateClocks,
): boolean => earliest > notAfter + Math.min(GRACE_MS, (notAfter - notBefore) / 10);

/** Whether every webhook trusts the CA. Without a webhook nobody does. */
export function isTrustedEverywhere(id: string, { configurations }: Stored): boolean {
  const webhooks = configurations.flatMap((configuration) => configuration.webhooks);
  return webhooks.length > 0 && webhooks.every(({ trusts }) => trusts.some((ca) => ca.id === id));
}

/** Whether an API server accepts the leaf now: every webhook trusts a CA that signed it. */
export function isCovered(leaf: SignedLeaf, stored: Stored, { now }: CertificateClocks): boolean {
  const webhooks = stored.configurations.flatMap((configuration) => configuration.webhooks);
  return (
    webhooks.length > 0 &&
    webhooks.every(({ trusts }) => trusts.some((ca) => leaf.signers.includes(ca.id) && isInDate(ca, now)))
  );
}

/** Whether an API server accepts the leaf: its name, its dates and its CA. */
export const isGood = (leaf: SignedLeaf, stored: Stored, clocks: CertificateClocks): boolean =>
  leaf.fits && isInDate(leaf, clocks.now) && isCovered(leaf, stored, clocks);

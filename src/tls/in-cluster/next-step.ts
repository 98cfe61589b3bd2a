import {
  isCovered,
  isGood,
  isInDate,
  isSurelyExpired,
  isTrustedEverywhere,
  type CertificateTimes,
  type CertificateClocks,
  type ReplicaMemory,
  type SignedLeaf,
  type Stored,
  type StoredConfiguration,
  type TrustedCa,
} from './state.ts';

/** One write. It is conditional on the version that was read, so of two replicas one writes and the other reads again. */
export type CertificateWrite =
  /** Makes a CA and stores it in the Secret; as `next` it signs nothing before every caBundle has it. */
  | { readonly do: 'make-ca'; readonly as: 'current' | 'next'; readonly why: string }
  /** Writes the caBundles of one configuration: of each webhook, in its order, the certificates. */
  | {
      readonly do: 'trust';
      readonly configuration: string;
      readonly bundles: readonly (readonly TrustedCa[])[];
      readonly why: string;
    }
  /** Signs a leaf and stores it; `next` becomes `current` by the same write. */
  | { readonly do: 'sign'; readonly by: 'current' | 'next'; readonly until: number; readonly why: string };

export interface CertificateState {
  readonly stored: Stored;
  readonly memory: ReplicaMemory;
  readonly clocks: CertificateClocks;
  readonly times: CertificateTimes;
}

/**
 * How long a certificate that is not valid yet is left alone (ms): where the clocks of two API servers differ, each
 * replica would replace the other's certificate at once.
 */
const QUIET_MS = 60_000;

/**
 * Decides the next write; undefined where nothing is to be written now. The order keeps every leaf covered:
 *
 * 1. Without a usable CA one is made.
 * 2. Every caBundle gets the CAs of the Secret and that of the leaf in service. Nothing is taken out that is not expired.
 * 3. A leaf is signed by a CA that every caBundle has, and has had for a while if another leaf is good until then.
 * 4. Well before the end of the CA the next one is made, and goes through 2 and 3.
 * 5. CAs that have expired by every clock are taken out.
 */
export function nextStep(situation: CertificateState): CertificateWrite | undefined {
  const { stored } = situation;
  return (
    (stored.secret && missingCa(situation)) ??
    trust(situation, 'add') ??
    (stored.secret && sign(situation)) ??
    (stored.secret && renewedCa(situation)) ??
    (stored.secret && trust(situation, 'remove'))
  );
}

/** The CA of a slot, where a leaf of it would be accepted now. */
const usable = (ca: TrustedCa | undefined, { clocks }: CertificateState): TrustedCa | undefined =>
  ca !== undefined && isInDate(ca, clocks.now) ? ca : undefined;

/** Whether a certificate that is not valid yet has had its time: the clock by which it was made was wrong. */
const isStuck = (ca: TrustedCa | SignedLeaf, { clocks, memory }: CertificateState): boolean =>
  clocks.now < ca.notBefore && memory.seenForMs(ca.id) >= QUIET_MS;

function missingCa(situation: CertificateState): CertificateWrite | undefined {
  const { current, next } = situation.stored.secret ?? {};
  if (usable(current, situation) !== undefined || usable(next, situation) !== undefined) return undefined;
  if (current === undefined) return { do: 'make-ca', as: 'current', why: 'the Secret has no usable CA' };
  if (situation.clocks.now > current.notAfter)
    return { do: 'make-ca', as: 'current', why: 'the CA has expired' };
  return isStuck(current, situation)
    ? { do: 'make-ca', as: 'current', why: 'the CA is not valid yet' }
    : undefined;
}

function renewedCa(situation: CertificateState): CertificateWrite | undefined {
  const { stored, clocks, times } = situation;
  const { durationMs, renewBeforeMs } = times.ca;
  const current = usable(stored.secret?.current, situation);
  if (current === undefined || clocks.now < current.notAfter - renewBeforeMs) return undefined;
  const next = stored.secret?.next;
  if (usable(next, situation) !== undefined) return undefined;
  if (next !== undefined && clocks.now < next.notBefore && !isStuck(next, situation)) return undefined;
  // A CA that ends hardly later than the one it replaces would be due again at once.
  const gain = clocks.now + durationMs - current.notAfter;
  if (gain < (durationMs - renewBeforeMs) / 2) return undefined;
  return { do: 'make-ca', as: 'next', why: 'the CA is to be renewed' };
}

/** CAs that every webhook has to trust: those of the Secret, and those of the leaf in service. */
function wantedCas({ stored, memory, clocks }: CertificateState): readonly TrustedCa[] {
  const { current, next } = stored.secret ?? {};
  const all = [current, next, ...(memory.served?.cas ?? [])].filter((ca) => ca !== undefined);
  const unique = new Map(all.map((ca) => [ca.id, ca]));
  return [...unique.values()].filter(({ notAfter }) => clocks.now <= notAfter);
}

function trust(situation: CertificateState, change: 'add' | 'remove'): CertificateWrite | undefined {
  const wanted = wantedCas(situation);
  for (const configuration of situation.stored.configurations) {
    if (configuration.injector !== undefined || situation.memory.failed.has(configuration.name)) continue;
    const due = configuration.webhooks.some(({ trusts }) =>
      change === 'add'
        ? wanted.some((ca) => !holds(trusts, ca))
        : trusts.some((ca) => isSurelyExpired(ca, situation.clocks)),
    );
    if (!due) continue;
    const why = change === 'add' ? 'a CA is missing in a caBundle' : 'a CA in a caBundle has expired';
    const bundles = bundlesOf(configuration, wanted, situation);
    return { do: 'trust', configuration: configuration.name, bundles, why };
  }
  return undefined;
}

const holds = (trusts: readonly TrustedCa[], { id }: TrustedCa): boolean => trusts.some((ca) => ca.id === id);

/** The caBundle of each webhook: what it has and is not expired, in its order, then what it lacks. */
const bundlesOf = (
  { webhooks }: StoredConfiguration,
  wanted: readonly TrustedCa[],
  { clocks }: CertificateState,
): readonly (readonly TrustedCa[])[] =>
  webhooks.map(({ trusts }) => [
    ...trusts.filter((ca) => !isSurelyExpired(ca, clocks)),
    ...wanted.filter((ca) => !holds(trusts, ca)),
  ]);

function sign(situation: CertificateState): CertificateWrite | undefined {
  const { stored, memory, clocks, times } = situation;
  const { secret } = stored;
  if (secret === undefined) return undefined;
  const good = [secret.leaf, memory.served?.leaf].some(
    (leaf) => leaf !== undefined && isGood(leaf, stored, clocks),
  );
  const signers = (['next', 'current'] as const).flatMap((by) => {
    const ca = usable(secret[by], situation);
    return ca !== undefined && isTrustedEverywhere(ca.id, stored) ? [{ by, ca }] : [];
  });
  const settled = signers.find(({ ca }) => memory.trustedForMs(ca.id) >= times.settleMs);
  const signer = settled ?? (good ? undefined : signers[0]);
  if (signer === undefined) return undefined;
  const until = Math.min(clocks.now + times.leaf.durationMs, signer.ca.notAfter);
  const why =
    signer.by === 'next' ? 'every caBundle has the next CA' : reasonToSign(secret.leaf, until, situation);
  return why === undefined ? undefined : { do: 'sign', by: signer.by, until, why };
}

/** Why the leaf has to be replaced by one that is valid until then; undefined: it need not. */
function reasonToSign(
  leaf: SignedLeaf | undefined,
  until: number,
  situation: CertificateState,
): string | undefined {
  const { stored, clocks, times } = situation;
  const { durationMs, renewBeforeMs } = times.leaf;
  if (leaf === undefined) return 'the Secret has no usable leaf';
  if (!leaf.fits) return 'the leaf is for other names';
  if (clocks.now < leaf.notBefore) return isStuck(leaf, situation) ? 'the leaf is not valid yet' : undefined;
  if (clocks.now > leaf.notAfter) return until > leaf.notAfter ? 'the leaf has expired' : undefined;
  if (!isCovered(leaf, stored, clocks)) return 'no CA of the leaf is in every caBundle';
  // A leaf that ends hardly later, since its CA ends, would be due again at once.
  const gain = until - leaf.notAfter;
  const due = clocks.now >= leaf.notAfter - renewBeforeMs && gain >= (durationMs - renewBeforeMs) / 2;
  return due ? 'the leaf is to be renewed' : undefined;
}

/**
 * Whether the leaf of the Secret replaces the one in service: it is good, and either the one in service is not, or API
 * servers have had the time to read its CA.
 */
export function isToBeServed({ stored, memory, clocks, times }: CertificateState): boolean {
  const leaf = stored.secret?.leaf;
  if (leaf === undefined || !isGood(leaf, stored, clocks)) return false;
  const served = memory.served?.leaf;
  if (served === undefined || !isGood(served, stored, clocks)) return served?.id !== leaf.id;
  return served.id !== leaf.id && leaf.signers.some((id) => memory.trustedForMs(id) >= times.settleMs);
}

/** How long (ms) until the next step may be due, where none is due now and nobody changes what is stored. */
export function nextCheckMs({ stored, memory, clocks, times }: CertificateState, atMost: number): number {
  const { current, next, leaf } = stored.secret ?? {};
  const cas = [current, next].filter((ca) => ca !== undefined);
  const ends = [...cas, leaf, memory.served?.leaf].flatMap((one) =>
    one === undefined ? [] : [one.notAfter],
  );
  const waits = [
    ...cas.map(({ id }) => times.settleMs - memory.trustedForMs(id)),
    ...[current, next, leaf].flatMap((one) =>
      one === undefined ? [] : [QUIET_MS - memory.seenForMs(one.id)],
    ),
    ...[...ends, ...cas.map(({ notBefore }) => notBefore)].map((at) => at + 1 - clocks.now),
    ...(leaf === undefined ? [] : [leaf.notAfter - times.leaf.renewBeforeMs - clocks.now]),
    ...(current === undefined ? [] : [current.notAfter - times.ca.renewBeforeMs - clocks.now]),
  ];
  return Math.min(atMost, ...waits.filter((wait) => wait > 0));
}

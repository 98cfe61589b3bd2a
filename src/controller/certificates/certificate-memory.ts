import type { Clock } from '../../kube/client/clock.ts';
import type { CertificateState } from '../../tls/in-cluster/next-step.ts';
import {
  isTrustedEverywhere,
  type CertificateTimes,
  type CertificateClocks,
} from '../../tls/in-cluster/state.ts';
import type { Reading } from './certificate-store.ts';

/** What a replica remembers between two readings: since when it has seen a certificate, and the API server's clock. */
export class CertificateMemory {
  readonly #clock: Clock;
  readonly #trustedSince = new Map<string, number>();
  readonly #seenAt = new Map<string, number>();
  /** By which the API server's clock is ahead of the one that never goes back. */
  #serverAhead: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  remember({ stored, serverNow }: Reading): void {
    const now = this.#clock.now();
    if (serverNow !== undefined) this.#serverAhead = serverNow - now;
    const { current, next, leaf } = stored.secret ?? {};
    const trusted = stored.configurations.flatMap(({ webhooks }) => webhooks.flatMap(({ trusts }) => trusts));
    const ids = new Set([current, next, leaf, ...trusted].flatMap((one) => one?.id ?? []));
    for (const id of ids) {
      if (!this.#seenAt.has(id)) this.#seenAt.set(id, now);
      if (!isTrustedEverywhere(id, stored)) this.#trustedSince.delete(id);
      else if (!this.#trustedSince.has(id)) this.#trustedSince.set(id, now);
    }
    for (const known of [this.#seenAt, this.#trustedSince]) {
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    }
  }

  /** The API server's clock, kept running by this machine's while nobody tells it. */
  clocks(): CertificateClocks {
    const own = this.#clock.date().getTime();
    const now = this.#serverAhead === undefined ? own : this.#clock.now() + this.#serverAhead;
    return { now, earliest: Math.min(now, own) };
  }

  situation(
    { stored, served }: Reading,
    failed: ReadonlySet<string>,
    times: CertificateTimes,
  ): CertificateState {
    const since = (at: ReadonlyMap<string, number>) => (id: string) =>
      this.#clock.now() - (at.get(id) ?? this.#clock.now());
    const memory = {
      served,
      trustedForMs: since(this.#trustedSince),
      seenForMs: since(this.#seenAt),
      failed,
    };
    return { stored, memory, clocks: this.clocks(), times };
  }
}

import {
  nextCheckMs,
  isToBeServed,
  nextStep,
  type CertificateWrite,
} from '../../../../src/tls/in-cluster/next-step.ts';
import {
  isGood,
  isSurelyExpired,
  type CertificateTimes,
  type CertificateClocks,
  type ServedLeaf,
  type SignedLeaf,
  type Stored,
  type StoredConfiguration,
  type StoredSecret,
  type TrustedCa,
} from '../../../../src/tls/in-cluster/state.ts';

const HOUR = 3_600_000;
const BACKDATED = HOUR;

export const TIMES: CertificateTimes = {
  ca: { durationMs: 3_000 * HOUR, renewBeforeMs: 1_000 * HOUR },
  leaf: { durationMs: 600 * HOUR, renewBeforeMs: 200 * HOUR },
  settleMs: 60_000,
};

export const EMPTY: StoredSecret = { current: undefined, next: undefined, leaf: undefined };

interface Versioned<T> {
  version: number;
  value: T;
}

interface Replica {
  /** By which its machine is ahead of the true time. */
  ahead: number;
  served: ServedLeaf | undefined;
  trustedSince: Map<string, number>;
  seenAt: Map<string, number>;
  pending:
    | { step: CertificateWrite; secret: number | undefined; configurations: ReadonlyMap<string, number> }
    | undefined;
  /** When it wants to look again, by the clock that never goes back. */
  again: number;
}

const fresh = (ahead: number): Replica => ({
  ahead,
  served: undefined,
  trustedSince: new Map(),
  seenAt: new Map(),
  pending: undefined,
  again: 0,
});

/** An API server with replicas in front of it, without cryptography: a certificate is its facts, a signature an id. */
export class World {
  secret: Versioned<StoredSecret> | undefined = { version: 1, value: EMPTY };
  readonly configurations = new Map<string, Versioned<StoredConfiguration>>();
  readonly replicas: Replica[];
  /** Milliseconds that have passed; never goes back. */
  passed = 0;
  /** By which the API server's clock is ahead of that. */
  serverAhead = 1_000_000 * HOUR;
  writes = 0;
  /** Whether watches are lost, so that replicas see a change by their next look only. */
  deaf = false;
  /** What must never be. */
  readonly wrong: string[] = [];
  /** When somebody served for the first time. */
  firstServed = Infinity;
  /** The configurations since when they were so, the newest last. */
  readonly #history: { since: number; configurations: readonly StoredConfiguration[] }[] = [];
  #ids = 0;

  constructor(replicas: number) {
    this.replicas = Array.from({ length: replicas }, () => fresh(this.serverAhead));
    this.register('Mutating');
    this.register('Validating');
  }

  register(name: string): void {
    const webhooks = ['pods', 'podgangs'].map((webhook) => ({ name: webhook, trusts: [] }));
    this.configurations.set(name, { version: ++this.#ids, value: { name, webhooks, injector: undefined } });
  }

  stored(): Stored {
    return {
      secret: this.secret?.value,
      configurations: [...this.configurations.values()].map(({ value }) => value),
    };
  }

  clocks({ ahead }: Pick<Replica, 'ahead'>): CertificateClocks {
    const now = this.passed + this.serverAhead;
    return { now, earliest: Math.min(now, this.passed + ahead) };
  }

  /** Reads everything, serves what is to be served, and plans the next write. */
  read(index: number): CertificateWrite | undefined {
    const replica = this.replicas[index] as Replica;
    const stored = this.stored();
    const clocks = this.clocks(replica);
    this.#remember(replica, stored);
    const memory = {
      served: replica.served,
      trustedForMs: (id: string) => this.passed - (replica.trustedSince.get(id) ?? this.passed),
      seenForMs: (id: string) => this.passed - (replica.seenAt.get(id) ?? this.passed),
      failed: new Set<string>(),
    };
    if (isToBeServed({ stored, memory, clocks, times: TIMES })) {
      const leaf = stored.secret?.leaf as SignedLeaf;
      if (!isGood(leaf, stored, clocks)) this.wrong.push('a leaf was served that nobody accepts');
      const cas = this.#cas(stored).filter(({ id }) => leaf.signers.includes(id));
      replica.served = { leaf, cas };
      this.firstServed = Math.min(this.firstServed, this.passed);
    }
    const situation = { stored, memory: { ...memory, served: replica.served }, clocks, times: TIMES };
    const step = nextStep(situation);
    replica.pending = step && {
      step,
      secret: this.secret?.version,
      configurations: new Map([...this.configurations].map(([name, { version }]) => [name, version])),
    };
    replica.again = this.passed + nextCheckMs(situation, 60_000);
    return step;
  }

  /** Makes the planned write, if nobody wrote to the object meanwhile. */
  write(index: number): void {
    const replica = this.replicas[index] as Replica;
    const { pending } = replica;
    replica.pending = undefined;
    if (pending === undefined) return;
    const { step } = pending;
    if (step.do === 'trust') {
      const found = this.configurations.get(step.configuration);
      if (found === undefined || found.version !== pending.configurations.get(step.configuration)) return;
      this.#trust(replica, found, step.bundles);
      return;
    }
    if (this.secret === undefined || this.secret.version !== pending.secret) return;
    const now = this.passed + this.serverAhead;
    const from = { id: `c${++this.#ids}`, notBefore: now - BACKDATED };
    const { value } = this.secret;
    this.#written();
    if (step.do === 'make-ca') {
      const ca = { ...from, notAfter: now + TIMES.ca.durationMs, pem: '' };
      this.secret = { version: ++this.#ids, value: { ...value, [step.as]: ca } };
      return;
    }
    const by = value[step.by] as TrustedCa;
    const leaf = { ...from, notAfter: step.until, signers: [by.id], fits: true };
    this.secret = {
      version: ++this.#ids,
      value: { current: by, next: step.by === 'next' ? undefined : value.next, leaf },
    };
  }

  crash(index: number): void {
    this.replicas[index] = fresh((this.replicas[index] as Replica).ahead);
  }

  /** Lets time go by as it does: every replica looks again when it wants to. */
  pass(ms: number): void {
    const until = this.passed + ms;
    for (;;) {
      const soonest = Math.min(...this.replicas.map(({ again }) => again));
      if (soonest > until) break;
      this.passed = Math.max(this.passed, soonest);
      this.replicas.forEach(({ again }, index) => {
        if (again <= this.passed) this.settle(index);
      });
    }
    this.passed = until;
  }

  /** Reads and writes until nothing is to be done. */
  settle(index: number): void {
    for (let writes = 0; this.read(index) !== undefined; writes += 1) {
      if (writes > 20) throw new Error('a replica does not stop to write');
      this.write(index);
    }
  }

  /** Somebody else changes what is stored. */
  meddle(change: (world: World) => void): void {
    change(this);
    for (const replica of this.replicas) replica.again = this.passed;
  }

  setSecret(value: StoredSecret | undefined): void {
    this.secret = value && { version: ++this.#ids, value };
  }

  setBundle(name: string, index: number, trusts: readonly TrustedCa[]): void {
    const found = this.configurations.get(name);
    if (found === undefined) return;
    const webhooks = found.value.webhooks.map((one, at) => (at === index ? { ...one, trusts } : one));
    this.configurations.set(name, { version: ++this.#ids, value: { ...found.value, webhooks } });
  }

  /** A CA of somebody else's. */
  foreignCa(lifeMs: number): TrustedCa {
    const now = this.passed + this.serverAhead;
    return { id: `f${++this.#ids}`, notBefore: now - HOUR, notAfter: now + lifeMs, pem: '' };
  }

  /** Replicas that serve nothing, or what API servers refuse. */
  unserved(): number[] {
    const stored = this.stored();
    return this.replicas.flatMap(({ served, ahead }, index) =>
      served !== undefined && isGood(served.leaf, stored, this.clocks({ ahead })) ? [] : [index],
    );
  }

  /** Replicas whose leaf is refused by an API server that lags `ms` behind. */
  refusedByLagging(ms: number): number[] {
    const seen = this.#history.filter(
      (_, at) => (this.#history[at + 1]?.since ?? Infinity) > this.passed - ms,
    );
    return this.replicas.flatMap(({ served, ahead }, index) =>
      served === undefined ||
      seen.every(({ configurations }) =>
        isGood(served.leaf, { secret: undefined, configurations }, this.clocks({ ahead })),
      )
        ? []
        : [index],
    );
  }

  #cas({ secret, configurations }: Stored): TrustedCa[] {
    const trusted = configurations.flatMap(({ webhooks }) => webhooks.flatMap(({ trusts }) => trusts));
    return [secret?.current, secret?.next, ...trusted].filter((ca) => ca !== undefined);
  }

  #written(): void {
    this.writes += 1;
    if (!this.deaf) for (const replica of this.replicas) replica.again = this.passed;
  }

  #remember(replica: Replica, stored: Stored): void {
    const { secret, configurations } = stored;
    for (const one of [secret?.current, secret?.next, secret?.leaf]) {
      if (one !== undefined && !replica.seenAt.has(one.id)) replica.seenAt.set(one.id, this.passed);
    }
    const webhooks = configurations.flatMap((configuration) => configuration.webhooks);
    const everywhere = new Set(
      this.#cas(stored)
        .map(({ id }) => id)
        .filter((id) => webhooks.every(({ trusts }) => trusts.some((ca) => ca.id === id))),
    );
    for (const id of everywhere) {
      if (!replica.trustedSince.has(id)) replica.trustedSince.set(id, this.passed);
    }
    for (const id of replica.trustedSince.keys()) if (!everywhere.has(id)) replica.trustedSince.delete(id);
  }

  #trust(
    replica: Replica,
    found: Versioned<StoredConfiguration>,
    bundles: readonly (readonly TrustedCa[])[],
  ): void {
    const { name, webhooks } = found.value;
    webhooks.forEach(({ trusts }, index) => {
      const gone = trusts.filter((ca) => !bundles[index]?.some(({ id }) => id === ca.id));
      for (const ca of gone) {
        if (!isSurelyExpired(ca, this.clocks(replica))) this.wrong.push('a CA was dropped early');
      }
    });
    this.#written();
    const value = {
      ...found.value,
      webhooks: webhooks.map((one, index) => ({ ...one, trusts: bundles[index] ?? [] })),
    };
    this.configurations.set(name, { version: ++this.#ids, value });
    this.#history.push({ since: this.passed, configurations: this.stored().configurations });
  }
}

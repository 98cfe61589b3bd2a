import { MusterError } from '../errors.ts';
import { own, ownObject, type JsonObject } from '../json/json.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { ApiError } from '../kube/client/errors.ts';
import { POD_GANGS, PODS, type KubeObject, type Resource } from '../kube/client/resources.ts';
import { Refused } from './access.ts';
import { secretHash, SIGN_IN } from './cluster-access.ts';
import type { Onlooker } from './gang-stream.ts';

const REVIEW: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  namespaced: false,
};

/** The kinds that a row of the list is made of. */
const SHOWN = [POD_GANGS, PODS];

/** Namespaces that are asked about at a time. */
const AT_ONCE = 16;

const NARROWED =
  'You see the gangs of the namespaces in which you may list pods and podgangs.scheduler.grove.io: the ClusterRole "view" has both rights once Muster is installed.';

/** Whether the user of a client may list in a namespace what a row shows; undefined: in all of them. */
async function mayList(client: KubeClient, namespace: string | undefined): Promise<boolean> {
  for (const { group, plural: resource } of SHOWN) {
    const resourceAttributes = { group, resource, verb: 'list', namespace };
    const review = { metadata: {} as KubeObject['metadata'], spec: { resourceAttributes } };
    const { status } = await client.create<JsonObject & { status?: object }>(REVIEW, review);
    if (own(ownObject({ status }, 'status'), 'allowed') !== true) return false;
  }
  return true;
}

/** What one user may see of the gangs, as the API server said to the user's own token. */
export class UserSight implements Onlooker {
  readonly #all: boolean;
  readonly #seen = new Map<string, boolean>();
  readonly asked: number;

  constructor(all: boolean, asked: number) {
    this.#all = all;
    this.asked = asked;
  }

  sees(namespace: string): boolean {
    return this.#all || this.#seen.get(namespace) === true;
  }

  get narrowed(): string | undefined {
    return this.#all ? undefined : NARROWED;
  }

  unknown(namespaces: Iterable<string>): string[] {
    return this.#all ? [] : Array.from(namespaces).filter((one) => !this.#seen.has(one));
  }

  /** Asks about namespaces that have a gang now. */
  async learn(client: KubeClient, namespaces: readonly string[]): Promise<void> {
    for (let at = 0; at < namespaces.length; at += AT_ONCE)
      await Promise.all(
        namespaces.slice(at, at + AT_ONCE).map(async (namespace) => {
          this.#seen.set(namespace, await mayList(client, namespace));
        }),
      );
  }

  /** Whether `other` sees all that this one sees. */
  isWithin(other: UserSight): boolean {
    if (other.#all || this.#all) return other.#all;
    return [...this.#seen].every(([namespace, seen]) => !seen || other.sees(namespace));
  }
}

/** Milliseconds for which an answer of the API server about a user holds. */
const HOLDS_MS = 30_000;
/** Users that are remembered, and asked about at a time: a token costs the API server a review, and may be anybody's. */
const MOST_USERS = 1_000;
const MOST_ASKED = 32;

const BUSY = {
  status: 429,
  code: 'SIGN_IN_BUSY',
  message: 'the API server is being asked about as many tokens as it may be at a time',
  fix: 'Ask again in a few seconds.',
} as const;

type AsUser = <T>(token: string, ask: (client: KubeClient) => Promise<T>) => Promise<T>;

/** What users see, kept for seconds by the hash of their tokens. */
export class UserSights {
  readonly #known = new Map<string, UserSight>();
  /** What the API server is asked now, once for each token. */
  readonly #asking = new Map<string, Promise<UserSight>>();
  /** Known users who wait for their turn. */
  readonly #waiting: (() => void)[] = [];
  readonly #asUser: AsUser;
  readonly #now: () => number;
  #asked = 0;

  /** @param asUser calls with a client that has the rights of a token, and no others */
  constructor(asUser: AsUser, now: () => number) {
    this.#asUser = asUser;
    this.#now = now;
  }

  /**
   * @param namespaces those that have a gang
   * @throws Refused where the API server does not accept the token, ApiError, MusterError CLUSTER_UNREACHABLE
   */
  async of(token: string, namespaces: ReadonlySet<string>): Promise<UserSight> {
    const key = secretHash(token);
    const asking = this.#asking.get(key);
    // Its answer may lack a namespace that has its first gang meanwhile.
    if (asking !== undefined) {
      const sight = await asking;
      return sight.unknown(namespaces).length === 0 ? sight : this.of(token, namespaces);
    }
    const known = this.#known.get(key);
    const fresh = known !== undefined && this.#now() - known.asked < HOLDS_MS ? known : undefined;
    if (fresh?.unknown(namespaces).length === 0) return fresh;
    // Tokens that nobody knows are refused, so that those who are in never are.
    if (known === undefined && this.#asked >= MOST_ASKED) throw new Refused(BUSY);
    const asked = this.#inTurn(() => this.#ask(token, key, fresh, namespaces)).finally(() =>
      this.#asking.delete(key),
    );
    this.#asking.set(key, asked);
    return asked;
  }

  /** Calls with the rights of a token. @throws Refused where the API server does not accept it any more */
  async asUser<T>(token: string, ask: (client: KubeClient) => Promise<T>): Promise<T> {
    try {
      return await this.#asUser(token, ask);
    } catch (thrown) {
      const cause = thrown instanceof MusterError ? thrown.cause : thrown;
      if (!(cause instanceof ApiError) || cause.status !== 401) throw thrown;
      this.#known.delete(secretHash(token));
      throw new Refused(SIGN_IN);
    }
  }

  async #inTurn<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#asked < MOST_ASKED) this.#asked += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await ask();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#asked -= 1;
      else next();
    }
  }

  async #ask(
    token: string,
    key: string,
    fresh: UserSight | undefined,
    namespaces: ReadonlySet<string>,
  ): Promise<UserSight> {
    const sight = await this.asUser(token, async (client) => {
      const now = this.#now();
      const one = fresh ?? new UserSight(await mayList(client, undefined), now);
      await one.learn(client, one.unknown(namespaces));
      return one;
    });
    this.#known.delete(key);
    for (const oldest of this.#known.keys()) if (this.#known.size >= MOST_USERS) this.#known.delete(oldest);
    this.#known.set(key, sight);
    return sight;
  }
}

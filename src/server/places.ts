import { newPeer, type Connection, type Peer, type Standing } from './connection.ts';

/** Of all places, what connections that are not known yet may take before they give way to each other. */
const UNPROVEN_SHARE = 1 / 4;

/** A real client is done with its handshake, and asks, within some milliseconds. */
const SLOW_MS = 1000;

/**
 * The places that connections take, and who gives way when none is left. A newcomer always gets one, or else whoever
 * came first could keep everybody out by staying. Who gives way is chosen so that keeping places costs others nothing:
 *
 * - Connections that are not known yet give way to each other, as soon as they have a quarter of the places: the oldest
 *   that has asked nothing for a second, whoever's it is; where there is none, the oldest of the address with the most,
 *   so that an address with few connections keeps them.
 * - Else one that is known and has no request under way, of the address with the most: the one that was silent for
 *   longest, so the least likely to be just about to ask.
 */
export class Places {
  readonly #max: number;
  readonly #peers = new Map<string, Peer>();
  readonly #taken: Record<Standing, number> = { handshake: 0, stranger: 0, known: 0 };

  constructor(max: number) {
    this.#max = max;
  }

  taken(standing: Standing): number {
    return this.#taken[standing];
  }

  get peers(): number {
    return this.#peers.size;
  }

  /** Whether one from this address is known. */
  isKnown(address: string): boolean {
    return (this.#peers.get(address)?.holds.known.size ?? 0) > 0;
  }

  /** The peer with this address. To be followed by {@link take}. */
  peer(address: string): Peer {
    const found = this.#peers.get(address);
    if (found !== undefined) return found;
    const peer = newPeer(address);
    this.#peers.set(address, peer);
    return peer;
  }

  take(connection: Connection): void {
    connection.peer.holds[connection.standing].add(connection);
    this.#taken[connection.standing] += 1;
  }

  move(connection: Connection, to: Standing): void {
    if (connection.standing === to || !this.#drop(connection)) return;
    connection.standing = to;
    this.take(connection);
  }

  leave(connection: Connection): void {
    const { peer } = connection;
    if (!this.#drop(connection)) return;
    if (Object.values(peer.holds).every(({ size }) => size === 0)) this.#peers.delete(peer.address);
  }

  /** Who has to leave now that `newcomer` has come; undefined where there is room. */
  givesWayTo(newcomer: Connection): Connection | undefined {
    const { handshake, stranger, known } = this.#taken;
    if (handshake + stranger + known <= this.#max) return undefined;
    const crowded = handshake + stranger > this.#max * UNPROVEN_SHARE;
    const unproven = this.#unproven(newcomer);
    return (crowded ? unproven : undefined) ?? this.#mostSilent() ?? unproven ?? newcomer;
  }

  #drop(connection: Connection): boolean {
    if (!connection.peer.holds[connection.standing].delete(connection)) return false;
    this.#taken[connection.standing] -= 1;
    return true;
  }

  #unproven(newcomer: Connection): Connection | undefined {
    let oldest: Connection | undefined;
    let ofHeaviest: Connection | undefined;
    let most = 0;
    for (const { holds } of this.#peers.values()) {
      const held = holds.handshake.size + holds.stranger.size;
      const one = older(first(holds.handshake), firstSilent(holds.stranger));
      if (one === undefined || one === newcomer) continue;
      oldest = older(oldest, one);
      if (held > most) [ofHeaviest, most] = [one, held];
    }
    return oldest !== undefined && newcomer.usedAt - oldest.usedAt > SLOW_MS ? oldest : ofHeaviest;
  }

  #mostSilent(): Connection | undefined {
    const heaviestFirst = [...this.#peers.values()].sort((a, b) => b.holds.known.size - a.holds.known.size);
    for (const { holds } of heaviestFirst) {
      let found: Connection | undefined;
      for (const one of holds.known) if (!one.busy && one.usedAt < (found?.usedAt ?? Infinity)) found = one;
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

const first = (connections: ReadonlySet<Connection>): Connection | undefined =>
  connections.values().next().value;

/** The oldest that asks nothing; where all do, the oldest. */
function firstSilent(strangers: ReadonlySet<Connection>): Connection | undefined {
  for (const one of strangers) if (!one.busy) return one;
  return first(strangers);
}

const older = (one: Connection | undefined, other: Connection | undefined): Connection | undefined =>
  one === undefined || (other !== undefined && other.usedAt < one.usedAt) ? other : one;

import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import type { CrowdOf } from './attack.ts';

/** Milliseconds between two looks at how many are there. */
const EVERY_MS = 20;
/** Milliseconds that a crowd may take to come. */
const LONGEST_MS = 60_000;

/** Many connections, which come again when they are closed. */
export class Crowd {
  readonly #open = new Set<Socket>();
  readonly #target: CrowdOf & { readonly port: number; readonly secureContext: SecureContext };
  readonly #timer: NodeJS.Timeout;
  #opened = 0;
  #answered = 0;
  #joining = 0;
  #full = false;
  #filled: () => void = () => undefined;
  /** Resolves when all are there, as far as they are let in, or have had their time to come. */
  readonly there: Promise<void>;
  /** How many may come now. */
  #due = 0;

  constructor(target: CrowdOf & { readonly port: number; readonly secureContext: SecureContext }) {
    this.#target = target;
    const longest = setTimeout(() => this.#filled(), LONGEST_MS);
    this.there = new Promise((resolve) => {
      this.#filled = () => {
        clearTimeout(longest);
        resolve();
      };
    });
    this.#timer = setInterval(() => this.#fill(), EVERY_MS);
    this.#fill();
  }

  /** Leaves, and says what it came to. */
  async end(): Promise<string> {
    clearInterval(this.#timer);
    const closed = [...this.#open].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    const held = this.#open.size;
    for (const socket of this.#open) socket.destroy();
    await Promise.all(closed);
    return `${held} connections at its end, ${this.#opened} in all, ${this.#answered} answers`;
  }

  #fill(): void {
    const { connections, perSecond, again = perSecond } = this.#target;
    this.#full ||= this.#opened >= connections;
    if (this.#full && this.#joining === 0) this.#filled();
    this.#due += ((this.#full ? again : perSecond) * EVERY_MS) / 1000;
    for (; this.#due >= 1 && this.#open.size < connections; this.#due -= 1) this.#add();
    this.#due = Math.min(this.#due, 1);
  }

  #add(): void {
    const { port, secureContext, tls, addresses, join } = this.#target;
    const localAddress = addresses[this.#opened % addresses.length];
    this.#opened += 1;
    const options = { host: '127.0.0.1', port, ...(localAddress && { localAddress }) };
    this.#joining += 1;
    let joined = false;
    const arrived = (): void => {
      if (!joined) this.#joining -= 1;
      joined = true;
    };
    const socket: Socket = tls
      ? connectTls({ ...options, servername: 'localhost', secureContext })
      : connectTcp(options);
    this.#open.add(socket);
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      arrived();
      join?.(socket);
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      arrived();
      this.#open.delete(socket);
    });
    socket.on('data', () => (this.#answered += 1));
  }
}

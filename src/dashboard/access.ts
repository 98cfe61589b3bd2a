import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Why a request is not answered. */
export interface AccessRefusal {
  readonly status: 401 | 403 | 405 | 421 | 429;
  readonly code: string;
  readonly message: string;
  readonly fix: string;
}

/** A request that is not answered. */
export class Refused extends Error {
  readonly refusal: AccessRefusal;

  constructor(refusal: AccessRefusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** Refuses what a page of another site has asked for, whatever the browser was told of it. */
export function otherSite({ 'sec-fetch-site': site }: IncomingHttpHeaders): AccessRefusal | undefined {
  if (site === undefined || site === 'same-origin' || site === 'none') return undefined;
  return OTHER_ORIGIN;
}

export const OTHER_ORIGIN: AccessRefusal = {
  status: 403,
  code: 'ORIGIN',
  message: 'the request comes from a page of another origin',
  fix: 'Open the dashboard itself.',
};

export const READ_ONLY: AccessRefusal = {
  status: 405,
  code: 'METHOD',
  message: 'the dashboard changes nothing, and answers GET alone',
  fix: 'Use kubectl.',
};

const AGAIN = 'End muster dashboard, start it again, and open the address that it prints.';

/**
 * Who may read. The address has a token that works once and becomes a cookie, so that neither another account of the machine
 * nor a page of another site can ask with the rights of whoever started the dashboard.
 */
export class Access {
  readonly token = randomBytes(32).toString('base64url');
  readonly #session = randomBytes(32).toString('base64url');
  readonly #portOf: () => number;
  #used = false;

  /** @param port the port that is listened on, once a request comes */
  constructor(port: () => number) {
    this.#portOf = port;
  }

  /** Checks what holds for every request, whatever it asks for. */
  refusal(method: string | undefined, headers: IncomingHttpHeaders): AccessRefusal | undefined {
    const { host = '', origin } = headers;
    // A name that somebody else's DNS leads to this machine is another site to a browser, and to Muster.
    if (![`127.0.0.1:${this.#port}`, `localhost:${this.#port}`].includes(host))
      return {
        status: 421,
        code: 'HOST',
        message: `the dashboard answers to 127.0.0.1:${this.#port} and localhost:${this.#port} alone`,
        fix: 'Open the address that muster dashboard has printed.',
      };
    if (origin !== undefined && origin !== `http://${host}`) return OTHER_ORIGIN;
    return method === 'GET' ? undefined : READ_ONLY;
  }

  /** Takes the token of an address. @returns the cookie to set */
  exchange(token: string): string | AccessRefusal {
    if (this.#used || !same(token, this.token))
      return {
        status: 403,
        code: 'TOKEN',
        message: 'the token of this address was used before, or is not the one that was printed',
        fix: AGAIN,
      };
    this.#used = true;
    return `${this.#cookie}=${this.#session}; Path=/; HttpOnly; SameSite=Strict`;
  }

  /** Checks what holds for the data. */
  dataRefusal(headers: IncomingHttpHeaders): AccessRefusal | undefined {
    const other = otherSite(headers);
    if (other !== undefined) return other;
    const { cookie = '' } = headers;
    const given = cookie.split(/; */).filter((pair) => pair.startsWith(`${this.#cookie}=`));
    if (given.some((pair) => same(pair.slice(this.#cookie.length + 1), this.#session))) return undefined;
    return {
      status: 401,
      code: 'LOGIN',
      message: 'this browser has not opened the address with the token that muster dashboard printed',
      fix: AGAIN,
    };
  }

  get #port(): number {
    return this.#portOf();
  }

  /** Cookies are for all ports of a host, so the name has it: two dashboards do not log each other out. */
  get #cookie(): string {
    return `muster-${this.#port}`;
  }
}

function same(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}

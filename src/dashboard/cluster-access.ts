import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { OTHER_ORIGIN, otherSite, READ_ONLY, Refused, type AccessRefusal } from './access.ts';

/** Where a browser exchanges a token for a cookie. */
export const SESSION_PATH = '/api/v1/session';

/** Only sent over TLS and to this host, and not readable for a script. */
const COOKIE = '__Host-muster';
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/** Milliseconds after which a browser signs in again, whatever its token says. */
const SESSION_MS = 8 * 3_600_000;
/** Sessions at a time, and of one token, whose oldest makes room: nobody signs others out by signing in. */
const MOST_SESSIONS = 1_000;
const MOST_OF_TOKEN = 10;

/** RFC 6750's b64token: whatever else there is never becomes a header of a request to the API server. */
const BEARER = /^Bearer ([\w~+/.-]+=*)$/i;

export const SIGN_IN: AccessRefusal = {
  status: 401,
  code: 'SIGN_IN',
  message: 'the API server knows no valid token of this request',
  fix: 'Sign in with a token, such as that of kubectl create token.',
};

const FULL: AccessRefusal = {
  status: 429,
  code: 'SESSIONS_FULL',
  message: 'as many browsers are signed in as the dashboard remembers',
  fix: 'Try again once one has signed out, 8 hours after it signed in at the latest; a program sends its token and needs no session.',
};

interface Session {
  readonly token: string;
  readonly until: number;
  /** The API server does not accept the token: others may have its place. */
  refused?: boolean;
}

/**
 * Which requests the dashboard in a cluster looks at, and whose token they bring: in the header Authorization, or behind the
 * cookie of a browser that has signed in. The token itself stays in this process.
 */
export class ClusterAccess {
  readonly #hosts: readonly string[];
  readonly #now: () => number;
  /** By the hash of the cookie, so that looking one up tells nothing about the others. */
  readonly #sessions = new Map<string, Session>();

  /** @param hosts what browsers have in their address, with the port where it is none of the usual ones */
  constructor(hosts: readonly string[], now: () => number) {
    this.#hosts = hosts;
    this.#now = now;
  }

  /** Checks what holds for every request, whatever it asks for. */
  refusal({
    method = '',
    headers,
    url,
  }: Pick<IncomingMessage, 'method' | 'headers' | 'url'>): AccessRefusal | undefined {
    const { host = '', origin } = headers;
    if (!this.#hosts.includes(host))
      return {
        status: 421,
        code: 'HOST',
        message: `the dashboard answers to ${this.#hosts.join(', ')} alone`,
        fix: 'Open it by such a name, or have the one of your address added with --host.',
      };
    if (origin !== undefined && origin !== `https://${host}`) return OTHER_ORIGIN;
    if (method === 'GET' || (url === SESSION_PATH && ['POST', 'DELETE'].includes(method))) return undefined;
    return READ_ONLY;
  }

  /** The token of a request for data. @throws Refused */
  token(headers: IncomingHttpHeaders): string {
    const other = otherSite(headers);
    if (other !== undefined) throw new Refused(other);
    const { authorization } = headers;
    const token = authorization === undefined ? this.#ofCookie(headers) : BEARER.exec(authorization)?.[1];
    if (token === undefined) throw new Refused(SIGN_IN);
    return token;
  }

  /** @param token one that the API server has just accepted. @returns the cookie to set. @throws Refused */
  begin(token: string): string {
    const now = this.#now();
    const sessions = this.#sessions;
    for (const [key, { until }] of sessions) if (until <= now) sessions.delete(key);
    const full = (): boolean => sessions.size >= MOST_SESSIONS;
    for (const [key, { refused }] of sessions) if (full() && refused === true) sessions.delete(key);
    const own = [...sessions].filter(([, session]) => session.token === token);
    const [oldest] = own;
    if (oldest !== undefined && (full() || own.length >= MOST_OF_TOKEN)) sessions.delete(oldest[0]);
    else if (full()) throw new Refused(FULL);
    const name = randomBytes(32).toString('base64url');
    sessions.set(secretHash(name), { token, until: now + SESSION_MS });
    return `${COOKIE}=${name}; ${ATTRIBUTES}`;
  }

  /** Notes whether the API server accepts a token: it may refuse one for a while, as it does when it starts. */
  judged(token: string, refused: boolean): void {
    for (const session of this.#sessions.values()) if (session.token === token) session.refused = refused;
  }

  /** @returns the cookie to set, which is none any more */
  end(headers: IncomingHttpHeaders): string {
    for (const key of keysOf(headers)) this.#sessions.delete(key);
    return `${COOKIE}=; Max-Age=0; ${ATTRIBUTES}`;
  }

  #ofCookie(headers: IncomingHttpHeaders): string | undefined {
    return keysOf(headers)
      .map((key) => this.#sessions.get(key))
      .find((session) => session !== undefined && session.until > this.#now())?.token;
  }
}

const keysOf = ({ cookie = '' }: IncomingHttpHeaders): string[] =>
  cookie
    .split(/; */)
    .filter((pair) => pair.startsWith(`${COOKIE}=`))
    .map((pair) => secretHash(pair.slice(COOKIE.length + 1)));

export const secretHash = (secret: string): string => createHash('sha256').update(secret).digest('base64');

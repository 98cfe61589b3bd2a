/** The limits of the dashboard in a cluster: what is over them is told the way out, and nobody who is in loses his place. */
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startClusterDashboard } from '../../../src/dashboard/cluster-server.ts';
import { LiveGangs } from '../../../src/dashboard/live-gangs.ts';
import { UserSights } from '../../../src/dashboard/user-sight.ts';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { ApiError } from '../../../src/kube/client/errors.ts';
import { until } from '../../unit/tls/until.ts';
import { askAt, HOST, type Answered, type Asked } from './cluster-of-users.ts';

const SESSION = '/api/v1/session';
const HOUR_MS = 3_600_000;

let dashboard: Awaited<ReturnType<typeof startClusterDashboard>>;
/** Tokens that the API server does not accept, and those to which it does not answer yet. */
let bad: (token: string) => boolean;
let held: Map<string, PromiseWithResolvers<void>>;
/** Every token that it was asked with, and how many it is asked with now, and was at most. */
let asked: string[];
let atOnce: number;
let mostAtOnce: number;
let ahead: number;
/** How often somebody has asked what a user sees. */
let looks: number;

beforeEach(async () => {
  bad = (token) => token.startsWith('bad');
  held = new Map();
  asked = [];
  [atOnce, mostAtOnce, ahead, looks] = [0, 0, 0, 0];
  const now = (): number => Date.now() + ahead;
  const asUser = async <T>(token: string, ask: (client: KubeClient) => Promise<T>): Promise<T> => {
    asked.push(token);
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    const create = async (): Promise<object> => {
      await held.get(token)?.promise;
      if (bad(token)) throw new ApiError('create', { status: 401, message: 'Unauthorized' });
      return { status: { allowed: true } };
    };
    return ask({ create } as unknown as KubeClient).finally(() => (atOnce -= 1));
  };
  const nothing = (): never => {
    throw new Error('nobody asks for more than the list');
  };
  const sights = new UserSights(asUser, now);
  const of = sights.of.bind(sights);
  sights.of = (...given) => {
    looks += 1;
    return of(...given);
  };
  dashboard = await startClusterDashboard(
    {
      ...{ live: new LiveGangs(() => 0), sights, hosts: [HOST], tls: undefined, now },
      asked: () => ({ gang: nothing, plan: nothing, queues: nothing, fleet: nothing, backends: nothing }),
    },
    '127.0.0.1',
    0,
  );
});
afterEach(async () => {
  for (const { resolve } of held.values()) resolve();
  await dashboard.close();
});

const ask = (path: string, given?: Asked): Promise<Answered> => askAt(dashboard, path, given);
const signIn = (token: string): Promise<Answered> => ask(SESSION, { method: 'POST', token });
const listed = async (given: Asked): Promise<number> => (await ask('/api/v1/gangs', given)).status;
const cookieOf = ({ cookie }: Answered): Asked => ({ headers: { cookie: cookie.split(';')[0] ?? '' } });
const refusal = ({ status, body }: Answered): unknown => [status, JSON.parse(body)];

/** Asks with tokens to which the API server does not answer, until it is asked with `count` of them. */
async function occupy(count: number): Promise<Promise<number>[]> {
  const tokens = Array.from({ length: count }, (_, index) => `bad-${index}`);
  for (const token of tokens) held.set(token, Promise.withResolvers());
  const answers = tokens.map((token) => listed({ token }));
  await until('the API server is asked', () => atOnce === count);
  return answers;
}

function release(): void {
  for (const { resolve } of held.values()) resolve();
  held.clear();
}

test.each([
  ['GET', '/api/v1/gangs'],
  ['GET', '/api/v1/gangs?watch=true'],
  ['GET', '/api/v1/gangs/ml/train'],
  ['GET', '/api/v1/backends'],
  ['POST', SESSION],
])('over 32 tokens that it asks about, a new one is told to come again: %s %s', async (method, path) => {
  const answers = await occupy(32);
  const over = await ask(path, { method, token: 'new' });
  expect([refusal(over), over.cookie]).toEqual([
    [
      429,
      {
        error: {
          code: 'SIGN_IN_BUSY',
          message: 'the API server is being asked about as many tokens as it may be at a time',
          fix: 'Ask again in a few seconds.',
        },
      },
    ],
    '',
  ]);
  release();
  expect(new Set(await Promise.all(answers))).toEqual(new Set([401]));
  expect((await signIn('new')).status).toBe(200);
});

test('whoever is in waits for a turn behind bad tokens, keeps the stream, and goes before new ones', async () => {
  const session = cookieOf(await signIn('ann'));
  const socket = connect(dashboard.port, '127.0.0.1');
  let [got, ended] = ['', false];
  socket.on('data', (chunk) => (got += chunk.toString()));
  socket.on('close', () => (ended = true));
  socket.write(
    `GET /api/v1/gangs?watch=true HTTP/1.1\r\nhost: ${HOST}\r\ncookie: ${session.headers?.['cookie']}\r\n\r\n`,
  );
  await until('the stream', () => got.includes('data: '));
  // Only then is what is known about her out of date: a look before that would find a turn.
  const answers = await occupy(32);
  ahead = 30_000;
  const before = asked.length;
  const looked = looks;
  await until('the stream looks at the rights', () => looks > looked);
  let told: number | undefined;
  const waits = listed(session).then((status) => (told = status));
  expect((await signIn('new')).status).toBe(429);
  expect([told, asked.length, ended]).toEqual([undefined, before, false]);
  held.get('bad-0')?.resolve();
  await waits;
  expect([told, asked.slice(before)]).toEqual([200, ['ann']]);
  release();
  await Promise.all(answers);
  expect([mostAtOnce, ended, got.includes('\r\n0\r\n')]).toEqual([32, false, false]);
  socket.destroy();
}, 60_000);

test('one token is asked about once, however many pages it has', async () => {
  held.set('ann', Promise.withResolvers());
  const answers = Array.from({ length: 100 }, () => listed({ token: 'ann' }));
  await until('one is asked', () => asked.length === 1);
  release();
  expect([new Set(await Promise.all(answers)), asked]).toEqual([new Set([200]), ['ann']]);
});

test('bad sign-ins leave nothing behind: who is in stays known', async () => {
  const began = Date.now();
  const session = cookieOf(await signIn('ann'));
  const statuses = new Set<number>();
  for (let group = 0; group < 1_200; group += 24)
    for (const { status } of await Promise.all(
      Array.from({ length: 24 }, (_, index) => signIn(`bad-${group + index}`)),
    ))
      statuses.add(status);
  expect([statuses, asked.length]).toEqual([new Set([401]), 1_201]);
  // Neither the answer about ann nor her session has made room for them, however long it took.
  ahead = began - Date.now();
  expect([await listed(session), asked.length]).toEqual([200, 1_201]);
}, 60_000);

/** A hundred tokens with ten sessions each: as many as there are. @returns them by token, the oldest first */
async function full(): Promise<Map<string, Asked[]>> {
  const sessions = new Map<string, Asked[]>();
  for (let user = 0; user < 100; user += 1) {
    const token = `user-${user}`;
    sessions.set(token, []);
    for (let one = 0; one < 10; one += 1) sessions.get(token)?.push(cookieOf(await signIn(token)));
  }
  return sessions;
}

const FULL = [
  429,
  {
    error: {
      code: 'SESSIONS_FULL',
      message: 'as many browsers are signed in as the dashboard remembers',
      fix: 'Try again once one has signed out, 8 hours after it signed in at the latest; a program sends its token and needs no session.',
    },
  },
];

test('over 1,000 sessions a new one is refused with the way out, and all others stay', async () => {
  const sessions = await full();
  const of = (user: number): readonly Asked[] => sessions.get(`user-${user}`) ?? [];
  const first = (user: number): Asked => of(user)[0] ?? {};

  const over = await signIn('new');
  expect([refusal(over), over.cookie]).toEqual([FULL, '']);
  // A program needs none.
  expect(await listed({ token: 'new' })).toBe(200);
  for (const all of sessions.values()) expect(await listed(all[0] ?? {})).toBe(200);

  // Whoever is in may sign in once more, in place of his own oldest one.
  const again = cookieOf(await signIn('user-3'));
  expect(await listed(again)).toBe(200);
  expect(await Promise.all(of(3).map(listed))).toEqual([401, ...Array.from({ length: 9 }, () => 200)]);
  expect(refusal(await signIn('new'))).toEqual(FULL);

  // A place becomes free by signing out, ...
  await ask(SESSION, { method: 'DELETE', ...first(4) });
  const taken = await signIn('new');
  expect([taken.status, refusal(await signIn('newer'))]).toEqual([200, FULL]);

  // ... by a token that the API server does not accept any more, ...
  const known = bad;
  bad = (token) => token === 'user-6' || token === 'user-5' || known(token);
  ahead = 30_000;
  expect([await listed(first(6)), await listed(first(5))]).toEqual([401, 401]);
  // ... but not where it accepts it again, ...
  bad = (token) => token === 'user-6' || known(token);
  expect(await listed(first(5))).toBe(200);
  expect((await signIn('newer')).status).toBe(200);
  bad = known;
  expect(await Promise.all(of(5).map(listed))).toEqual(Array.from({ length: 10 }, () => 200));
  expect(await Promise.all(of(6).map(listed))).toEqual([401, ...Array.from({ length: 9 }, () => 200)]);

  // ... and with time.
  ahead = 8 * HOUR_MS + 60_000;
  expect([await listed(first(7)), (await signIn('newest')).status]).toEqual([401, 200]);
}, 120_000);

/** Requests for plans over real sockets: one at a time, and none for nobody. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { until } from '../../unit/tls/until.ts';
import { DashboardOfGangs, planFor, someGang } from './some-gangs.ts';
import { askingAt, type Asks } from './started.ts';

let dashboard: DashboardOfGangs;
let ask: Asks;

beforeEach(async () => {
  dashboard = await DashboardOfGangs.start([someGang('train')]);
  ask = await askingAt(dashboard.address);
});
afterEach(() => dashboard.close());

const planOf = async (
  name: string,
  { query = '', signal }: { query?: string; signal?: AbortSignal } = {},
): Promise<unknown> => {
  const answer = await ask(`/api/v1/gangs/ml/${name}/plan${query}`, signal);
  return [answer.status, await answer.json()];
};

const BUSY = {
  code: 'PLAN_BUSY',
  message: 'another plan is being made, and the dashboard makes one at a time',
  fix: 'Ask again in a few seconds.',
};

test('a plan is asked for on demand, and answered as JSON', async () => {
  expect(await planOf('train')).toEqual([200, planFor('train')]);
  expect(await planOf('nobody')).toMatchObject([404, { error: { code: 'GANG_UNKNOWN' } }]);
});

test.each(['kep', 'kube-1.36', 'kube-1.37'] as const)(
  'by variant %s, as it is asked for',
  async (variant) => {
    expect(await planOf('train', { query: `?variant=${variant}` })).toEqual([200, planFor('train', variant)]);
  },
);

const refusedAs = (code: string, message: string, fix: string) => [400, { error: { code, message, fix } }];

/** What is wrong with a query, in which its value is shown as it is in JSON. */
const noVariant = (said: string) =>
  refusedAs(
    'PLAN_VARIANT',
    `variant is ${said}, and has to be one of kep, kube-1.36, kube-1.37`,
    'Ask with ?variant= and one of these, or without it for kep, as muster plan does.',
  );
const noMinimum = (said: string) =>
  refusedAs(
    'PLAN_MINIMUM',
    `minimum is ${said}, and has to be a group and its minReplicas, each group once`,
    'Ask with ?minimum=worker=4, again for a further group, or without it for the gang as it is.',
  );

test.each([
  ['variant=', noVariant('""')],
  ['variant=kube-1.35', noVariant('"kube-1.35"')],
  ['variant=KEP', noVariant('"KEP"')],
  ['variant=kep&variant=kube-1.36', noVariant('["kep","kube-1.36"]')],
  ['variant=constructor', noVariant('"constructor"')],
  ['variant=%1b%5b2J', noVariant('"\\u001b[2J"')],
  ['minimum=', noMinimum('""')],
  ['minimum=leader', noMinimum('"leader"')],
  ['minimum==1', noMinimum('"=1"')],
  ['minimum=leader=-1', noMinimum('"leader=-1"')],
  ['minimum=leader=1.5', noMinimum('"leader=1.5"')],
  ['minimum=leader=1&minimum=leader=2', noMinimum('"leader=2"')],
])('by %s is refused, and nothing is listed for it', async (query, refusal) => {
  dashboard.planned = () => Promise.reject(new Error('it was asked'));
  expect(await planOf('train', { query: `?${query}` })).toEqual(refusal);
});

test('a second one is refused while the first is made, and the page goes on', async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  let begun = 0;
  dashboard.planned = () => {
    begun += 1;
    return promise;
  };
  const first = planOf('train');
  await until('the first', () => begun === 1);
  expect(await planOf('train')).toEqual([429, { error: BUSY }]);
  expect((await ask('/api/v1/gangs')).status).toBe(200);
  resolve(undefined);
  expect(await first).toEqual([200, planFor('train')]);
  expect(await planOf('train')).toEqual([200, planFor('train')]);
});

test('one that fails, or that nobody waits for any more, makes way for the next', async () => {
  dashboard.planned = () => Promise.reject(new TypeError('a defect'));
  expect(await planOf('train')).toMatchObject([500, { error: { code: 'FAILED', message: 'a defect' } }]);

  let given: AbortSignal | undefined;
  dashboard.planned = (signal) => {
    given = signal;
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('nobody waits')));
    });
  };
  const browser = new AbortController();
  const left = planOf('train', { signal: browser.signal }).catch(() => 'left');
  await until('the request', () => given !== undefined);
  browser.abort();
  expect(await left).toBe('left');
  await until('the end', () => given?.aborted === true);
  dashboard.planned = () => Promise.resolve();
  expect(await planOf('train')).toEqual([200, planFor('train')]);
});

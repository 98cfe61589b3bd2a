/** Another protocol beside AdmissionReview: its paths are its own; limits, deadline, drain and TLS are the server's. */
import { afterEach, expect, test } from '@jest/globals';
import { ENVIRONMENT_AND_VOLUMES, MANAGED_FIELDS } from '../../../src/json/unread-lists.ts';
import { BadRequest, TryLater } from '../../../src/errors.ts';
import { ALL_READ, type WebhookEndpoint } from '../../../src/api/webhook-endpoint.ts';
import { httpRequest } from './wire.ts';
import { closeAll, expectStatus, start } from './running.ts';

afterEach(closeAll);

const PATH = '/interpret';
interface Question {
  readonly request?: { readonly uid: string };
  readonly ask?: string;
}

/** Answers what it is asked; late, never or not at all where that is what is asked for. */
const echo = (sent: string[] = []): WebhookEndpoint => ({
  path: PATH,
  handle: ({ body }) => {
    const { ask } = body as Question;
    const answer = {
      body: JSON.stringify({ said: ask }),
      operation: 'Interpret',
      outcome: 'allowed' as const,
      sent: () => void sent.push(String(ask)),
    };
    if (ask === undefined) throw new BadRequest('ask: a string is needed');
    if (ask === 'busy') throw new TryLater('not-ready', 'the interpreter has not begun');
    if (ask === 'broken') throw new TypeError('a defect');
    if (ask === 'never') return new Promise(() => undefined);
    return ask === 'late' ? Promise.resolve(answer) : answer;
  },
});
const asking = (question: Question): string => JSON.stringify(question);

test('is answered in its own words, at once or late, and counted under its path', async () => {
  const sent: string[] = [];
  const running = await start({ endpoints: [echo(sent)] });
  for (const ask of ['now', 'late']) {
    const { status, body, headers } = await running.post(PATH, asking({ ask }));
    expect([status, body, headers['content-type']]).toEqual([200, `{"said":"${ask}"}`, 'application/json']);
  }
  expect(sent).toEqual(['now', 'late']);
  const counted = `muster_admission_requests_total{path="${PATH}",operation="Interpret",outcome="allowed"}`;
  expect(await running.metric(counted)).toBe(2);
  await running.alive();
});

test('has the limits, the deadline and the failures of the server', async () => {
  const running = await start({
    endpoints: [echo()],
    settings: { 'server.webhooks.limits.maxBodyBytes': 65_536 },
  });
  expectStatus(await running.post(PATH, '{'), 400, /not JSON/);
  expectStatus(await running.post(PATH, asking({ request: { uid: 'q1' } })), 400, /ask: a string is needed/);
  expectStatus(await running.post(PATH, asking({ ask: 'x'.repeat(70_000) })), 413, /larger than 65536/);
  expectStatus(await running.call(httpRequest(PATH, '', { method: 'GET' })), 405, /POST/);
  const broken = await running.post(PATH, asking({ request: { uid: 'q2' }, ask: 'broken' }));
  expectStatus(broken, 500, /an unexpected error, see the log/);
  expect(broken.body).toContain('"details":{"uid":"q2"}');
  expect(running.lines.join('\n')).toMatch(/a defect/);
  const busy = await running.post(PATH, asking({ ask: 'busy' }));
  expectStatus(busy, 503, /the interpreter has not begun; the API server retries/);
  expect(busy.headers['retry-after']).toBe('1');
  expectStatus(await running.post(`${PATH}?timeout=1s`, asking({ ask: 'never' })), 504, /within 750 ms/);
});

/** A body with a list that is left out, and one of more than a small body's size, which is parsed in steps. */
test.each([8, 200_000])(
  'reads all of a body of a namespace that asks for it, once (%d bytes more)',
  async (more) => {
    const asked: unknown[] = [];
    const lists: WebhookEndpoint = {
      ...echo(),
      unread: ({ namespace }) =>
        namespace === 'whole' ? ALL_READ : [MANAGED_FIELDS, ENVIRONMENT_AND_VOLUMES],
      handle: (request) => {
        const { body } = request;
        const entire = request.entire();
        asked.push([envOf(body), entire === body, envOf(entire)]);
        return { body: '{}', operation: 'Interpret', outcome: 'allowed', sent: () => undefined };
      },
    };
    const running = await start({ endpoints: [lists] });
    for (const namespace of ['whole', 'other', 'whole']) {
      const body = { namespace, env: [{ name: 'A' }], padding: 'x'.repeat(more) };
      expect((await running.post(PATH, JSON.stringify(body))).status).toBe(200);
    }
    const whole = [[{ name: 'A' }], true, [{ name: 'A' }]];
    expect(asked).toEqual([whole, [[], false, [{ name: 'A' }]], whole]);
  },
);

const envOf = (body: unknown): unknown => (body as { env?: unknown }).env ?? [];

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MUTATE_GANG, MUTATE_POD, VALIDATE_GANG, VALIDATE_POD, goldenText } from './bodies.ts';
import { closeAll, expectGolden, expectStatus, responseOf, start, type Running } from './running.ts';
import { Wire, httpRequest, type WireAnswer } from './wire.ts';

let running: Running;
beforeAll(async () => void (running = await start()));
afterAll(closeAll);

const PATHS = [MUTATE_POD, VALIDATE_POD, MUTATE_GANG, VALIDATE_GANG];

describe('V01: another method than POST is refused with 405 and Allow', () => {
  const cases = PATHS.flatMap((path) =>
    ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'].map((method) => [method, path] as const),
  );
  test.each(cases)('%s %s', async (method, path) => {
    const answer = await running.call(httpRequest(path, '', { method }));
    expectStatus(answer, 405, /POST a review/);
    expect(answer.headers['allow']).toBe('POST');
  });
  test('a PUT with a body, and the connection serves on', async () => {
    const wire = await Wire.open(running.port);
    expectStatus(
      await wire.send(httpRequest(MUTATE_POD, goldenText, { method: 'PUT' })).answer(),
      405,
      /PUT is not served/,
    );
    wire.destroy();
    await running.alive();
  });
});

describe('V02: an unknown path is refused with 404', () => {
  test.each([
    '/',
    '/nope',
    '/mutate/../x',
    `${MUTATE_POD}/`,
    `${MUTATE_POD}/../x`,
    `/${MUTATE_POD}`,
    '/mutate-v1-pods',
    '/%zz',
    '/%00',
    '/__proto__',
    '/metrics',
    '/readyz',
    '*',
  ])('%s', async (path) => {
    expectStatus(await running.post(path, goldenText), 404, /no such path/);
  });
  test('V01, V02: a method that HTTP knows and nobody serves is refused, by method or by path', async () => {
    const answer = await running.call(httpRequest(MUTATE_POD, '', { method: 'PROPFIND' }));
    expect([404, 405]).toContain(answer.status);
    expectStatus(answer, answer.status, /no such path|not served here/);
  });
});

describe('found by fuzzing', () => {
  test.each(['200-ok', 'x', ''])('a review that expects %j is answered like any other', async (value) => {
    const request = httpRequest(MUTATE_POD, goldenText, { headers: { Expect: value } });
    expectGolden(await running.call(request));
  });
});

test('found by fuzzing: a review that names no host is answered like any other', async () => {
  expectGolden(await running.call(httpRequest(MUTATE_POD, goldenText, { headers: { Host: undefined } })));
});

describe('V03: the query never costs a Pod', () => {
  test.each([
    '',
    '?timeout=10s',
    '?timeout=banana',
    '?timeout=',
    '?timeout=-5s',
    '?timeout=0s',
    '?timeout=99999999999h',
    '?timeout=1m30s&x=y',
    '?x=%zz',
    '?__proto__[x]=1',
  ])('"%s"', async (query) => expectGolden(await running.post(MUTATE_POD + query, goldenText)));
});

const withType = (type: string | undefined): Promise<Awaited<ReturnType<Running['call']>>> =>
  running.call(httpRequest(MUTATE_POD, goldenText, { headers: { 'Content-Type': type } }));

describe('V05: another Content-Type than JSON is refused with 415', () => {
  test.each([
    'text/plain',
    undefined,
    '',
    'application/yaml',
    'application/jsonp',
    'application/json+x',
    'json',
  ])('%s', async (type) => expectStatus(await withType(type), 415, /must be application\/json/));
});

describe('V06: parameters of the Content-Type are ignored', () => {
  test.each([
    'application/json; charset=utf-8',
    'application/json;charset=utf-8',
    'Application/JSON',
    'application/json ; x="y"',
  ])('%s', async (type) => expectGolden(await withType(type)));
});

describe('more headers than anybody needs', () => {
  const withMore = (count: number): Promise<WireAnswer> => {
    const headers = Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, String(at)]));
    return running.call(httpRequest(MUTATE_POD, goldenText, { headers }));
  };

  test('some more do no harm', async () => expectGolden(await withMore(90)));

  test('hundreds are refused with 431', async () => expectStatus(await withMore(500), 431, /more than 100/));
});

describe('V07: a compressed body is refused with 415', () => {
  test.each(['gzip', 'br', 'identity, gzip'])('%s', async (encoding) => {
    const bytes = httpRequest(MUTATE_POD, goldenText, { headers: { 'Content-Encoding': encoding } });
    expectStatus(await running.call(bytes), 415, /must not be compressed/);
  });
  test('identity is no compression', async () => {
    const bytes = httpRequest(MUTATE_POD, goldenText, { headers: { 'Content-Encoding': 'identity' } });
    expectGolden(await running.call(bytes));
  });
});

describe('V08: nothing is no review', () => {
  test.each([
    ['no body', ''],
    ['a body of spaces', '     '],
    ['a newline', '\n'],
  ])('%s is refused with 400', async (_, body) => {
    expectStatus(await running.post(MUTATE_POD, body), 400, /.+/);
  });
  test('neither Content-Length nor Transfer-Encoding', async () => {
    const bytes = httpRequest(MUTATE_POD, '', { headers: { 'Content-Length': undefined } });
    expectStatus(await running.call(bytes), 400, /the body is empty/);
  });
});

describe('V20: requests in a row on one connection', () => {
  test('two pipelined requests get two answers in order', async () => {
    const wire = await Wire.open(running.port);
    const uids = ['first', 'second', 'third'];
    wire.send(
      Buffer.concat(
        uids.map((uid) =>
          httpRequest(MUTATE_POD, goldenText.replace('705ab4f5-6393-11e8-b7cc-42010a800002', uid)),
        ),
      ),
    );
    for (const uid of uids) expect(responseOf(await wire.answer())).toMatchObject({ uid, allowed: true });
    wire.destroy();
  });
  test('one that is refused in the middle does not shift the others', async () => {
    const wire = await Wire.open(running.port);
    const good = httpRequest(MUTATE_POD, goldenText);
    wire.send(Buffer.concat([good, httpRequest(MUTATE_POD, '{}'), good]));
    expectGolden(await wire.answer());
    expectStatus(await wire.answer(), 400, /AdmissionReview is needed/);
    expectGolden(await wire.answer());
    wire.destroy();
  });
  test('an answer that ends its connection says so, and nothing follows it', async () => {
    const wire = await Wire.open(running.port);
    wire.send(Buffer.concat([httpRequest(MUTATE_POD, '{'), httpRequest(MUTATE_POD, goldenText)]));
    const answer = await wire.answer();
    expectStatus(answer, 400, /not JSON/);
    if (answer.headers['connection'] !== 'close') {
      expectGolden(await wire.answer()); // the connection may as well serve on
      wire.destroy();
      return;
    }
    await wire.closed();
    expect({ unread: wire.unread, error: wire.error }).toEqual({ unread: '', error: undefined });
  });
});

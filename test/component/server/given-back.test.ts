/** The memory of large bodies does not wait until V8 collects garbage, for which it would look through the whole heap. */
import { afterEach, expect, jest, test } from '@jest/globals';
import { freeChunk, freeBody } from '../../../src/server/request-body.ts';
import { gangPod } from '../../support/pods.ts';
import { review } from '../../support/reviews.ts';
import { MUTATE_POD, reviewText } from './bodies.ts';
import { closeAll, responseOf, start } from './running.ts';

afterEach(closeAll);
afterEach(() => void jest.restoreAllMocks());

/** Bytes of each memory that was given back. */
function watched(): number[] {
  const given: number[] = [];
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with its own object
  const { transfer } = ArrayBuffer.prototype;
  jest.spyOn(ArrayBuffer.prototype, 'transfer').mockImplementation(function (this: ArrayBuffer, length) {
    if (length === 0) given.push(this.byteLength);
    return transfer.call(this, length);
  });
  return given;
}

const bodyOf = (bytes: number): string =>
  reviewText(review('Pod', { object: gangPod({ metadata: { annotations: { note: 'n'.repeat(bytes) } } }) }));

test('the pieces of a body once they are joined, and the body with its answer', async () => {
  const running = await start();
  const given = watched();
  for (const bytes of [100_000, 1_500_000]) {
    const body = bodyOf(bytes);
    expect(responseOf(await running.post(MUTATE_POD, body))).toMatchObject({ allowed: true });
    const [whole = 0, ...pieces] = given.splice(0).sort((a, b) => b - a);
    expect(whole).toBeGreaterThanOrEqual(body.length);
    expect(pieces.reduce((sum, one) => sum + one, 0)).toBe(body.length);
  }
  await running.alive();
});

test('a small one, which came in one piece', async () => {
  const running = await start();
  const given = watched();
  const body = bodyOf(100);
  expect(responseOf(await running.post(MUTATE_POD, body))).toMatchObject({ allowed: true });
  expect(given).toEqual([Buffer.byteLength(body)]);
  await running.alive();
});

test('never what shares its memory with others', () => {
  const [one, other] = [Buffer.from('one'), Buffer.from('other')];
  freeChunk(one);
  freeBody(one);
  expect([one.toString(), other.toString()]).toEqual(['one', 'other']);
  const read = Buffer.allocUnsafeSlow(10);
  freeChunk(read.subarray(0, 9));
  expect(read).toHaveLength(10);
  freeChunk(read);
  expect(read).toHaveLength(0);
  // A body has its memory for itself, and room behind it.
  const grown = Buffer.allocUnsafeSlow(10);
  freeBody(grown.subarray(0, 4));
  expect(grown).toHaveLength(10);
  freeBody(grown.subarray(0, 6));
  expect(grown).toHaveLength(0);
});

/** How many files of src whoever follows a review has to read: each is entered once, on its way from TLS to the answer. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const MOST_FILES = 31;
const PROGRAM = fileURLToPath(new URL('entered-files-program.ts', import.meta.url));

interface Entered {
  readonly files: readonly string[];
  readonly status: string;
  readonly patched: boolean;
}

test('a Pod’s review enters at most 31 files of src', async () => {
  // Coverage of this run, where it is on, is none of the program's.
  const env = { ...process.env };
  delete env['NODE_V8_COVERAGE'];
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM], { env, timeout: 100_000 });
  const reviews = JSON.parse(stdout) as readonly Entered[];
  expect(reviews.map(({ status, patched }) => [status, patched])).toEqual(
    Array.from({ length: 3 }, () => ['HTTP/1.1 200 OK', true]),
  );
  const [first] = reviews;
  const inEach = first?.files.filter((file) => reviews.every(({ files }) => files.includes(file))) ?? [];
  // Those without which there is no review: something was counted at all.
  expect(inEach).toEqual(
    expect.arrayContaining([
      'admission/pods.ts',
      'admission/review.ts',
      'json/json.ts',
      'server/exchange.ts',
    ]),
  );
  expect(inEach.length <= MOST_FILES ? [] : inEach).toEqual([]);
});

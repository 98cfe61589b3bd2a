import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Rest } from '../../../../src/cli/serve/memory-at-rest.ts';

const SOURCE = join(import.meta.dirname, '../../../../src/cli/serve/memory-at-rest.ts');

test('memory is saved for six looks from when the thread rests, and again when it has worked in between', () => {
  const rest = new Rest();
  const saves = (...utilizations: number[]): boolean[] => utilizations.map((one) => rest.savesAfter(one));
  expect(saves(0.5, 0.05)).toEqual([false, false]);
  expect(saves(0.049, 0, 0, 0.01, 0, 0)).toEqual([true, true, true, true, true, true]);
  expect(saves(0, 0, 0)).toEqual([false, false, false]);
  expect(saves(0.9, 0, 0.3, 0.02)).toEqual([false, true, false, true]);
});

// Buffers that live long enough to be taken for lasting, beside enough of a heap to be collected as a whole now and then.
const BUSY_THEN_AT_REST = `
  const { saveMemoryAtRest } = await import(process.argv[1]);
  const end = saveMemoryAtRest(100);
  const kept = [];
  let buffers = [];
  const MIB = 2 ** 20;
  while (process.memoryUsage().arrayBuffers < 24 * MIB) {
    for (let n = 0; n < 2_000; n += 1) kept.push({ n, text: 'text ' + n });
    for (let n = 0; n < 64; n += 1) buffers.push(Buffer.allocUnsafeSlow(8_192));
  }
  buffers = [];
  const before = process.memoryUsage().arrayBuffers / MIB;
  setInterval(() => {
    const after = process.memoryUsage().arrayBuffers / MIB;
    if (after > 2) return;
    end();
    console.log(before >= 24, after <= 2, kept.length > 0);
    process.exit();
  }, 50);
`;

test('V8 frees what is left of busy times once the thread rests', () => {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [
      ...['--gc-memory-reducer-start-delay-ms=0', '--memory-reducer-delay-ms=200'],
      ...['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', BUSY_THEN_AT_REST, SOURCE],
    ],
    { encoding: 'utf8', timeout: 60_000 },
  );
  expect({ stdout, stderr, status }).toEqual({ stdout: 'true true true\n', stderr: '', status: 0 });
});

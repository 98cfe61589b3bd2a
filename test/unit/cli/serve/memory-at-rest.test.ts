import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Rest } from '../../../../src/cli/serve/memory-at-rest.ts';

const SOURCE = join(import.meta.dirname, '../../../../src/cli/serve/memory-at-rest.ts');

test('memory is saved for thirty looks, from the tenth in a row on that finds the thread at rest', () => {
  const rest = new Rest();
  const saves = (looks: number, utilization: number): number =>
    Array.from({ length: looks }, () => rest.savesAfter(utilization)).filter(Boolean).length;
  expect(saves(20, 0.05)).toBe(0);
  expect(saves(9, 0.049)).toBe(0);
  expect(saves(1, 0.05)).toBe(0);
  expect(saves(9, 0)).toBe(0);
  expect(saves(30, 0.01)).toBe(30);
  expect(saves(1_000, 0)).toBe(0);
});

test('work meanwhile, as of a collection, ends nothing and begins nothing; after work and another rest it is saved again', () => {
  const rest = new Rest();
  const saves = (looks: number, utilization: number): number =>
    Array.from({ length: looks }, () => rest.savesAfter(utilization)).filter(Boolean).length;
  expect([saves(10, 0), saves(5, 0.3), saves(40, 0)]).toEqual([1, 5, 24]);
  expect([saves(1, 0.3), saves(9, 0), saves(1, 0)]).toEqual([0, 0, 1]);
});

// Buffers that live long enough to be taken for lasting, beside enough of a heap to be collected as a whole now and then.
const BUSY_THEN_AT_REST = `
  const { saveMemoryAtRest } = await import(process.argv[1]);
  const end = saveMemoryAtRest(20);
  // V8's bounds come down to what lives only with some collections.
  for (let n = 0; n < 1_000_000; n += 1) JSON.parse('[' + n + ']');
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

const run = (script: string, flags: readonly string[] = [], ...words: string[]) => {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [
      ...flags,
      '--disable-warning=ExperimentalWarning',
      '--input-type=module',
      '-e',
      script,
      SOURCE,
      ...words,
    ],
    { encoding: 'utf8', timeout: 60_000 },
  );
  return { stdout, stderr, status };
};
/** As the image starts the program, so far as it concerns collections. */
const OF_IMAGE = [
  '--max-semi-space-size=8',
  '--heap-growing-percent=60',
  '--external-memory-accounted-in-global-limit',
];

test('V8 frees what is left of busy times once the thread rests', () => {
  expect(run(BUSY_THEN_AT_REST, OF_IMAGE)).toEqual({ stdout: 'true true true\n', stderr: '', status: 0 });
});

// Optimised code for objects of which none is left, as of reviews between two of them.
const OPTIMISED_THEN_AT_REST = `
  const { saveMemoryAtRest } = await import(process.argv[1]);
  const { constants, PerformanceObserver } = await import('node:perf_hooks');
  const reviewed = (n) => JSON.parse('{"onlyHere":' + n + '}').onlyHere;
  for (let n = 0; n < 1_000_000; n += 1) reviewed(n);
  const OPTIMISED = 16;
  const isOptimised = () => (%GetOptimizationStatus(reviewed) & OPTIMISED) > 0;
  const before = isOptimised();
  saveMemoryAtRest(20);
  new PerformanceObserver((seen) => {
    if (seen.getEntries().every(({ detail }) => detail.kind !== constants.NODE_PERFORMANCE_GC_MAJOR)) return;
    const kept = isOptimised();
    gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    console.log(before, kept, isOptimised());
    process.exit();
  }).observe({ entryTypes: ['gc'] });
  setInterval(() => undefined, 1_000);
`;

test('the code of what came before the rest is kept, where a collection that saves memory takes it', () => {
  const flags = ['--allow-natives-syntax', '--expose-gc', ...OF_IMAGE];
  const kept = { stdout: 'true true false\n', stderr: '', status: 0 };
  expect(run(OPTIMISED_THEN_AT_REST, flags)).toEqual(kept);
});

// V8 is asked by its flag, and told how much of the heap is in use by a list.
const GAPS_AT_REST = `
  const [source, gapsMiB] = process.argv.slice(1);
  const v8 = process.getBuiltinModule('node:v8');
  const said = [];
  v8.setFlagsFromString = (flag) => said.push(flag);
  v8.getHeapSpaceStatistics = () => [
    { space_name: 'new_space', space_size: 2 ** 30, space_used_size: 0 },
    { space_name: 'old_space', space_size: (50 + Number(gapsMiB)) * 2 ** 20, space_used_size: 50 * 2 ** 20 },
  ];
  process.getBuiltinModule('node:module').syncBuiltinESMExports();
  const { saveMemoryAtRest } = await import(source);
  const end = saveMemoryAtRest(20);
  let looks = 0;
  const timer = setInterval(() => {
    looks += 1;
    if (looks < 30 && said.length < 2) return;
    clearInterval(timer);
    end();
    console.log(...said);
  }, 40);
`;

test.each([
  [17, '--optimize-for-size --no-optimize-for-size\n'],
  [16, '\n'],
])('with %i MiB free between lasting objects V8 is told: %j', (gaps, stdout) => {
  expect(run(GAPS_AT_REST, [], String(gaps))).toEqual({ stdout, stderr: '', status: 0 });
});

// Buffers of which every second stays: what is freed lies between what is in use.
const FREED_BETWEEN = `
  const { trimOfGlibc } = await import(process.argv[1]);
  const { emitWarning } = process;
  const giveBack = trimOfGlibc();
  const kept = [];
  let freed = [];
  for (let n = 0; n < 4_000; n += 1) {
    freed.push(Buffer.allocUnsafeSlow(16_384).fill(1));
    kept.push(Buffer.allocUnsafeSlow(512).fill(1));
  }
  freed = [];
  gc();
  const rss = () => process.memoryUsage.rss() / 2 ** 20;
  while (process.memoryUsage().arrayBuffers > 8 * 2 ** 20) await new Promise(setImmediate);
  const before = rss();
  giveBack();
  console.log(before - rss() > 40, kept.length, process.emitWarning === emitWarning);
`;

test('the C library gives back what was freed, and Node does not warn of how it is asked to', () => {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--expose-gc', '--input-type=module', '-e', FREED_BETWEEN, SOURCE],
    {
      env: { ...process.env, MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072' },
      encoding: 'utf8',
      timeout: 60_000,
    },
  );
  expect({ stdout, stderr, status }).toEqual({ stdout: 'true 4000 true\n', stderr: '', status: 0 });
});

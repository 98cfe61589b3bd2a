/** A backend is tried out in a thread of its own: whatever it does there, the command goes on and says so. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cli, type Said } from '../../cluster/support/muster-cli.ts';

/** A backend with one member more, or another one. */
const backend = (members: string, before = ''): string => `
import { BACKEND_CONTRACT_VERSION, newlyUnheard, unheardTerms } from 'muster';
const PREEMPTS = { scheduler: 'cart', always: { mode: 'Pod', says: 'one by one' } };
${before}
export default {
  name: 'cart',
  create: ({ config }) => {
    if (Object.keys(config).length > 0) throw new Error(Object.keys(config).join());
    return {
      contractVersion: BACKEND_CONTRACT_VERSION, name: 'cart', schedulerName: 'cart',
      patchSurface: { schedulerName: true },
      init: () => Promise.resolve({ version: '1' }),
      preparePod: (_pod, _gang, patch) => patch.setSchedulerName('cart', 'asked for'),
      validatePodGang: (gang) => ({ faults: [], warnings: unheardTerms(gang, PREEMPTS) }),
      warnOfUpdate: (before, after) => newlyUnheard(before, after, PREEMPTS),
      syncPodGang: () => Promise.resolve(),
      onPodGangDelete: () => Promise.resolve(),
      ${members}
    };
  },
};`;

/** Without an end, and at work when that is found out: until then it spares the processor, whose time is not the subject. */
const FOR_EVER =
  'for (let rests = 95; ; rests -= 1) if (rests > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);';
const LOOP = 'it was at work for 10 s and let nothing else run: a loop without an end';

const MODULES: Readonly<Record<string, string>> = {
  'sound.mjs': backend(''),
  'loop.mjs': backend(`validatePodGang: () => { ${FOR_EVER} },`),
  'exit.mjs': backend('explain: () => process.exit(7),'),
  'late.mjs': backend('owns: () => { setImmediate(() => { throw new Error("too late"); }); return []; },'),
  'at-once.mjs': backend('', FOR_EVER),
  // What a busy machine does to the start of a thread.
  'late-start.mjs': `import { isMainThread } from 'node:worker_threads';
    if (!isMainThread) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 11_000);`,
};

describe('muster conformance --module', () => {
  let folder: string;
  /** Begun before all others, since it takes as long as the longest of them. */
  let startedLate: Promise<Said>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-conformance-'));
    for (const [file, text] of Object.entries(MODULES)) await writeFile(join(folder, file), text);
    startedLate = tried('sound.mjs', '--import', join(folder, 'late-start.mjs'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const tried = (file: string, ...flags: readonly string[]) =>
    cli(['conformance', '--module', join(folder, file)], flags);

  test('one in which nothing is wrong', async () => {
    const { code, out } = await tried('sound.mjs');
    expect({ code, last: out.trim().split('\n').at(-1) }).toEqual({
      code: 0,
      last: expect.stringMatching(/^cart: \d+ passed, 0 failed, 0 skipped$/) as unknown,
    });
  });

  test('a loop without an end fails its rule; what does not need it is tried all the same', async () => {
    const { code, out } = await tried('loop.mjs');
    expect(code).toBe(1);
    expect(out).toContain(`✗ validate-pure: ${LOOP}\n`);
    expect(out).toContain('- takes-a-gang: says nothing while validate-pure is broken\n');
    expect(out).toContain('✓ explain: ');
    expect(out).toMatch(/\ncart: \d+ passed, 1 failed, \d+ skipped\n$/);
  });

  test.each([
    ['exit.mjs', '✗ explain: it ended the process, with exit code 7\n'],
    ['late.mjs', '✗ surface: it threw "too late" where nobody could catch it\n'],
  ])('%s', async (file, says) => {
    const { code, out } = await tried(file);
    expect(code).toBe(1);
    expect(out).toContain(says);
    expect(out).toMatch(/\ncart: \d+ passed, \d+ failed, \d+ skipped\n$/);
  });

  test('the time that its thread takes to start is not its own', async () => {
    expect((await startedLate).out).toMatch(/\ncart: \d+ passed, 0 failed, 0 skipped\n$/);
  });

  test('a module that never loads', async () => {
    const { code, out } = await tried('at-once.mjs');
    expect(code).toBe(1);
    expect(out).toContain(`error[BACKEND_MODULE_INVALID]: the backend does not load: ${LOOP}\n`);
    expect(out).toContain('fix: correct the module: ');
  });
});

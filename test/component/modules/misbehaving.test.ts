/** A module can do nothing to the process that has it run. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { ModuleLimits } from '../../../src/modules/process-limits.ts';
import { host, laterOf, moduleText, PATIENT, type Hosting } from './hosting.ts';

let hosting: Hosting | undefined;
afterEach(() => hosting?.close());

const start = async (text: string, limits: Partial<ModuleLimits> = PATIENT): Promise<Hosting> => {
  hosting = await host(text, limits);
  return hosting;
};

describe('at its start', () => {
  test.each<[string, string, string | RegExp, Partial<ModuleLimits>?]>([
    ['throws', "throw new Error('no licence found');", 'module: ./mine.mjs does not load: no licence found'],
    ['cannot be read', 'export const = 1;', "module: ./mine.mjs does not load: Unexpected token '='"],
    [
      'exports nothing of use',
      'export const one = 1;',
      /has no backend as its default export .*its exports: one/,
    ],
    [
      'is another backend',
      moduleText().replace("name: 'mine'", "name: 'yours'"),
      /exports the backend "yours \(once created: mine\)"/,
    ],
    [
      'is for another contract',
      moduleText('contractVersion: 7'),
      'backend "mine" is written for version 7 of the contract, this is version 1',
    ],
    [
      'refuses its settings',
      moduleText()
        .replace(
          'create: (settings) => ({',
          "create: () => { throw new Error('config.queue: must be given'); return ({",
        )
        .replace(/\}\),\n\};$/, '})},\n};'),
      'config.queue: must be given',
    ],
    [
      'creates nothing',
      "export default { name: 'mine', create: () => undefined };",
      /^Cannot destructure|^Cannot read properties of undefined/,
    ],
    [
      'declares no surface',
      moduleText('patchSurface: undefined'),
      'the module gave a backend without a patchSurface',
    ],
    [
      'has no scheduler',
      moduleText('schedulerName: undefined'),
      'the module gave a backend without a schedulerName',
    ],
    ['ends the process', 'process.exit(3);', 'it ended itself, with exit code 3'],
    ['kills the process', "process.kill(process.pid, 'SIGKILL');", 'it was ended by SIGKILL'],
    [
      'never comes to an end',
      'await new Promise(() => {});',
      'it did not answer within 0.5 s',
      { loadMs: 500 },
    ],
    [
      'loops',
      'for (;;);',
      'it was at work for 1 s and let nothing else run: a loop without an end',
      { silentMs: 1_000 },
    ],
    [
      'throws later',
      "setTimeout(() => { throw new Error('later') }); await new Promise(() => {});",
      'it threw "later" where nobody could catch it',
    ],
    [
      'rejects unheard',
      "Promise.reject(new Error('unheard')); await new Promise(() => {});",
      'it threw "unheard" where nobody could catch it',
    ],
    ['keeps objects for ever', 'let all; for (;;) all = { all };', 'it took more than its 64 MiB of heap'],
    [
      'keeps buffers for ever',
      'const all = []; for (;;) { all.push(Buffer.alloc(1 << 20, 1)); await new Promise((r) => setTimeout(r, 1)); }',
      'it took more than 256 MiB of memory',
    ],
    [
      'says what nobody asked for',
      `(await import('node:fs')).writeSync(3, '{"what":"value","id":77}\\n'); await new Promise(() => {});`,
      'it sent what nobody had asked for',
    ],
    [
      'says what is no message',
      "(await import('node:fs')).writeSync(3, 'hello\\n'); await new Promise(() => {});",
      'it sent what is no message',
    ],
    [
      'says a line without an end',
      "const fs = await import('node:fs'); for (;;) try { fs.writeSync(3, 'x'.repeat(60_000)); } catch {}",
      /^it sent a message of more than \d+ characters$/,
    ],
  ])(
    'it %s: it is not ready, with the reason',
    async (_what, text, reason, limits: Partial<ModuleLimits> = PATIENT) => {
      const { init, ended, prepare } = await start(text, limits);
      await expect(init()).rejects.toThrow(reason);
      expect(ended).toEqual([expect.stringMatching(reason)]);
      expect(await laterOf(prepare())).toMatch(/^backend mine does not run: /);
    },
  );
});

const OBEDIENT = moduleText(`
  preparePod: (pod, _gang, patch) => {
    const what = pod.label('do');
    if (what === 'loop') for (;;);
    if (what === 'exit') process.exit(0);
    if (what === 'leak') { const all = []; for (;;) all.push(1.5); }
    if (what === 'print') for (;;) console.log('x'.repeat(1_000));
    if (what === 'late') setImmediate(() => { throw new Error('too late'); });
    if (what === 'refuse') throw new PodRefused('spec.x', 'no such queue');
    if (what === 'throw') throw new Error('the wheels came off');
    if (what === 'beyond') patch.annotate('b', '1', 'why not');
    if (what === 'number') patch.annotate('a', 1, 'why not');
    if (what === 'promise') return Promise.reject(new Error('never heard'));
    if (what === 'endless') for (;;) patch.annotate('a', '1', 'again');
    if (what === 'another') return patch.setSchedulerName('default-scheduler', 'stolen');
    patch.setSchedulerName('mine-for-pods', 'asked for');
  }`);

describe('with a Pod', () => {
  test('it does loop when Muster ends: it ends, too', async () => {
    const before = process.listeners('exit');
    const { init, told, ended } = await start(OBEDIENT, { answerMs: 500, silentMs: 60_000 });
    await init();
    expect(await laterOf(told('loop'))).toMatch(/answer/);
    const added = process.listeners('exit').filter((listener) => !before.includes(listener));
    expect(added).toHaveLength(1);
    for (const listener of added) listener(0);
    for (let tries = 0; ended.length === 0; tries += 1) {
      expect(tries).toBeLessThan(200);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(ended).toEqual(['it was ended by SIGKILL']);
  });

  const HURRIED: Partial<ModuleLimits> = { answerMs: 500, silentMs: 5_000 };
  test.each<[string, string | RegExp, string | RegExp, Partial<ModuleLimits>]>([
    [
      'loop',
      'did not answer within 0.5 s',
      'it was at work for 5 s and let nothing else run: a loop without an end',
      HURRIED,
    ],
    ['exit', 'it ended itself, with exit code 0', 'it ended itself, with exit code 0', PATIENT],
    // Whether collecting its garbage takes it longer than it may be silent is the machine's to say.
    ['leak', /heap|answer/, /heap|let nothing else run/, HURRIED],
    // What nobody has read yet waits on its heap.
    ['print', /heap|answer/, /heap|let nothing else run/, HURRIED],
  ])(
    'it does %s: others wait for it no longer than for an answer, and it begins anew',
    async (what, says, reason, limits) => {
      const { init, told, prepare, ended, wrote } = await start(OBEDIENT, limits);
      await init();
      expect(await laterOf(told(what))).toMatch(says);
      expect(await laterOf(prepare())).toMatch(/answer|heap|does not run/);
      for (let tries = 0; ended.length === 0; tries += 1) {
        expect(tries).toBeLessThan(200);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      expect(ended).toEqual([expect.stringMatching(reason)]);
      // Some twenty lines in each second that it was let print for.
      expect(wrote.length).toBeLessThan(300);
      // Once it has rested it is as good as new.
      for (let tries = 0; ; tries += 1) {
        expect(tries).toBeLessThan(100);
        if (
          await init()
            .then(() => prepare())
            .then(
              (changes) => changes.length === 1,
              () => false,
            )
        )
          break;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
  );

  test('what it throws is thrown where the Pod is, and harms nothing', async () => {
    const { init, told, prepare, ended } = await start(OBEDIENT, PATIENT);
    await init();
    await expect(told('refuse')).rejects.toThrow('mine: no such queue');
    await expect(told('throw')).rejects.toThrow('the wheels came off');
    await expect(told('beyond')).rejects.toThrow(
      'backend mine called annotate b, which is outside its patchSurface',
    );
    await expect(told('number')).rejects.toThrow(
      'backend mine called annotate a with a value that is no string',
    );
    await expect(told('another')).rejects.toThrow(
      'called setSchedulerName with default-scheduler, but its schedulerName is mine-for-pods',
    );
    await expect(told('promise')).rejects.toThrow('backend mine returned something from preparePod');
    await expect(told('endless')).rejects.toThrow('a Pod gets 256 edits at most');
    expect(await prepare()).toEqual([
      { operation: { op: 'add', path: '/spec/schedulerName', value: 'mine-for-pods' }, why: 'asked for' },
    ]);
    expect(ended).toEqual([]);
  });

  test('so many at a time wait for it, and no more', async () => {
    const { init, told } = await start(OBEDIENT, { answerMs: 500 });
    await init();
    const answers = Array.from({ length: 40 }, () => laterOf(told('loop')));
    const said = await Promise.all(answers);
    expect(said.filter((text) => text === 'backend mine has 32 reviews to answer already')).toHaveLength(8);
  });
});

test('it has no environment, no files but its own, no network, no processes and no threads', async () => {
  const tried = `
    const [fs, net, process_, threads, dns] = await Promise.all(['fs', 'net', 'child_process', 'worker_threads', 'dns'].map((m) => import('node:' + m)));
    const caught = (work) => { try { return work(); } catch (e) { return e.code; } };
    const late = (work) => new Promise((resolve) => work(resolve));
    const found = {
      environment: Object.keys(process.env).length,
      file: caught(() => fs.readFileSync('/etc/hostname', 'utf8')),
      process: caught(() => fs.readFileSync('/proc/' + process.ppid + '/environ', 'utf8')),
      write: caught(() => fs.writeFileSync(new URL('./new', import.meta.url), '')),
      own: caught(() => fs.readFileSync(new URL(import.meta.url), 'utf8').length > 0),
      spawn: caught(() => process_.spawnSync('/bin/true').pid),
      thread: caught(() => new threads.Worker('0', { eval: true })),
      connect: await late((r) => net.connect(1, '127.0.0.1').on('error', (e) => r(e.code))),
      listen: caught(() => void net.createServer().listen(0)),
      fetch: await fetch('http://127.0.0.1:8080').catch((e) => e.cause?.code ?? e.code),
      lookup: await late((r) => dns.lookup('localhost', (e) => r(e?.code))),
    };`;
  const { init } = await start(
    moduleText(
      'init: async () => ({ version: JSON.stringify(found).slice(0, 120), notices: [JSON.stringify(found)] })',
      tried,
    ),
  );
  const { notices } = await init();
  const denied = 'ERR_ACCESS_DENIED';
  expect(JSON.parse(notices?.[0] ?? '')).toEqual({
    environment: 0,
    file: denied,
    process: denied,
    write: denied,
    own: true,
    spawn: denied,
    thread: denied,
    connect: denied,
    listen: denied,
    fetch: denied,
    lookup: denied,
  });
});

test('what it prints is told, line by line and not without end', async () => {
  const { init, wrote } = await start(
    moduleText(
      '',
      // In one write: lines of two seconds are counted apart.
      "console.log(Array.from({ length: 50 }, (_, i) => 'line ' + i).join('\\n')); console.error('\\u001b[31mred');",
    ),
  );
  await init();
  for (let tries = 0; wrote.at(-1)?.includes('left out') !== true; tries += 1) {
    expect(tries).toBeLessThan(100);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(wrote).toContain('line 0');
  expect(wrote).toContain('30 further lines within a second are left out');
});

test('it loops, and Muster is killed: it does not outlive it', async () => {
  const hosting = pathToFileURL(join(import.meta.dirname, 'hosting.ts')).href;
  const script = `import { host } from '${hosting}'; void (await host('for (;;);', { loadMs: 60_000, silentMs: 60_000 })).init().catch(() => undefined);`;
  const muster = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
  const children = (): string[] => {
    const file = `/proc/${muster.pid}/task/${muster.pid}/children`;
    return existsSync(file) ? readFileSync(file, 'utf8').split(' ').filter(Boolean) : [];
  };
  const seconds = (pid: string): number =>
    // Clock ticks in user mode (proc_pid_stat 14), of which there are 100 in a second.
    Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[13]) / 100;
  let module = '';
  for (let tries = 0; module === '' || seconds(module) < 0.5; tries += 1) {
    expect(tries).toBeLessThan(400);
    await new Promise((resolve) => setTimeout(resolve, 50));
    module = children()[0] ?? '';
  }
  muster.kill('SIGKILL');
  for (let tries = 0; existsSync(`/proc/${module}`); tries += 1) {
    expect(tries).toBeLessThan(400);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

test('Muster is gone before its process has begun: it ends although nothing else tells it', async () => {
  const program = join(import.meta.dirname, '../../../src/modules/host.ts');
  const gone = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(gone, 'exit');
  const flags = ['--permission', '--allow-worker', '--allow-fs-read=*'];
  const stdio = ['ignore', 'ignore', 'ignore', 'pipe'] as const;
  const begin = (parent: number | undefined) =>
    spawn(process.execPath, [...flags, program, String(parent)], { env: {}, stdio: [...stdio] });
  const [orphan, child] = [begin(gone.pid), begin(process.pid)];
  try {
    expect(await once(orphan, 'exit', { signal: AbortSignal.timeout(20_000) })).toEqual([null, 'SIGKILL']);
    // Its wire is as open as that of the other.
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    (child.stdio[3] as Socket).destroy();
    expect(await once(child, 'exit')).toEqual([0, null]);
  } finally {
    for (const one of [orphan, child]) one.kill('SIGKILL');
  }
});

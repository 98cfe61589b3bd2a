import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ENTRYPOINT_SCRIPT } from '../../../src/preparers/flux/entrypoint-script.ts';
import { INIT_SCRIPT } from '../../../src/preparers/flux/init-script.ts';
import type { FluxSettings } from '../../../src/preparers/flux/settings.ts';
import { PodRoot, removeRoots, WATCHING } from './pod-root.ts';

afterAll(removeRoots);

const isRoot = process.getuid?.() === 0;
/** As whoever runs the tests, and where that is root as somebody whom no file knows. */
const users: (number | undefined)[] = isRoot ? [undefined, 54_321] : [undefined];
const SCRIPTS = { 'init.sh': INIT_SCRIPT, 'entrypoint.sh': ENTRYPOINT_SCRIPT };

describe.each(Object.entries(SCRIPTS))('%s', (_name, text) => {
  test('is bash', () => {
    expect(text.startsWith('#!/bin/bash\n')).toBe(true);
    expect(spawnSync('/bin/bash', ['-n'], { input: text, encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
  });

  const here = spawnSync('shellcheck', ['--version']).status === 0 ? test : test.skip;
  here('has nothing that shellcheck would say', () => {
    const { status, stdout } = spawnSync('shellcheck', ['-'], { input: text, encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, '']);
  });
});

test('pitfall 6: what is no bash is told so, not half run', async () => {
  const root = new PodRoot({ lead: 1 });
  // Where sh is bash it has this variable as well.
  const shell = ['/bin/bash', '--posix', '-c', 'unset BASH_VERSION; . "$0"'];
  expect(await root.init({ shell })).toEqual({ code: 2, out: '', err: 'flux-installer: bash is needed\n' });
  const { code, err } = await root.entrypoint(['keep'], { shell });
  expect([code, err]).toEqual([2, 'flux-entrypoint: bash is needed\n']);
  expect(root.tree('mnt/flux')).toEqual([]);
});

describe.each(users)('as user %s', (uid) => {
  test('pitfall 8: init.sh copies the view and what it needs, and run again leaves all as it is', async () => {
    const root = new PodRoot({ lead: 1 });
    expect(await root.init({ uid })).toEqual({ code: 0, out: '', err: '' });
    const once = root.tree('mnt/flux');
    expect(once.map((line) => line.split(' ')[0])).toEqual(
      expect.arrayContaining(['view/bin/flux', 'software/linux/library.so', 'flux-operator-done.txt']),
    );
    expect(once).toContain('view/bin/python3 777 python3.11');
    expect(await root.init({ uid })).toMatchObject({ code: 0 });
    expect(root.tree('mnt/flux')).toEqual(once);
    expect(root.outside()).toEqual([]);
  });

  test('init.sh begins anew where it was cut off, also with files that are write-protected', async () => {
    const root = new PodRoot({ lead: 1 });
    await root.init({ uid });
    const whole = root.tree('mnt/flux');
    spawnSync('/bin/bash', ['-c', 'rm -f flux-operator-done.txt view/bin/python3; : > view/left'], {
      cwd: join(root.path, 'mnt/flux'),
      ...(uid === undefined ? {} : { uid }),
    });
    expect(await root.init({ uid })).toMatchObject({ code: 0, err: '' });
    expect(root.tree('mnt/flux')).toEqual(whole);
  });

  test('vector 17: entrypoint.sh of the lead starts a broker with the program, twice the same', async () => {
    const root = new PodRoot({ lead: 1, worker: 3 }, { tasksPerNode: 4 });
    const env = { MUSTER_FLUX_GPUS: '8' };
    expect(await root.start(['keep', 'a b'], { uid, env })).toEqual({ code: 0, out: '', err: '' });
    const config = '/mnt/flux/config';
    const calls = [
      '<R><encode><--ranks=0><--hosts=lead-0><--cores=0-1><--gpus=0-7>',
      '<R><encode><--ranks=1-3><--hosts=worker-[0-2]><--cores=0-1><--gpus=0-7>',
      '<R><append>',
      `<start><-o><--config><${config}/etc/flux/config><-Scron.directory=${config}/etc/flux/system/cron.d>` +
        `<-Srundir=${config}/run/flux><-Sstatedir=${config}/var/lib/flux><-Slocal-uri=local://${config}/run/flux/local>` +
        '<-Slog-stderr-level=3><-Slog-stderr-mode=local><-Stbon.connect_timeout=5s>' +
        '<flux><run><-N><4><--tasks-per-node=4><--exclusive><-o><cpu-affinity=off><-o><gpu-affinity=per-task><--env=-PYTHONPATH><keep><a b>',
      '<run><-N><4><--tasks-per-node=4><--exclusive><-o><cpu-affinity=off><-o><gpu-affinity=per-task><--env=-PYTHONPATH><keep><a b>',
    ];
    expect(root.calls()).toEqual(calls);
    expect(root.argv()).toEqual(['a b']);
    expect(root.mode('mnt/flux/config/etc/curve/curve.cert')).toBe(0o600);
    expect(root.read('mnt/flux/config/etc/curve/curve.cert')).toBe(root.read('curve/curve.cert'));
    expect(root.has('mnt/flux/flux-operator-complete.txt')).toBe(true);
    const once = root.tree('mnt/flux');
    root.forgetCalls();
    expect(await root.entrypoint(['keep', 'a b'], { uid, env })).toMatchObject({ code: 0, err: '' });
    expect(root.calls()).toEqual(calls);
    expect(root.tree('mnt/flux')).toEqual(once);
    expect(root.outside()).toEqual([]);
    if (uid === undefined) return;
    // Nobody else on this machine has this number: whatever is his, the scripts made.
    const own = spawnSync(
      'find',
      ['/tmp', '/var/tmp', '/dev/shm', '-maxdepth', '2', '-user', String(uid), '-print'],
      {
        encoding: 'utf8',
      },
    );
    const elsewhere = own.stdout.split('\n').filter((file) => file !== '' && !file.includes('/flux-root-'));
    expect(elsewhere).toEqual([]);
  });
});

describe('the program', () => {
  const root = new PodRoot({ lead: 1 });

  test('pitfall 1, vector 15: its exit code is that of the container', async () => {
    expect((await root.start(['bash', '-c', 'exit 3'])).code).toBe(3);
    expect((await root.entrypoint(['bash', '-c', 'exit 0'])).code).toBe(0);
    expect((await root.entrypoint(['no-such-program'])).code).toBe(127);
  });

  test('vectors 11 and 16: its words arrive byte for byte', async () => {
    const word = fc.oneof(
      fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
      fc.constantFrom(
        '',
        '*',
        '--',
        '-g',
        "it's",
        '"',
        '$(id)',
        '`id`',
        'a  b',
        '\n',
        '\\',
        '$HOME',
        '~',
        '!!',
        '{a,b}',
        '{{id}}',
        "{{{name}} it's {{",
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 6 }), async (words) => {
        expect(await root.entrypoint(['keep', ...words])).toMatchObject({ code: 0, err: '' });
        expect(root.argv()).toEqual(words);
      }),
      { numRuns: 12, examples: [[['-c', 'print(1 + 2)', '*.toml']], [['{{id}}', "{{{name}} it's {{"]]] },
    );
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGQUIT'] as const)('hears of %s, and ends as it likes', async (name) => {
    const program = `trap 'exit 7' TERM; echo ready; while :; do /bin/sleep 0.02; done`;
    const { code } = await root.entrypoint(['bash', '-c', program], { signal: { name, after: 'ready' } });
    expect(code).toBe(7);
  });

  test('pitfall 15: does not see what was said to Flux, nor does Flux what an image says', async () => {
    const env = {
      FLUX_VIEW_IMAGE: 'x',
      FLUX_QUEUE_POLICY: 'easy',
      FLUX_URI: 'local:///x',
      FLUX_CONF_DIR: '/x',
    };
    const { out } = await root.entrypoint(['bash', '-c', 'env'], { env });
    expect(
      out
        .split('\n')
        .filter((line) => line.startsWith('FLUX_'))
        .sort(),
    ).toEqual([
      `FLUX_MODPROBE_PATH_APPEND=${root.path}/mnt/flux/view/etc/flux/modprobe`,
      `FLUX_RC_EXTRA=${root.path}/mnt/flux/view/etc/flux`,
    ]);
    expect(out).toContain(`\nPATH=${root.path}/bin:/usr/bin:/bin:${root.path}/mnt/flux/view/bin\n`);
    expect(out).not.toContain('PYTHONPATH');
  });

  test('gets its own PYTHONPATH as it was, and Flux that of the view before it', async () => {
    const show = 'echo "$PYTHONPATH"';
    const { out } = await root.entrypoint(['bash', '-c', show], { env: { PYTHONPATH: '/own:/$HOME' } });
    expect(out).toBe('/own:/$HOME\n');
    expect(root.read('mnt/flux/flux-view.sh')).toContain(
      'PYTHONPATH=/mnt/flux/view/lib/python3.11/site-packages:/own:/\\$HOME\n',
    );
  });
});

describe('the environment of a Pod', () => {
  const root = new PodRoot({ lead: 1 });
  const toml = (): string => root.read('mnt/flux/config/etc/flux/config/broker.toml');

  test('vector 13: goes before the settings', async () => {
    await root.start(['keep']);
    const asRendered = root.read('etc/flux-config/broker.toml');
    expect(toml()).toBe(asRendered);
    await root.entrypoint(['keep'], { env: { FLUX_NETWORK_DEVICE: 'net1', FLUX_QUEUE_POLICY: 'easy' } });
    expect(toml()).toBe(asRendered.replace('tcp://eth0', 'tcp://net1').replace('"fcfs"', '"easy"'));
  });

  test.each([
    [{ FLUX_NETWORK_DEVICE: 'e"\n[x]' }, 'FLUX_NETWORK_DEVICE is no name of a network device'],
    [{ FLUX_QUEUE_POLICY: 'best' }, 'FLUX_QUEUE_POLICY is neither fcfs nor easy: best'],
    [{ MUSTER_FLUX_GPUS: 'a[$(id)]' }, 'MUSTER_FLUX_GPUS is no number'],
  ])('%j is refused', async (env, says) => {
    const { code, err } = await root.entrypoint(['keep'], { env });
    expect(code).toBe(2);
    expect(err).toContain(`flux-entrypoint: ${says}`);
  });
});

describe('GPUs', () => {
  test.each([
    [1, '1', ['<--gpus=0>', '<--tasks-per-node=1><--exclusive>', '<gpu-affinity=per-task>']],
    [4, '4', ['<--gpus=0-3>', '<--tasks-per-node=4><--exclusive>', '<gpu-affinity=per-task>']],
    // Flux would hide those that the container has by a claim.
    [1, '0', ['<gpu-affinity=off>']],
  ])('vector 12, pitfall 18: %s tasks and %s of them', async (tasksPerNode, gpus, says) => {
    const root = new PodRoot({ lead: 2 }, { tasksPerNode });
    await root.start(['keep'], { env: { MUSTER_FLUX_GPUS: gpus } });
    for (const one of says) expect(root.calls().join('\n')).toContain(one);
  });

  test('that cannot be shared out are refused', async () => {
    const root = new PodRoot({ lead: 1 }, { tasksPerNode: 4 });
    const { code, err } = await root.start(['keep'], { env: { MUSTER_FLUX_GPUS: '6' } });
    expect([code, err]).toEqual([
      2,
      'flux-entrypoint: 6 GPUs cannot be shared out evenly among 4 tasks of a Pod\n',
    ]);
  });
});

describe('cores and tasks', () => {
  const asks = new Map([
    ['lead', '2 0'],
    ['worker', '8 4'],
  ]);
  const run = async (given: Partial<FluxSettings>, env = {}, asked = asks): Promise<string> => {
    const root = new PodRoot({ lead: 1, worker: 2 }, given, undefined, asked);
    const { code, err } = await root.start(['keep'], { env });
    return code === 0 ? root.calls().join('\n') : err;
  };

  test('each group has what its Pods ask for', async () => {
    const calls = await run({});
    expect(calls).toContain('<--ranks=0><--hosts=lead-0><--cores=0-1>\n');
    expect(calls).toContain('<--ranks=1-2><--hosts=worker-[0-1]><--cores=0-7><--gpus=0-3>\n');
  });

  test.each<[string, Partial<FluxSettings>, string]>([
    ['one a core', { tasksPerNode: 'cpu' }, '<--tasks-per-node=2><--exclusive>'],
    ['one for two GPUs', { tasksPerNode: 'gpu', gpusPerTask: 2 }, '<--tasks-per-node=2><--exclusive>'],
    ['not bound, as Pods differ', {}, '<-o><cpu-affinity=off><-o><gpu-affinity=per-task>'],
    ['bound as it says', { cpuAffinity: 'on', gpuAffinity: 'off' }, 'cpu-affinity=on><-o><gpu-affinity=off>'],
    ['beside others', { tasksPerNode: 2, exclusive: false }, '<-N><3><-n><6><-c><1><-o>'],
    ['with GPUs', { exclusive: false, coresPerTask: 2, gpusPerTask: 1 }, '<-n><3><-c><2><-g><1><-o>'],
    ['with threads', { coresPerTask: 2 }, '<--env=OMP_NUM_THREADS=2>'],
    [
      'none into a Pod',
      { tasksPerNode: 'cpu', coresPerTask: 4 },
      'flux-entrypoint: no task fits into a Pod: it has fewer cores or GPUs than one of them takes\n',
    ],
    [
      'an uneven share',
      { tasksPerNode: 3 },
      'flux-entrypoint: 4 GPUs cannot be shared out evenly among 3 tasks of a Pod\n',
    ],
  ])('%s', async (_what, given, says) => {
    expect(await run(given)).toContain(says);
  });

  test('bound, where the machine has as many cores as every Pod asks for', async () => {
    const both = new Map([...asks, ['worker', '2 4']]);
    expect(await run({}, {}, both)).toContain('<-o><cpu-affinity=per-task>');
  });

  test('OMP_NUM_THREADS of the Pod stays', async () => {
    expect(await run({ coresPerTask: 2 }, { OMP_NUM_THREADS: '1' })).not.toContain('--env=OMP_NUM_THREADS');
  });

  test('PMIx needs its plugin, which Flux would leave out without a word', async () => {
    const root = new PodRoot({ lead: 1 }, { pmi: 'pmix' });
    const { err } = await root.start(['keep']);
    expect(err).toMatch(
      /^flux-entrypoint: pmi is pmix, and .* has no flux-pmix: Flux would leave it out without a word\n$/,
    );
    root.write('mnt/flux/view/lib/flux/shell/plugins/pmix.so', '');
    const rank = ['bash', '-c', 'echo "rank $PMIX_RANK"'];
    expect(await root.entrypoint(rank)).toMatchObject({ code: 0, out: 'rank 0\n', err: '' });
    expect(root.calls().join('\n')).toContain('<run><-N><1><-n><1><--exclusive>');
    expect(root.calls().join('\n')).toContain('<-o><pmi=pmix>');
  });

  test('under PMIx, which counts the tasks that it is told, each has a core', async () => {
    const start = async (tasksPerNode: number): Promise<string> => {
      const root = new PodRoot({ lead: 1, worker: 2 }, { pmi: 'pmix', tasksPerNode });
      await root.init();
      root.appImage();
      root.write('mnt/flux/view/lib/flux/shell/plugins/pmix.so', '');
      const { err } = await root.entrypoint(['keep']);
      return err === '' ? root.calls().join('\n') : err;
    };
    expect(await start(2)).toContain('<run><-N><3><-n><6><--exclusive><-o>');
    expect(await start(3)).toBe(
      'flux-entrypoint: 3 tasks have to share 2 cores of a Pod, which they cannot where pmi is pmix\n',
    );
  });
});

describe('pitfall 12: the quorum', () => {
  test('is told only where it is less than all, and the program runs on that many', async () => {
    const root = new PodRoot({ lead: 1, worker: 2 }, {}, 'worker=7');
    await root.start(['keep']);
    const calls = root.calls().join('\n');
    expect(calls).toContain('<-Sbroker.quorum=3><flux><run><-N><3><--tasks-per-node=1>');
    expect(calls).toContain('<--ranks=1-7><--hosts=worker-[0-6]>');
  });
});

describe('a follower', () => {
  const root = new PodRoot({ lead: 1, worker: 2 });
  const follow = (env: Record<string, string>, more = {}) =>
    root.entrypoint(['keep'], { host: 'worker-1', env, ...more });

  test('ends well when its broker does', async () => {
    await root.start(['keep']);
    root.forgetCalls();
    expect(await follow({ FAKE_BROKER_EXIT: '0' })).toEqual({ code: 0, out: '', err: '' });
    expect(root.calls()).toHaveLength(4);
    expect(root.calls()[3]).toMatch(/^<start><-o><--config>.*<-Stbon.connect_timeout=5s>$/);
  });

  test('vector 18, pitfall 13: tries so often, and ends with the last exit code', async () => {
    root.forgetCalls();
    const { code, err } = await follow({ FAKE_BROKER_EXIT: '3', MUSTER_FLUX_RETRIES: '2' });
    expect(code).toBe(3);
    expect(root.calls().map((call) => call.slice(0, 8))).toEqual([
      '<R><enco',
      '<R><enco',
      '<R><appe',
      '<start><',
      'sleep 15',
      '<start><',
      'sleep 15',
      '<start><',
    ]);
    expect(err).toContain('the broker ended with 3, again in 15 s (2 of 2)\n');
    expect(err).toContain('the broker failed 3 times in a row, last with 3\n');
  });

  test('counts anew once a broker has held', async () => {
    const held = new PodRoot({ lead: 1, worker: 2 });
    held.write('etc/flux-config/entrypoint.sh', ENTRYPOINT_SCRIPT.replace('-lt 300 ]', '-lt 0 ]'));
    held.write(
      'bin/sleep',
      `${WATCHING}echo "sleep $*" >>"$FAKE_LOG"\n[ "$(grep -c ^sleep "$FAKE_LOG")" -lt 3 ] || kill -TERM $PPID\n`,
      0o755,
    );
    const env = { FAKE_BROKER_EXIT: '3', MUSTER_FLUX_RETRIES: '1' };
    const { code, err } = await held.start(['keep'], { host: 'worker-1', env });
    expect([code, err]).toEqual([
      143,
      'flux-entrypoint: the broker ended with 3, again in 15 s (1 of 1)\n'.repeat(3),
    ]);
  });

  test('ends at once when it is told to, and does not try again', async () => {
    root.forgetCalls();
    const signal = { name: 'SIGTERM', after: 'broker is up' } as const;
    expect(await follow({}, { signal })).toMatchObject({ code: 0, err: '' });
    expect(root.calls()).toHaveLength(4);
  });

  test('ends while it waits to try again', async () => {
    root.write(
      'bin/sleep',
      `${WATCHING}trap "exit 0" TERM\necho asleep\nwhile :; do /bin/sleep 0.02; done\n`,
      0o755,
    );
    const signal = { name: 'SIGTERM', after: 'asleep' } as const;
    expect(await follow({ FAKE_BROKER_EXIT: '3' }, { signal })).toMatchObject({ code: 143 });
  });
});

test('vector 19: without a command the lead waits for people', async () => {
  const root = new PodRoot({ lead: 1 }, { interactive: true });
  const signal = { name: 'SIGTERM', after: 'broker is up' } as const;
  const { code, out } = await root.start([], { signal });
  expect(code).toBe(0);
  expect(out).toContain('flux proxy local:///');
  expect(root.calls()[1]).toMatch(
    /^<broker><--config-path><\/mnt\/flux\/config\/etc\/flux\/config><-Scron[^ ]*$/,
  );
  expect(root.read('mnt/flux/flux-view.sh')).toContain('export PATH=');
});

describe('says what is missing', () => {
  const whole = async (): Promise<PodRoot> => {
    const root = new PodRoot({ lead: 1 });
    await root.init();
    return root;
  };
  const broken = async (remove: string, says: RegExp): Promise<void> => {
    const root = await whole();
    spawnSync('rm', ['-rf', join(root.path, remove)]);
    const { code, err } = await root.entrypoint(['keep']);
    expect(code).toBe(2);
    expect(err).toMatch(says);
  };

  test.each([
    ['etc/flux-config/lead', /lead cannot be read: the ConfigMap of the gang is missing/],
    ['curve/curve.cert', /curve\.cert cannot be read by user \d+/],
    ['mnt/flux/flux-operator-done.txt', /has no Flux: the init container flux-installer has not run/],
    ['mnt/flux', /mnt\/flux cannot be written: it has to be a volume of the Pod/],
    ['mnt/flux/view/bin/flux', /no flux in .*\/view\/bin: the view does not suit this image/],
  ])('without %s', broken);

  test('an image without Flux, and one with two', async () => {
    for (const [command, says] of [
      ['rm -rf opt/views', 'has no view: flux-view-image names an image without Flux'],
      ['rm -rf opt/software', 'is missing: flux-view-image names an image without Flux'],
      ['mkdir opt/views/._view/other', 'has more than one view'],
    ] as const) {
      const root = new PodRoot({ lead: 1 });
      spawnSync('/bin/bash', ['-c', command], { cwd: root.path });
      const { code, err } = await root.init();
      expect(code).toBe(1);
      expect(err).toContain(says);
      expect(root.has('mnt/flux/flux-operator-done.txt')).toBe(false);
    }
  });

  test('an entrypoint that is not given a command after --', async () => {
    const root = await whole();
    const { status, stderr } = spawnSync(
      '/bin/bash',
      [join(root.path, 'etc/flux-config/entrypoint.sh'), 'keep'],
      {
        encoding: 'utf8',
      },
    );
    expect([status, stderr]).toEqual([2, 'flux-entrypoint: the command of the program follows after --\n']);
  });

  (isRoot ? test : test.skip)('pitfall 4: a certificate that the user may not read', async () => {
    const root = new PodRoot({ lead: 1 });
    chmodSync(join(root.path, 'curve/curve.cert'), 0o400);
    const { code, err } = await root.start(['keep'], { uid: 54_321 });
    expect([code, err]).toEqual([
      2,
      `flux-entrypoint: ${root.path}/curve/curve.cert cannot be read by user 54321\n`,
    ]);
  });
});

(isRoot ? test : test.skip)('a root file system that is read-only but for the volumes', async () => {
  const root = new PodRoot({ lead: 1 });
  await root.init({ uid: 54_321 });
  root.appImage();
  chmodSync(root.path, 0o555);
  spawnSync('chmod', ['-R', 'a-w', ...['bin', 'etc', 'curve'].map((name) => join(root.path, name))]);
  for (const folder of ['mnt', 'opt']) chmodSync(join(root.path, folder), 0o555);
  expect(await root.entrypoint(['keep', 'x'], { uid: 54_321 })).toEqual({ code: 0, out: '', err: '' });
  chmodSync(join(root.path, 'mnt/flux'), 0o555);
  const { code, err } = await root.entrypoint(['keep'], { uid: 54_321 });
  expect(code).toBe(2);
  expect(err).toContain('mnt/flux cannot be written: it has to be a volume of the Pod\n');
});

/** The scripts of several Pods of one gang at the same time, with brokers that know each other. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { until } from '../../unit/tls/until.ts';
import { PodRoot, removeRoots, type Ended, type RunGiven } from './pod-root.ts';

afterAll(removeRoots);

/** Waits for people or for us, so that the others can come and go meanwhile. */
const PROGRAM = [
  'bash',
  '-c',
  'echo begun; while [ -d "$FAKE_GANG" ] && ! [ -e "$FAKE_GANG/go" ]; do /bin/sleep 0.02; done; exit 3',
];
/** Kills the lead's broker, where it is told so once a follower has seen the lead. */
const KILLED = [
  'bash',
  '-c',
  'echo begun; until [ -z "$FAKE_SEEN" ] || [ -e "$FAKE_SEEN" ]; do /bin/sleep 0.02; done; kill -9 "$(cat "$FAKE_GANG/lead")"',
];

interface Started {
  readonly ended: Promise<Ended>;
  /** Once it has printed that. */
  says(text: string | RegExp): Promise<void>;
}

/** A gang of a lead and workers, of which the first suffices, each host with a root of its own. */
class Gang {
  readonly #roots = new Map<string, PodRoot>();
  readonly folder: string;

  constructor() {
    this.folder = join(this.#root('lead-0').path, 'log/gang');
    mkdirSync(join(this.folder, 'joined'), { recursive: true });
  }

  #root(host: string): PodRoot {
    const root = this.#roots.get(host) ?? new PodRoot({ lead: 1, worker: 1 }, {}, 'worker=3');
    this.#roots.set(host, root);
    return root;
  }

  /** A container of the Pod: the first one after the init container, a further one in what that left. */
  start(host: string, given: RunGiven = {}, argv: readonly string[] = PROGRAM): Started {
    const root = this.#root(host);
    let out = '';
    let over = false;
    const waiting: (() => void)[] = [];
    const look = (): void => {
      for (const one of waiting) one();
    };
    const heard = (all: string): void => {
      out = all;
      look();
    };
    const env = { FAKE_GANG: this.folder, ...given.env };
    const told = { ...given, host, env, heard };
    const again = root.has('mnt/flux/flux-operator-done.txt');
    const ended = (again ? root.entrypoint(argv, told) : root.start(argv, told)).then((all) => {
      over = true;
      look();
      return all;
    });
    return {
      ended,
      says: (text) =>
        new Promise((resolve, reject) => {
          waiting.push(() => {
            if (out.search(text) >= 0) resolve();
            else if (over) reject(new Error(`${host} ended without a word of ${String(text)}: ${out}`));
          });
          look();
        }),
    };
  }

  calls(host: string): string[] {
    return this.#root(host)
      .calls()
      .map((call) => call.slice(0, 8));
  }

  /** How often its brokers ran what the view has for their start. */
  started(host: string): number {
    return this.#root(host).read('log/flux.rc1').trimEnd().split('\n').length;
  }

  /** A file of the host that its start script writes. */
  fileOf(host: string, name: string): string {
    return join(this.#root(host).path, 'mnt/flux/config', name);
  }

  joined(): string[] {
    return readdirSync(join(this.folder, 'joined')).sort();
  }

  go(): void {
    writeFileSync(join(this.folder, 'go'), '');
  }
}

test('a follower before the lead joins, and so does one that comes while the program runs; its exit code is that of the lead alone', async () => {
  const gang = new Gang();
  const early = gang.start('worker-0');
  await early.says('no lead');
  expect(gang.joined()).toEqual([]);
  const lead = gang.start('lead-0');
  await lead.says('begun');
  expect(gang.joined()).toEqual(['worker-0']);
  const late = gang.start('worker-2');
  await late.says('joined');
  expect(gang.joined()).toEqual(['worker-0', 'worker-2']);
  gang.go();
  const codes = await Promise.all([lead, early, late].map(async ({ ended }) => (await ended).code));
  expect(codes).toEqual([3, 0, 0]);
  expect(['lead-0', 'worker-0', 'worker-2'].map((host) => gang.started(host))).toEqual([1, 1, 1]);
  // None of them had to be started again for the one that came late.
  for (const host of ['worker-0', 'worker-2'])
    expect(gang.calls(host)).toEqual(['<R><enco', '<R><enco', '<R><appe', '<start><']);
});

test('a follower that goes, and whose container is started again, joins again', async () => {
  const gang = new Gang();
  const stays = gang.start('worker-1');
  const goes = gang.start('worker-0', { signal: { name: 'SIGTERM', after: 'joined' } });
  const lead = gang.start('lead-0');
  expect(await goes.ended).toMatchObject({ code: 0, err: '' });
  await lead.says('begun');
  const again = gang.start('worker-0');
  await again.says('joined');
  expect(gang.joined()).toContain('worker-0');
  gang.go();
  const codes = await Promise.all([lead, stays, again].map(async ({ ended }) => (await ended).code));
  expect(codes).toEqual([3, 0, 0]);
});

test('a follower that is told to end has the program told, once, and stays until its part of it has ended', async () => {
  const gang = new Gang();
  const program = `trap 'echo told >>"$FAKE_GANG/told"; exit 9' TERM; echo begun; while [ -d "$FAKE_GANG" ]; do /bin/sleep 0.02; done`;
  const follower = gang.start('worker-0', {
    env: { FAKE_WORKS: '1' },
    signal: { name: 'SIGTERM', after: 'works' },
  });
  const lead = gang.start('lead-0', {}, ['bash', '-c', program]);
  expect((await lead.ended).code).toBe(9);
  expect(await follower.ended).toMatchObject({ code: 0, err: '' });
  expect(readFileSync(join(gang.folder, 'told'), 'utf8')).toBe('told\n');
});

test('when the lead dies, the broker of a follower looks for the next, and joins it', async () => {
  const gang = new Gang();
  const waits = gang.start('worker-0');
  const first = gang.start('lead-0', {}, KILLED);
  expect((await first.ended).code).toBe(137);
  const next = gang.start('lead-0', {}, PROGRAM);
  await next.says('begun');
  await waits.says(/joined[^]*joined/);
  gang.go();
  expect((await next.ended).code).toBe(3);
  const { code, err } = await waits.ended;
  expect([code, err]).toEqual([0, 'flux-entrypoint: the broker ended with 1, again in 15 s (1 of 20)\n']);
});

test('when no lead follows, a follower ends its broker after so long, and so does one that never had a lead', async () => {
  const gang = new Gang();
  const env = { MUSTER_FLUX_RETRIES: '4' };
  const lead = gang.start('lead-0', { env: { FAKE_SEEN: gang.fileOf('worker-0', 'lead-met') } }, KILLED);
  // A busy machine takes longer to start two Pods than the follower would wait.
  await until('the broker of the lead', () => existsSync(join(gang.folder, 'lead')));
  const follower = gang.start('worker-0', { env });
  expect((await lead.ended).code).toBe(137);
  const { code, err } = await follower.ended;
  expect([code, err]).toEqual([1, 'flux-entrypoint: no broker of the lead lead-0 for 60 s: it is gone\n']);
  expect(gang.calls('worker-0').filter((call) => call === '<start><')).toHaveLength(1);
  const alone = await new Gang().start('worker-0', { env }).ended;
  // A lead that is still at its image has four times as long.
  expect([alone.code, alone.err]).toEqual([1, err.replace('60', '240')]);
});

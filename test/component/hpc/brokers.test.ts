/** The scripts of several Pods of one gang at the same time, with brokers that know each other. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { PodRoot, removeRoots, type Ended, type RunGiven } from './pod-root.ts';

afterAll(removeRoots);

/** Waits for people or for us, so that the others can come and go meanwhile. */
const PROGRAM = [
  'bash',
  '-c',
  'echo begun; while [ -d "$FAKE_GANG" ] && ! [ -e "$FAKE_GANG/go" ]; do /bin/sleep 0.02; done; exit 3',
];
const KILLED = ['bash', '-c', 'echo begun; kill -9 "$(cat "$FAKE_GANG/lead")"'];

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
  // None of them had to be started again for the one that came late.
  for (const host of ['worker-0', 'worker-2']) expect(gang.calls(host)).toEqual(['<R><enco', '<start><']);
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

test('when the lead dies a follower tries again: it joins the next lead, or ends with the exit code of its broker', async () => {
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

test('when no lead follows, a follower ends after so many tries', async () => {
  const gang = new Gang();
  const env = { MUSTER_FLUX_RETRIES: '2', FAKE_PATIENCE: '3' };
  const follower = gang.start('worker-0', { env });
  const lead = gang.start('lead-0', {}, KILLED);
  expect((await lead.ended).code).toBe(137);
  const { code, err } = await follower.ended;
  expect(code).toBe(1);
  expect(err).toContain('the broker failed 3 times in a row, last with 1\n');
  expect(gang.calls('worker-0').filter((call) => call === '<start><')).toHaveLength(3);
  expect(existsSync(join(gang.folder, 'ended'))).toBe(false);
});

import { describe, expect, test } from '@jest/globals';
import { LeaseElection } from '../../../../src/kube/loop/lease.ts';
import { microTime, type Clock } from '../../../../src/kube/client/clock.ts';
import { FakeClock } from './fake-clock.ts';
import { FakeLeaseServer } from './fake-lease-server.ts';

interface Candidate {
  readonly election: LeaseElection;
  /** What it did, in order. */
  readonly log: string[];
  cut: boolean;
}

function candidate(
  server: FakeLeaseServer,
  clock: Clock,
  identity: string,
  lead?: (signal: AbortSignal) => Promise<void>,
  random: () => number = () => 0,
): Candidate {
  const log: string[] = [];
  const made: Candidate = { log, cut: false, election: undefined as never };
  const election = new LeaseElection({
    client: server.client(() => made.cut),
    namespace: 'crew',
    name: 'lock',
    identity,
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2_000,
    clock,
    random,
    observer: { failed: () => log.push('failed') },
    lead:
      lead ??
      ((signal) =>
        new Promise((resolve) => {
          log.push('began');
          signal.addEventListener('abort', () => {
            log.push('ended');
            resolve();
          });
        })),
  });
  return Object.assign(made, { election });
}

describe('leader election', () => {
  test('takes a Lease that nobody has, and renews it', async () => {
    const [server, clock] = [new FakeLeaseServer(), new FakeClock()];
    const a = candidate(server, clock, 'a');
    a.election.start();
    await clock.pass(0);
    expect([a.election.leads, a.log]).toEqual([true, ['began']]);
    expect(server.lease?.spec).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: microTime(clock.date()),
      renewTime: microTime(clock.date()),
      leaseTransitions: 0,
    });
    const acquired = (server.lease?.spec as { acquireTime: string }).acquireTime;
    await clock.pass(60_000);
    expect(server.lease?.spec).toMatchObject({ acquireTime: acquired, renewTime: microTime(clock.date()) });
    expect(server.holders).toHaveLength(31);
    await stopped(clock, a);
  });

  test('lets one of two lead, and the other take over at once when it stops', async () => {
    const [server, clock] = [new FakeLeaseServer(), new FakeClock()];
    const [a, b] = [candidate(server, clock, 'a'), candidate(server, clock, 'b')];
    a.election.start();
    await clock.pass(1_000);
    b.election.start();
    await clock.pass(40_000);
    expect([a.election.leads, b.election.leads]).toEqual([true, false]);
    await stopped(clock, a);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    await clock.pass(2_000);
    expect([b.election.leads, b.log]).toEqual([true, ['began']]);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
    await stopped(clock, b);
  });

  test('takes over from one that is silent for the whole duration by the own clock, whatever its clock says', async () => {
    const [server, clock] = [new FakeLeaseServer(), new FakeClock()];
    const skewed: Clock = {
      now: () => clock.now() - 3_600_000,
      date: () => new Date(clock.date().getTime() - 3_600_000),
      after: (ms, callback) => clock.after(ms, callback),
    };
    const [a, b] = [candidate(server, clock, 'a'), candidate(server, skewed, 'b')];
    a.election.start();
    await clock.pass(1_000);
    b.election.start();
    await clock.pass(20_000);
    expect(b.log).toEqual([]);
    a.cut = true;
    await clock.pass(10_000);
    // It gave up before the other took over.
    expect([a.log.at(-1), a.election.leads]).toEqual(['ended', false]);
    expect(b.log).toEqual([]);
    await clock.pass(8_000);
    expect([b.log, b.election.leads]).toEqual([['began'], true]);
    a.cut = false;
    await clock.pass(60_000);
    expect([a.election.leads, b.election.leads]).toEqual([false, true]);
    await stopped(clock, a, b);
  });

  test('takes over at the very end of a Lease that is not renewed, not with the next try after it', async () => {
    const [server, clock] = [new FakeLeaseServer(), new FakeClock()];
    const [a, b] = [candidate(server, clock, 'a'), candidate(server, clock, 'b')];
    a.election.start();
    await clock.pass(1_000);
    b.election.start();
    await clock.pass(0);
    a.cut = true;
    // b saw the Lease first a moment ago, and looks every second.
    await clock.pass(14_999);
    expect(b.log).toEqual([]);
    await clock.pass(1);
    expect(b.log).toEqual(['began']);
    await stopped(clock, a, b);
  });

  test('takes over at most half a retry period after the Lease has run out, whenever it was renewed last', async () => {
    for (let renewed = 0; renewed < 2_000; renewed += 250) {
      const [server, clock] = [new FakeLeaseServer(), new FakeClock()];
      const [a, b] = [candidate(server, clock, 'a'), candidate(server, clock, 'b')];
      a.election.start();
      await clock.pass(renewed);
      b.election.start();
      // a renews every 2 s, the last time at 4 s.
      await clock.pass(4_000 - renewed);
      a.cut = true;
      await clock.pass(16_000);
      expect([renewed, b.log]).toEqual([renewed, ['began']]);
      await stopped(clock, a, b);
    }
  });

  test.each([0, 0.5, 0.999])(
    'notices within a retry period that a Lease was given up (%d)',
    async (chance) => {
      const [server, clock] = [new FakeLeaseServer(), new FakeClock()];
      const [a, b] = [candidate(server, clock, 'a'), candidate(server, clock, 'b', undefined, () => chance)];
      a.election.start();
      await clock.pass(0);
      b.election.start();
      for (const moment of [3_100, 4_950, 7_001]) {
        await clock.pass(moment);
        expect(b.election.leads).toBe(false);
      }
      await stopped(clock, a);
      await clock.pass(2_000);
      expect(b.election.leads).toBe(true);
      await stopped(clock, b);
    },
  );

  test('asks past the rate limit: a renewal that waits behind gates would lose the Lease', async () => {
    const [server, clock] = [new FakeLeaseServer(), new FakeClock()];
    const a = candidate(server, clock, 'a');
    a.election.start();
    await clock.pass(10_000);
    await stopped(clock, a);
    const b = candidate(server, clock, 'b');
    b.election.start();
    await clock.pass(5_000);
    await stopped(clock, b);
    expect([server.holders.length > 6, server.limited]).toEqual([true, 0]);
  });

  test('outlives a short outage and a stranger’s edit', async () => {
    const [server, clock] = [new FakeLeaseServer(), new FakeClock()];
    const a = candidate(server, clock, 'a');
    a.election.start();
    await clock.pass(4_000);
    a.cut = true;
    await clock.pass(7_000);
    a.cut = false;
    await clock.pass(2_000);
    const { lease } = server;
    await server.client().replace({} as never, { ...lease, metadata: { ...lease?.metadata, name: 'lock' } });
    await clock.pass(4_000);
    expect([a.election.leads, a.log.filter((line) => line !== 'failed')]).toEqual([true, ['began']]);
    await stopped(clock, a);
  });

  test('stops at once when another has taken the Lease', async () => {
    const [server, clock] = [new FakeLeaseServer(), new FakeClock()];
    const a = candidate(server, clock, 'a');
    a.election.start();
    await clock.pass(1_000);
    const lease = server.lease;
    if (lease === undefined) throw new Error('no Lease');
    const spec = { ...(lease.spec as object), holderIdentity: 'thief' };
    await server.client().replace({} as never, { ...lease, spec });
    await clock.pass(2_000);
    expect([a.election.leads, a.log]).toEqual([false, ['began', 'ended']]);
    await stopped(clock, a);
    // Not ours to give up.
    expect(server.lease?.spec).toMatchObject({ holderIdentity: 'thief' });
  });

  test('keeps the Lease until the leader’s work is at its end', async () => {
    const [server, clock] = [new FakeLeaseServer(), new FakeClock()];
    let finish = (): void => undefined;
    const a = candidate(server, clock, 'a', () => new Promise((resolve) => (finish = resolve)));
    const b = candidate(server, clock, 'b');
    a.election.start();
    await clock.pass(1_000);
    b.election.start();
    const stopping = a.election.stop();
    await clock.pass(30_000);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: 'a' });
    expect(b.log).toEqual([]);
    finish();
    await clock.pass(0);
    await stopping;
    await clock.pass(2_000);
    expect(b.log).toEqual(['began']);
    await stopped(clock, b);
  });

  test.each([
    ['a renewal', 2_000],
    ['the first taking', 0],
  ])('gives the Lease up where %s was done and its answer never came', async (_, at) => {
    const [server, clock] = [new FakeLeaseServer(), new FakeClock()];
    const [a, b] = [candidate(server, clock, 'a'), candidate(server, clock, 'b')];
    server.beforeAnswer = async (signal) => {
      if (clock.now() < since + at) return;
      server.beforeAnswer = () => Promise.resolve();
      await new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('broken off')));
      });
    };
    const since = clock.now();
    a.election.start();
    await clock.pass(at);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: 'a' });
    await stopped(clock, a);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: '' });
    expect(a.log).not.toContain('failed');
    b.election.start();
    await clock.pass(0);
    expect(b.election.leads).toBe(true);
    await stopped(clock, b);
  });

  test('gives the Lease up also where somebody touches it meanwhile, and says so where that never ends', async () => {
    const [server, clock] = [new FakeLeaseServer(), new FakeClock()];
    for (const [touches, holder, log] of [
      [2, '', ['began', 'ended']],
      [3, 'a', ['began', 'ended', 'failed']],
    ] as const) {
      const a = candidate(server, clock, 'a');
      a.election.start();
      await clock.pass(1_000);
      server.touches = touches;
      await stopped(clock, a);
      expect([(server.lease?.spec as { holderIdentity: string }).holderIdentity, a.log]).toEqual([
        holder,
        log,
      ]);
    }
  });

  test('gives way when its work fails, and tries again', async () => {
    const [server, clock] = [new FakeLeaseServer(), new FakeClock()];
    let times = 0;
    const a = candidate(server, clock, 'a', () => {
      times += 1;
      throw new Error('cannot');
    });
    a.election.start();
    await clock.pass(0);
    expect([a.log, server.holders]).toEqual([['failed'], ['a', '']]);
    await clock.pass(2_000);
    expect(times).toBe(2);
    await stopped(clock, a);
  });
});

async function stopped(clock: FakeClock, ...candidates: readonly Candidate[]): Promise<void> {
  const all = Promise.all(candidates.map(({ election }) => election.stop()));
  await clock.pass(0);
  await all;
}

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { dispatch, type QueuedGang } from '../../../../src/fleet/queues/dispatch.ts';
import type { Queue } from '../../../../src/fleet/queues/queue-tree.ts';
import { gang, queue } from './made-queues.ts';

const NAMES = ['q0', 'q1', 'q2', 'q3', 'q4'];
const amounts = fc.dictionary(fc.constantFrom('cpu', 'gpu'), fc.integer({ min: 1, max: 6 }), { maxKeys: 2 });
const capacities = fc.dictionary(fc.constantFrom('cpu', 'gpu'), fc.integer({ min: 4, max: 12 }), {
  maxKeys: 2,
});

/** A tree: each queue is a part of one before it, or of none. */
const trees = fc
  .array(
    fc.record({
      weight: fc.integer({ min: 1, max: 5 }),
      up: fc.integer({ min: -3, max: 4 }),
      capacity: capacities,
    }),
    { minLength: 1, maxLength: NAMES.length },
  )
  .map((made) =>
    made.map(({ weight, up, capacity }, index): Queue =>
      queue(NAMES[index] ?? '', { weight, capacity, parent: up >= 0 && up < index ? (NAMES[up] ?? '') : '' }),
    ),
  );

const gangs = fc
  .array(
    fc.record({
      at: fc.integer({ min: 0, max: 4 }),
      priority: fc.integer({ min: 0, max: 2 }),
      since: fc.integer({ min: 0, max: 50 }),
      pods: fc.integer({ min: 1, max: 4 }),
      requests: amounts,
    }),
    { maxLength: 24 },
  )
  .map((made) => made.map(({ at, ...rest }, index) => gang(`g${index}`, NAMES[at] ?? '', rest)));

const chainOf = (queues: readonly Queue[], name: string): Queue[] => {
  const found = queues.find((one) => one.name === name);
  return found === undefined ? [] : [found, ...chainOf(queues, found.parent)];
};

/** The queues of which more is taken than they have. */
const overfull = (queues: readonly Queue[], through: readonly QueuedGang[]): string[] =>
  queues.flatMap(({ name, capacity }) =>
    [...capacity].flatMap(([resource, most]) => {
      const inside = through.filter((one) => chainOf(queues, one.queue).some((at) => at.name === name));
      const sum = inside.reduce((all, { requests }) => all + (requests.get(resource) ?? 0), 0);
      return sum > most ? [`${name} ${resource}`] : [];
    }),
  );

const fitsAlone = (queues: readonly Queue[], one: QueuedGang): boolean =>
  queues.some(({ name }) => name === one.queue) && overfull(queues, [one]).length === 0;

const MINUTE = 60_000;

test('never over capacity, nobody twice, nobody lost, and the order of what is given decides nothing', () => {
  fc.assert(
    fc.property(trees, gangs, fc.nat(5 * MINUTE), (queues, waiting, now) => {
      const input = { queues, waiting, through: [], deficits: new Map(), now, reserveAfterMs: MINUTE };
      const { release, standings } = dispatch(input);
      expect(overfull(queues, release)).toEqual([]);
      const all = [...release, ...standings.map((one) => one.gang)];
      expect(all.map(({ key }) => key).sort()).toEqual(waiting.map(({ key }) => key).sort());
      for (const { why } of standings) expect(why).not.toBe('');
      const other = dispatch({ ...input, queues: queues.toReversed(), waiting: waiting.toReversed() });
      expect(other.release).toEqual(release);
      expect(other.standings).toEqual(standings);
      // Again, with those let through: the same room, so nobody else comes before anybody leaves.
      const again = dispatch({
        ...input,
        waiting: standings.map((one) => one.gang),
        through: release,
        now: 0,
      });
      expect(overfull(queues, [...release, ...again.release])).toEqual([]);
    }),
  );
});

/**
 * Who of `waiting` would fit, and is not let through although everybody who is leaves after `runs` rounds. In each round the
 * same `more` come again, younger and of no higher priority. Without such an end of all that runs no dispatcher could promise it.
 */
function starved(
  queues: readonly Queue[],
  waiting: readonly QueuedGang[],
  more: readonly QueuedGang[],
  runs: number,
): string[] {
  let through: { gang: QueuedGang; until: number }[] = [];
  let left = waiting.filter((one) => fitsAlone(queues, one));
  const hopeless = waiting.filter((one) => !left.includes(one));
  let deficits: ReadonlyMap<string, number> = new Map();
  const rounds = 40 + waiting.length * 20;
  for (let round = 0; round < rounds && left.length > 0; round += 1) {
    const now = round * MINUTE;
    const fresh = more.map((one, index) => ({
      ...one,
      ...{ key: `n${round}-${index}`, uid: `n${round}-${index}`, since: now, priority: 0 },
    }));
    through = through.filter(({ until }) => until > round);
    const done = dispatch({
      ...{ queues, waiting: [...hopeless, ...left, ...fresh], through: through.map((one) => one.gang) },
      ...{ deficits, now, reserveAfterMs: 3 * MINUTE },
    });
    ({ deficits } = done);
    through.push(...done.release.map((one) => ({ gang: one, until: round + runs })));
    const inside = through.map((one) => one.gang);
    expect(overfull(queues, inside)).toEqual([]);
    left = left.filter((one) => !done.release.includes(one));
  }
  return left.map(({ key }) => key);
}

test('nobody starves: whoever fits at all is let through, whoever else keeps coming', () => {
  fc.assert(
    fc.property(trees, gangs, gangs, fc.integer({ min: 1, max: 6 }), (queues, waiting, more, runs) => {
      expect(starved(queues, waiting, more, runs)).toEqual([]);
    }),
    // What it looks for is rare: of 40 trees one in ten held a case, of 1000 nine in ten.
    { numRuns: 1000 },
  );
});

// What others of its own queue get, who need none of what it lacks, uses up what the queue is owed. Each room that came free
// went to a newcomer in the other queue then.
test('nobody starves whose queue gets its share in other things', () => {
  const queues = [queue('q0', { capacity: { gpu: 4 } }), queue('q1', { parent: 'q0' })];
  const waiting = [
    gang('g0', 'q1', { requests: { gpu: 2 } }),
    gang('g1', 'q1'),
    gang('g2', 'q0', { since: 1 }),
  ];
  const more = [gang('m0', 'q1'), gang('m1', 'q1'), gang('m2', 'q0', { pods: 3, requests: { gpu: 3 } })];
  for (const runs of [1, 2, 3, 4, 5, 6]) expect(starved(queues, waiting, more, runs)).toEqual([]);
});

/**
 * Whether `late` is let through although in each round the same `more` come, each stays until its turn comes, and everybody who
 * is through leaves after `runs` rounds.
 */
function comesThrough(
  queues: readonly Queue[],
  late: QueuedGang,
  more: readonly QueuedGang[],
  { runs, rounds }: { readonly runs: number; readonly rounds: number },
): boolean {
  let through: { gang: QueuedGang; until: number }[] = [];
  let waiting: QueuedGang[] = [];
  let deficits: ReadonlyMap<string, number> = new Map();
  for (let round = 0; round < rounds; round += 1) {
    const now = round * MINUTE;
    if (now === late.since) waiting.push(late);
    for (const [index, one] of more.entries())
      waiting.push({ ...one, key: `n${round}-${index}`, uid: `n${round}-${index}`, since: now, priority: 0 });
    through = through.filter(({ until }) => until > round);
    const done = dispatch({
      ...{ queues, waiting, through: through.map((one) => one.gang), deficits, now },
      reserveAfterMs: 2 * MINUTE,
    });
    ({ deficits } = done);
    through.push(...done.release.map((one) => ({ gang: one, until: round + runs })));
    waiting = done.standings.map((one) => one.gang);
    if (done.release.includes(late)) return true;
  }
  return false;
}

// Everybody is overdue where more come than there is room for. By weight alone the turn is always the other queue's then: what
// its own queue gets in other things counts against it.
test('nobody starves where all have waited for too long', () => {
  const weights = fc.integer({ min: 1, max: 100 });
  fc.assert(
    fc.property(weights, weights, fc.integer({ min: 2, max: 4 }), (mine, his, runs) => {
      const queues = [
        queue('q0', { capacity: { gpu: 4 } }),
        queue('q1', { parent: 'q0', weight: mine }),
        queue('q2', { parent: 'q0', weight: his }),
      ];
      const late = gang('late', 'q1', { since: MINUTE, requests: { gpu: 4 } });
      const more = [
        gang('m0', 'q1', { pods: 4 }),
        gang('m1', 'q2', { requests: { gpu: 2 } }),
        gang('m2', 'q2', { requests: { gpu: 2 } }),
      ];
      expect(comesThrough(queues, late, more, { runs, rounds: 60 })).toBe(true);
    }),
    { numRuns: 25 },
  );
});

// The same where those of its own queue wait for something else for as long: they pass it, and that counts against none.
test.each([2, 3, 4])(
  'nobody starves whom overdue ones of its own queue pass, each of them for %d rounds',
  (runs) => {
    const queues = [
      queue('q0', { capacity: { gpu: 4 } }),
      queue('q1', { parent: 'q0', capacity: { cpu: 4 } }),
      queue('q2', { parent: 'q0' }),
    ];
    const more = [
      gang('m0', 'q1', { pods: 20, requests: { cpu: 4 } }),
      gang('m1', 'q2', { requests: { gpu: 2 } }),
      gang('m2', 'q2', { requests: { gpu: 2 } }),
    ];
    const late = gang('late', 'q1', { since: MINUTE, requests: { gpu: 4 } });
    expect(comesThrough(queues, late, more, { runs, rounds: 40 })).toBe(true);
  },
);

test.each([
  ['by weight', MINUTE],
  ['by weight where all have waited for too long', 0],
])('%s: what two queues get for it differs by no more than their largest gangs', (_, reserveAfterMs) => {
  const weights = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 4 });
  const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(weights, sizes, fc.integer({ min: 1, max: 60 }), (shares, pods, most) => {
      const queues = shares.map((weight, index) => queue(`q${index}`, { weight }));
      const waiting = queues.flatMap(({ name }, at) =>
        Array.from({ length: 60 }, (_, since) =>
          gang(`${name}-${since}`, name, { since, pods: pods[(since + at) % pods.length] ?? 1 }),
        ),
      );
      const got = new Map<string, number>();
      let deficits: ReadonlyMap<string, number> = new Map();
      const left = new Set(waiting);
      // One at a time, as room comes.
      for (let turn = 0; turn < most; turn += 1) {
        const input = { queues, waiting: [...left], through: [], now: 60, reserveAfterMs };
        const done = dispatch({ ...input, deficits, most: 1 });
        ({ deficits } = done);
        for (const one of done.release) {
          left.delete(one);
          got.set(one.queue, (got.get(one.queue) ?? 0) + one.pods);
        }
      }
      const largest = Math.max(...pods);
      for (const one of queues)
        for (const other of queues) {
          const [mine, his] = [one, other].map(({ name, weight }) => (got.get(name) ?? 0) / weight);
          const bound = largest / one.weight + largest / other.weight;
          expect(Math.abs((mine ?? 0) - (his ?? 0))).toBeLessThanOrEqual(bound + 1e-9);
        }
    }),
    { numRuns: 60 },
  );
});

// A day of more work than there is room for: nobody waits for less than the time from which on room is kept.
test('a queue that has more waiting than all others gets no more for it', () => {
  const queues = [
    queue('org', { capacity: { gpu: 8 } }),
    queue('flood', { parent: 'org', weight: 1 }),
    queue('few', { parent: 'org', weight: 3 }),
  ];
  const sized = (gpu: number) => ({ pods: gpu, requests: { gpu } });
  let waiting = Array.from({ length: 400 }, (_, since) =>
    gang(`flood-${since}`, 'flood', { since, ...sized(1) }),
  );
  waiting.push(
    ...Array.from({ length: 100 }, (_, at) => gang(`few-${at}`, 'few', { since: 500 + at, ...sized(4) })),
  );
  let through: QueuedGang[] = [];
  let deficits: ReadonlyMap<string, number> = new Map();
  const got = { flood: 0, few: 0 };
  for (let round = 0; round < 40; round += 1) {
    const done = dispatch({ queues, waiting, through, deficits, now: 1000 * MINUTE, reserveAfterMs: MINUTE });
    ({ deficits } = done);
    waiting = done.standings.map((one) => one.gang);
    for (const one of done.release) got[one.queue as keyof typeof got] += one.pods;
    // Each round one more of those that run comes to its end.
    through = [...through, ...done.release].slice(1);
  }
  expect(got.few / got.flood).toBeGreaterThan(2.5);
  expect(got.few / got.flood).toBeLessThan(3.5);
});

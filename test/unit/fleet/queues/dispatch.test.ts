import { describe, expect, test } from '@jest/globals';
import { dispatch, type DispatchInput, type QueuedGang } from '../../../../src/fleet/queues/dispatch.ts';
import { statusOf, deficitsOf, readQueue } from '../../../../src/fleet/queues/read-queue.ts';
import { gang, queue } from './made-queues.ts';

const run = (input: Partial<DispatchInput> & Pick<DispatchInput, 'queues'>) => {
  const { release, standings, ...rest } = dispatch({
    ...{ waiting: [], through: [], deficits: new Map(), now: 1_000, reserveAfterMs: 10_000 },
    ...input,
  });
  return {
    release: release.map(({ key }) => key),
    standings: standings.map(({ gang: { key, queue: name }, position, why }) => [name, position, key, why]),
    ...rest,
  };
};

/** Lets `waiting` through one at a time, as one that is through makes room for the next. */
function oneByOne(
  queues: DispatchInput['queues'],
  waiting: readonly QueuedGang[],
  through: QueuedGang[] = [],
) {
  let [left, deficits] = [waiting, new Map() as DispatchInput['deficits']];
  const order: string[] = [];
  while (left.length > 0) {
    const done = dispatch({ queues, waiting: left, through, deficits, now: 0, reserveAfterMs: 1, most: 1 });
    const [next] = done.release;
    if (next === undefined) break;
    order.push(next.key);
    ({ deficits } = done);
    left = left.filter(({ key }) => key !== next.key);
  }
  return order;
}

describe('who is let through', () => {
  test('by priority, then age, then uid', () => {
    const waiting = [
      gang('young', 'q', { since: 3 }),
      gang('old', 'q', { since: 1 }),
      gang('urgent', 'q', { since: 9, priority: 5 }),
      gang('same-b', 'q', { since: 2, uid: 'b' }),
      gang('same-a', 'q', { since: 2, uid: 'a' }),
    ];
    expect(run({ queues: [queue('q')], waiting }).release).toEqual([
      'urgent',
      'old',
      'same-a',
      'same-b',
      'young',
    ]);
  });

  test('of two equal queues one each', () => {
    const waiting = ['rb1', 'rb2', 'rb3'].map((key, since) => gang(key, 'q1', { since }));
    waiting.push(...['rb4', 'rb5', 'rb6'].map((key, since) => gang(key, 'q2', { since })));
    const queues = [queue('q1'), queue('q2')];
    const order = ['rb1', 'rb4', 'rb2', 'rb5', 'rb3', 'rb6'];
    expect(run({ queues, waiting }).release).toEqual(order);
    // The same where there are minutes between two of them: the deficits go along.
    expect(oneByOne(queues, waiting)).toEqual(order);
  });

  test('by weight, in Pods and not in gangs', () => {
    const small = Array.from({ length: 12 }, (_, since) => gang(`s${since}`, 'small', { since, pods: 1 }));
    const large = Array.from({ length: 12 }, (_, since) => gang(`l${since}`, 'large', { since, pods: 4 }));
    const first = run({
      queues: [queue('small'), queue('large')],
      waiting: [...small, ...large],
      most: 10,
    }).release;
    expect(first.filter((key) => key.startsWith('l'))).toHaveLength(2);
    const weighed = run({
      queues: [queue('small', { weight: 1 }), queue('large', { weight: 12 })],
      waiting: [...small, ...large],
      most: 8,
    }).release;
    expect(weighed.filter((key) => key.startsWith('l'))).toHaveLength(6);
  });

  test('the parts of a queue share what the queue gets', () => {
    const names = ['a1', 'a2', 'b'];
    const queues = [queue('a'), queue('a1', { parent: 'a' }), queue('a2', { parent: 'a' }), queue('b')];
    const waiting = names.flatMap((name) =>
      Array.from({ length: 8 }, (_, since) => gang(`${name}-${since}`, name, { since })),
    );
    const { release } = run({ queues, waiting, most: 8 });
    const count = (name: string): number => release.filter((key) => key.startsWith(`${name}-`)).length;
    expect(names.map(count)).toEqual([2, 2, 4]);
  });

  test('never more than a queue has, or one that it is a part of', () => {
    const queues = [
      queue('org', { capacity: { 'nvidia.com/gpu': 10 } }),
      queue('a', { parent: 'org', capacity: { 'nvidia.com/gpu': 8 } }),
      queue('b', { parent: 'org' }),
    ];
    const through = [gang('runs', 'a', { requests: { 'nvidia.com/gpu': 4 } })];
    const waiting = [
      gang('a-large', 'a', { requests: { 'nvidia.com/gpu': 6 } }),
      gang('a-small', 'a', { since: 2, requests: { 'nvidia.com/gpu': 4 } }),
      gang('b-one', 'b', { since: 3, requests: { 'nvidia.com/gpu': 4 } }),
      gang('b-other', 'b', { since: 4, requests: { cpu: 64_000 } }),
    ];
    const { release, standings, room } = run({ queues, waiting, through });
    expect(release).toEqual(['a-small', 'b-other']);
    expect(standings).toEqual([
      ['a', 1, 'a-large', 'queue "a" has 4 of 8 nvidia.com/gpu left, and 6 are needed'],
      ['b', 1, 'b-one', 'queue "org" has 2 of 10 nvidia.com/gpu left, and 4 are needed'],
    ]);
    expect(Object.fromEntries(room.used('org'))).toEqual({ 'nvidia.com/gpu': 8, cpu: 64_000 });
  });

  test('one that is too large for what is free is passed, until room is kept for it', () => {
    const queues = [
      queue('org', { capacity: { cpu: 4_000 } }),
      queue('a', { parent: 'org' }),
      queue('b', { parent: 'org' }),
    ];
    const through = [gang('runs', 'a', { requests: { cpu: 2_000 } })];
    const waiting = [
      gang('large', 'a', { since: 0, requests: { cpu: 4_000 } }),
      gang('small', 'b', { since: 500, requests: { cpu: 1_000 } }),
    ];
    const before = run({ queues, waiting, through, now: 9_999 });
    expect(before.release).toEqual(['small']);
    expect(before.nextReservation).toBe(10_000);
    const after = run({ queues, waiting, through, now: 10_000 });
    expect(after.release).toEqual([]);
    expect(after.standings).toEqual([
      ['a', 1, 'large', 'queue "org" has 2 of 4 cpu left, and 4 are needed; room is kept for it'],
      ['b', 1, 'small', 'room in queue "org" is kept for "large", which waits for it'],
    ]);
    expect(run({ queues, waiting, now: 10_000 }).release).toEqual(['large']);
  });

  test('one for whom room is kept comes before newcomers of other queues, and behind those before it in its own', () => {
    const queues = [
      queue('org', { capacity: { cpu: 4_000 } }),
      queue('a', { parent: 'org', weight: 9 }),
      queue('b', { parent: 'org' }),
    ];
    const cpu = { requests: { cpu: 4_000 } };
    const old = gang('old', 'b', cpu);
    const fresh = gang('fresh', 'a', { ...cpu, since: 9_000 });
    expect(run({ queues, waiting: [fresh, old], now: 9_999 }).release).toEqual(['fresh']);
    expect(run({ queues, waiting: [fresh, old], now: 10_000 }).release).toEqual(['old']);
    const urgent = gang('urgent', 'b', { ...cpu, since: 9_000, priority: 1 });
    expect(run({ queues, waiting: [fresh, old, urgent], now: 10_000 }).release).toEqual(['urgent']);
    // Where all have waited for long weight and what is owed decide, as before; so they do beside one that never fits.
    const deficits = new Map([['a', 1]]);
    expect(run({ queues, waiting: [fresh, old], deficits, now: 20_000 }).release).toEqual(['fresh']);
    const never = gang('never', 'b', { requests: { cpu: 5_000 } });
    expect(run({ queues, waiting: [fresh, never], now: 10_000 }).release).toEqual(['fresh']);
    const newcomer = gang('newcomer', 'b', { ...cpu, since: 9_000 });
    expect(run({ queues, waiting: [fresh, never, newcomer], deficits, now: 10_000 }).release).toEqual([
      'fresh',
    ]);
  });

  test('room that its own queue lacks is not kept in the one that the queue is a part of', () => {
    const queues = [
      queue('org', { capacity: { cpu: 4_000 } }),
      queue('a', { parent: 'org', capacity: { cpu: 2_000 } }),
      queue('b', { parent: 'org' }),
    ];
    const through = [gang('runs', 'a', { requests: { cpu: 1_000 } })];
    const waiting = [
      gang('large', 'a', { requests: { cpu: 2_000 } }),
      gang('small', 'a', { since: 5, requests: { cpu: 1_000 } }),
      gang('other', 'b', { since: 5, requests: { cpu: 3_000 } }),
    ];
    const { release, standings } = run({ queues, waiting, through, now: 20_000 });
    expect(release).toEqual(['other']);
    expect(standings.map(([, , key]) => key)).toEqual(['large', 'small']);
  });

  test('what never fits is told so, and keeps nobody waiting', () => {
    const queues = [queue('q', { capacity: { memory: 2 ** 30 } })];
    const waiting = [
      gang('never', 'q', { requests: { memory: 2 ** 31 } }),
      gang('next', 'q', { since: 5, requests: { memory: 2 ** 30 } }),
    ];
    const { release, standings, nextReservation } = run({ queues, waiting, now: 20_000 });
    expect(release).toEqual(['next']);
    expect(nextReservation).toBeUndefined();
    expect(standings).toEqual([
      [
        'q',
        1,
        'never',
        'asks for 2Gi memory, more than the 1Gi of queue "q"; raise spec.capacity or ask for less',
      ],
    ]);
  });

  test.each([
    [
      'on hold',
      [queue('q', { hold: true })],
      'queue "q" is on hold; take spec.hold away to let gangs through',
    ],
    [
      'a part of one on hold',
      [queue('org', { hold: true }), queue('q', { parent: 'org' })],
      'queue "org" is on hold; take spec.hold away to let gangs through',
    ],
    ['absent', [queue('other')], 'there is no queue "q"; create it, or name another one'],
    [
      'without its parent',
      [queue('q', { parent: 'gone' })],
      'queue "q" names the parent "gone", which does not exist; create it, or take spec.parent away',
    ],
    [
      'its own ancestor',
      [queue('q', { parent: 'p' }), queue('p', { parent: 'q' })],
      'the parents of queue "q" come to no end within 10 levels (q → p → q); correct spec.parent of one of them',
    ],
  ])('nobody through a queue that is %s', (_what, queues, why) => {
    expect(run({ queues, waiting: [gang('one', 'q')] })).toMatchObject({
      release: [],
      standings: [['q', 1, 'one', why]],
    });
  });

  test('not more at once than asked for', () => {
    const waiting = [gang('one', 'q'), gang('two', 'q', { since: 5 })];
    expect(run({ queues: [queue('q')], waiting, most: 1 })).toMatchObject({
      release: ['one'],
      standings: [['q', 1, 'two', 'its turn comes with the next ones']],
    });
  });
});

test('what queues are owed is in their status from one time to the next', () => {
  const records = ['org', 'a', 'b'].map((name) =>
    readQueue({
      metadata: { name, generation: 1 },
      spec: { weight: name === 'b' ? 2 : 1, ...(name !== 'org' && { parent: 'org' }) },
    }),
  );
  const queues = records.map((one) => one.queue);
  const waiting = ['org', 'a', 'b', 'a', 'b'].map((at, index) => gang(`g${index}`, at, { since: index }));
  const done = run({ queues, waiting, now: 20_000, most: 1 });
  expect(done.release).toEqual(['g1']);
  const counts = { through: 0, waiting: 0, releasing: [], letThrough: {} };
  const written = records.map((one) => ({ ...one, status: statusOf(one, done, counts, new Date(0)) }));
  const owed = deficitsOf(written);
  expect(owed.size).toBe(12);
  // All of them are overdue, so what is owed of overdue turns is the same.
  expect(Object.fromEntries([...owed].filter(([, pods]) => pods !== 0))).toEqual(
    Object.fromEntries(
      ['', '!'].flatMap((of) => [
        [`org/${of}`, 0.25],
        [`a${of}`, -0.75],
        [`b${of}`, 0.5],
      ]),
    ),
  );
  expect(run({ queues, waiting, deficits: owed, now: 20_000, most: 1 }).release).toEqual(['g2']);
});

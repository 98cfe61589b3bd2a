import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { inLength } from '../../../support/length.ts';
import { EMPTY, TIMES, World } from './world.ts';

const HOUR = 3_600_000;
/** Less than TIMES.settleMs. */
const LAG = 30_000;
const NAMES = ['Mutating', 'Validating'];

type Event = (world: World) => void;

const index = fc.nat({ max: 2 });
const of = (world: World, replica: number): number => replica % world.replicas.length;

/** What replicas do, cut into reading and writing, so that they interleave, and end between the two. */
const life: fc.Arbitrary<Event> = fc.oneof(
  index.map(
    (at): Event =>
      (world) =>
        void world.read(of(world, at)),
  ),
  index.map(
    (at): Event =>
      (world) =>
        world.write(of(world, at)),
  ),
  index.map(
    (at): Event =>
      (world) =>
        world.settle(of(world, at)),
  ),
  index.map(
    (at): Event =>
      (world) =>
        world.crash(of(world, at)),
  ),
  fc.integer({ min: 1, max: 200_000 }).map(
    (ms): Event =>
      (world) =>
        world.pass(ms),
  ),
);
/** Long enough for leaves and CAs to become due, in steps that a watch or a poll would cut, too. */
const age: fc.Arbitrary<Event> = fc.integer({ min: 1, max: 150 }).map(
  (hours): Event =>
    (world) =>
      aged(world, hours),
);
const aged = (world: World, hours: number): void => {
  for (let left = hours; left > 0; left -= 25) {
    world.passed += Math.min(left, 25) * HOUR;
    for (const replica of world.replicas) replica.again = world.passed;
    world.pass(2 * TIMES.settleMs + 10);
  }
};

/** The moment at which the next CA is due, before anybody has noticed. */
function untilCaDue(world: World): void {
  world.pass(10 * 60_000);
  const left = (): number =>
    (world.secret?.value.current?.notAfter ?? 0) - TIMES.ca.renewBeforeMs - world.serverAhead - world.passed;
  while (left() > 26 * HOUR) aged(world, 25);
  world.passed += Math.max(0, left()) + 1;
}
const caDue = fc.constant<Event>(untilCaDue);

const moment: fc.Arbitrary<Event> = fc.integer({ min: 1, max: 20_000 }).map(
  (ms): Event =>
    (world) =>
      void (world.passed += ms),
);

/** Clocks that are set: of the API server, and of a replica's machine. */
const hours = fc.oneof(fc.integer({ min: -20, max: 20 }), fc.integer({ min: -9_000, max: 9_000 }));
const clock: fc.Arbitrary<Event> = fc.oneof(
  hours.map(
    (by): Event =>
      (world) =>
        world.meddle(() => (world.serverAhead += by * HOUR)),
  ),
  fc.tuple(index, hours).map(([at, by]): Event => (world) => {
    const replica = world.replicas[of(world, at)];
    if (replica !== undefined) replica.ahead += by * HOUR;
  }),
);

const slot = fc.constantFrom('current' as const, 'next' as const, 'leaf' as const);
const bundle = fc.tuple(fc.constantFrom(...NAMES), fc.nat({ max: 1 }));
const damage: fc.Arbitrary<Event> = fc.oneof(
  slot.map(
    (name): Event =>
      (world) =>
        world.meddle(() => world.secret && world.setSecret({ ...world.secret.value, [name]: undefined })),
  ),
  fc.constant<Event>((world) => world.meddle(() => world.setSecret(undefined))),
  fc.constant<Event>((world) => world.meddle(() => world.setSecret(EMPTY))),
  bundle.map(
    ([name, at]): Event =>
      (world) =>
        world.meddle(() => world.setBundle(name, at, [])),
  ),
  fc.tuple(bundle, fc.integer({ min: 1, max: 2_000 })).map(
    ([[name, at], life]): Event =>
      (world) =>
        world.meddle(() => world.setBundle(name, at, [world.foreignCa(life * HOUR)])),
  ),
  fc.constantFrom(...NAMES).map(
    (name): Event =>
      (world) =>
        world.meddle(() => world.configurations.delete(name)),
  ),
  fc.constantFrom(...NAMES).map(
    (name): Event =>
      (world) =>
        world.meddle(() => world.register(name)),
  ),
);

/** Watches that are lost, and come again. */
const watches: fc.Arbitrary<Event> = fc.boolean().map(
  (lost): Event =>
    (world) =>
      void (world.deaf = lost),
);

const replicas = fc.integer({ min: 1, max: 3 });
const histories = (...kinds: fc.Arbitrary<Event>[]) => fc.array(fc.oneof(...kinds), { maxLength: 60 });

/** What an administrator would do, then time enough for everything that is due. */
function recover(world: World): void {
  world.meddle(() => {
    if (world.secret === undefined) world.setSecret(EMPTY);
    for (const name of NAMES) if (!world.configurations.has(name)) world.register(name);
  });
  world.pass(10 * 60_000);
}

function expectWhole(world: World): void {
  expect(world.wrong).toEqual([]);
  expect(world.unserved()).toEqual([]);
  const leaves = new Set(world.replicas.map(({ served }) => served?.leaf.id));
  expect([...leaves]).toEqual([world.secret?.value.leaf?.id]);
  const before = world.writes;
  for (let round = 0; round < 3; round += 1) world.replicas.forEach((_, at) => world.settle(at));
  expect(world.writes).toBe(before);
}

describe('any history of replicas, clocks and damage', () => {
  test('ends with one leaf that everybody serves and every caBundle covers, and then nobody writes', () => {
    fc.assert(
      fc.property(replicas, histories(life, age, clock, damage, watches), (count, events) => {
        const world = new World(count);
        for (const event of events) event(world);
        recover(world);
        expectWhole(world);
      }),
      { numRuns: inLength({ short: 500, long: 5_000 }) },
    );
  });

  test('without damage nobody serves what API servers refuse, even those that are half a minute behind', () => {
    fc.assert(
      fc.property(replicas, histories(life, life, moment, age, caDue, watches), (count, events) => {
        const world = new World(count);
        for (const event of events) {
          event(world);
          const idle = world.replicas.flatMap(({ served }, at) => (served === undefined ? [at] : []));
          expect(world.unserved().filter((at) => !idle.includes(at))).toEqual([]);
          // Before the first leaf there was nothing better to serve.
          if (world.passed - world.firstServed > LAG) expect(world.refusedByLagging(LAG)).toEqual([]);
        }
        expect(world.wrong).toEqual([]);
      }),
      { numRuns: inLength({ short: 200, long: 2_000 }) },
    );
  });
});

describe('writes', () => {
  test('a first start takes four, whoever makes them', () => {
    for (const count of [1, 2, 3]) {
      const world = new World(count);
      world.pass(1);
      expect(world.writes).toBe(4);
      expect(world.unserved()).toEqual([]);
    }
  });

  test('a leaf costs one, a CA four, and none is made before two thirds of its life', () => {
    const world = new World(3);
    world.pass(10 * 60_000);
    const leaf = world.secret?.value.leaf?.id;
    aged(world, 399);
    expect([world.writes, world.secret?.value.leaf?.id === leaf]).toEqual([4, true]);
    aged(world, 2);
    expect([world.writes, world.secret?.value.leaf?.id === leaf]).toEqual([5, false]);
    // In 2000 hours come five leaves of 400 hours, and the next CA with a leaf of its own.
    aged(world, 1_650);
    expect(world.secret?.value.next).toBeUndefined();
    expect(world.writes).toBe(4 + 5 + 4);
    expect(world.unserved()).toEqual([]);
  });

  test('the next CA signs nothing before API servers have had time to read it, even if a replica starts meanwhile', () => {
    const world = new World(2);
    untilCaDue(world);
    const leaf = world.secret?.value.leaf;
    world.crash(0);
    world.settle(0);
    const { next } = world.secret?.value ?? {};
    expect(next).toBeDefined();
    world.pass(TIMES.settleMs - 1_000);
    expect(world.secret?.value.leaf).toBe(leaf);
    world.pass(2_000);
    expect(world.secret?.value.leaf?.signers).toEqual([next?.id]);
    expect(world.secret?.value.current).toBe(next);
  });

  test('a clock that is set to and fro makes no storm', () => {
    fc.assert(
      fc.property(replicas, fc.array(clock, { minLength: 1, maxLength: 40 }), (count, events) => {
        const world = new World(count);
        world.pass(10 * 60_000);
        const before = world.writes;
        for (const event of events) {
          event(world);
          world.pass(1_000);
        }
        expect(world.wrong).toEqual([]);
        // A jump may end a CA and a leaf: a CA, two configurations, a leaf, and as many to take out what has expired.
        expect(world.writes - before).toBeLessThanOrEqual(6 * events.length);
      }),
      { numRuns: inLength({ short: 200, long: 2_000 }) },
    );
  });

  test('two API servers whose clocks differ by years: one write a minute at most', () => {
    const world = new World(2);
    world.pass(10 * 60_000);
    const before = world.writes;
    for (let second = 0; second < 600; second += 1) {
      world.serverAhead += (second % 2 === 0 ? 1 : -1) * 20_000 * HOUR;
      world.replicas.forEach((_, at) => world.settle(at));
      world.passed += 1_000;
    }
    expect(world.wrong).toEqual([]);
    expect(world.writes - before).toBeLessThanOrEqual(80);
  });
});

describe('bundles', () => {
  test('a foreign CA stays until it has expired, and goes then', () => {
    const world = new World(2);
    const foreign = world.foreignCa(300 * HOUR);
    world.setBundle('Mutating', 0, [foreign]);
    const trusted = () => world.stored().configurations[0]?.webhooks[0]?.trusts.map(({ id }) => id);
    world.pass(10 * 60_000);
    expect(trusted()).toEqual([foreign.id, world.secret?.value.current?.id]);
    aged(world, 310);
    expect(trusted()).toContain(foreign.id);
    aged(world, 25);
    expect(trusted()).toEqual([world.secret?.value.current?.id]);
  });

  test('whoever empties Secret and caBundles gets the CA of the leaf in service back, and a new one beside it', () => {
    const world = new World(2);
    world.pass(10 * 60_000);
    const [leaf, old] = [world.secret?.value.leaf?.id, world.secret?.value.current?.id];
    world.meddle(() => {
      world.setSecret(EMPTY);
      for (const name of NAMES) [0, 1].forEach((at) => world.setBundle(name, at, []));
    });
    world.pass(1_000);
    expect(world.unserved()).toEqual([]);
    expect(world.replicas.map(({ served }) => served?.leaf.id)).toEqual([leaf, leaf]);
    const trusted = () => world.stored().configurations[1]?.webhooks[1]?.trusts.map(({ id }) => id);
    expect(trusted()).toEqual([world.secret?.value.current?.id, old]);
    // A replica that starts now has nothing better than the new leaf; the other waits for slow API servers.
    world.crash(1);
    world.pass(1_000);
    expect(world.replicas[0]?.served?.leaf.id).toBe(leaf);
    expect(world.replicas[1]?.served?.leaf.signers).toEqual([world.secret?.value.current?.id]);
    world.pass(2 * TIMES.settleMs);
    expectWhole(world);
  });

  test('what another program is asked to write is left to it', () => {
    const world = new World(1);
    const found = world.configurations.get('Mutating');
    if (found === undefined) throw new Error('not registered');
    found.value = { ...found.value, injector: 'cert-manager.io/inject-ca-from' };
    world.pass(10 * 60_000);
    expect(world.unserved()).toEqual([0]);
    expect(world.stored().configurations[0]?.webhooks[0]?.trusts).toEqual([]);
    // The CA, and the caBundles of the other configuration.
    expect(world.writes).toBe(2);
  });
});

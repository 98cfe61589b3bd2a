/** How long a gang takes from complete to released, by the events of the watches and the answers to its writes. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ReleaseClock, type ReleaseEnd } from '../../../../src/controller/gangs/release-clock.ts';
import { BY_GANG, POD_INDEXERS } from '../../../../src/controller/watch/gang-view.ts';
import { EVERY_GANG } from '../../../../src/gang/gang-selection.ts';
import { planGang } from '../../../../src/gang/plan/plan.ts';
import type { Ungate } from '../../../../src/gang/plan/gang-plan.ts';
import type { GangRecord, NamespaceRecord, PodRecord } from '../../../../src/gang/records.ts';
import { Cache } from '../../../../src/kube/loop/cache.ts';
import { bound, gang, group, pod, PODS, state } from '../../gang/plan/gang-states.ts';

const KEY = 'ml/train';

/** The watches of one gang. Each event has a resourceVersion, and comes 100 ms after the one before. */
class World {
  readonly view = {
    pods: new Cache<PodRecord>(POD_INDEXERS),
    gangs: new Cache<GangRecord>(),
    namespaces: new Cache<NamespaceRecord>(),
  };
  readonly ended: [ReleaseEnd, number][] = [];
  now = 0;
  #version = 100;
  readonly clock = new ReleaseClock({
    view: this.view,
    selectors: EVERY_GANG,
    now: () => this.now,
    ended: (how, ms) => this.ended.push([how, ms]),
  });

  pod(...all: readonly PodRecord[]): void {
    for (const one of all) {
      this.now += 100;
      const record = { ...one, resourceVersion: String(++this.#version) };
      for (const change of this.view.pods.put(record)) this.clock.touched(`ml/${one.gang}`, change);
    }
  }

  gang(parts: Parameters<typeof gang>[0] = {}): void {
    this.now += 100;
    const record = gang({ ...parts, resourceVersion: String(++this.#version) });
    for (const change of this.view.gangs.put(record)) this.clock.touched(KEY, change);
  }

  without(...names: readonly string[]): void {
    for (const name of names) {
      this.now += 100;
      for (const change of this.view.pods.forget('ml', name)) this.clock.touched(KEY, change);
    }
  }

  noGang(): void {
    this.now += 100;
    for (const change of this.view.gangs.forget('ml', 'train')) this.clock.touched(KEY, change);
  }

  /** The API server answers that the gates of these Pods are off. */
  answers(...names: readonly string[]): void {
    for (const name of names) {
      this.now += 100;
      const uid = this.view.pods.get('ml', name)?.uid ?? `uid-${name}`;
      this.clock.ungated({ namespace: 'ml', pod: name, uid, gang: 'train' } as Ungate);
    }
  }

  judge(): void {
    const pods = this.view.pods.byIndex(BY_GANG, KEY);
    const seen = state({ gang: this.view.gangs.get('ml', 'train') ?? 'missing', pods });
    this.clock.judged(KEY, planGang(seen));
  }
}

const NAMES = PODS.map(({ name }) => name);
const freed = NAMES.map((name) => bound(name));

test.each<[string, (world: World) => void, World['ended']]>([
  [
    'from the last Pod to the last answer, however late the judgement',
    (world) => {
      world.gang();
      world.pod(...PODS);
      world.now += 58_000;
      world.judge();
      world.answers(...NAMES);
      world.pod(...freed);
    },
    [['released', 58_300]],
  ],
  [
    'from the gang, where it comes after its Pods',
    (world) => {
      world.pod(...PODS);
      world.now += 5_000;
      world.gang();
      world.answers(...NAMES);
    },
    [['released', 300]],
  ],
  [
    'to the watch, where it is faster than the answer',
    (world) => {
      world.gang();
      world.pod(...PODS, ...freed);
      world.answers(...NAMES);
    },
    [['released', 300]],
  ],
  [
    'not to Pods that come on top later',
    (world) => {
      world.gang();
      world.pod(...PODS);
      world.now += 1_000;
      world.pod(pod('workers-2'));
      world.answers(...NAMES, 'workers-2');
    },
    [['released', 1_500]],
  ],
  [
    'again where a Pod was replaced',
    (world) => {
      world.gang();
      world.pod(...PODS, ...freed);
      world.without('workers-1');
      world.pod(pod('workers-1', { uid: 'another' }));
      world.answers('workers-1');
    },
    [
      ['released', 300],
      ['released', 100],
    ],
  ],
  [
    'of one that is deleted before, for itself',
    (world) => {
      world.gang();
      world.pod(...PODS);
      world.now += 1_000;
      world.noGang();
      world.without(...NAMES);
    },
    [['unreleased', 1_100]],
  ],
  [
    'of one that is being deleted, once',
    (world) => {
      world.gang();
      world.pod(...PODS);
      world.gang({ deletionTimestamp: '2026-06-01T12:00:00Z' });
      world.without(...NAMES);
      world.noGang();
    },
    [['unreleased', 100]],
  ],
  [
    'of one that loses a Pod before, and of its next try',
    (world) => {
      world.gang();
      world.pod(...PODS);
      world.pod(pod('workers-1', { deletionTimestamp: '2026-06-01T12:00:00Z' }));
      world.without('workers-1');
      world.pod(pod('workers-1', { uid: 'another' }));
      world.answers(...NAMES);
    },
    [
      ['unreleased', 100],
      ['released', 300],
    ],
  ],
  [
    'of one that needs fewer Pods from now on',
    (world) => {
      world.gang();
      world.pod(...PODS.slice(0, 2));
      world.gang({ groups: [group('leader', 1), group('workers', 1)] });
      world.answers('leader-0', 'workers-0');
    },
    [['released', 200]],
  ],
  [
    'of one of the same name that follows',
    (world) => {
      world.gang();
      world.pod(...PODS);
      world.noGang();
      world.gang({ uid: 'another' });
      world.answers(...NAMES);
    },
    [
      ['unreleased', 100],
      ['released', 300],
    ],
  ],
  [
    'of one that is never whole nothing',
    (world) => {
      world.gang();
      world.pod(...PODS.slice(0, 2));
      world.without('leader-0', 'workers-0');
      world.noGang();
    },
    [],
  ],
  [
    'of one without groups nothing',
    (world) => {
      world.gang({ groups: [] });
      world.pod(...PODS);
      world.noGang();
    },
    [],
  ],
  [
    'of one that waits for a base gang nothing',
    (world) => {
      world.gang();
      world.pod(...PODS.map((one) => ({ ...one, baseGang: 'base' })));
      world.answers(...NAMES);
    },
    [],
  ],
  [
    'of one of the Grove operator nothing',
    (world) => {
      world.gang({ labels: new Map([['app.kubernetes.io/managed-by', 'grove-operator']]) });
      world.pod(...PODS, ...freed);
    },
    [],
  ],
  [
    'with a Pod of another gang that comes in by its label',
    (world) => {
      world.gang();
      world.pod(...PODS.slice(0, 2), pod('workers-1', { gang: 'other' }));
      world.pod(pod('workers-1'));
      world.answers(...NAMES);
    },
    [['released', 300]],
  ],
])('%s', (_, happens, expected) => {
  const world = new World();
  happens(world);
  expect(world.ended).toEqual(expected);
});

test('a judgement knows better: a Pod of no group keeps no gang waiting, one prepared for another scheduler does', () => {
  const stray = new World();
  stray.gang();
  stray.pod(pod('stray-0', { group: 'nobodys' }), ...PODS, ...freed);
  expect(stray.clock.oldestMs).toBe(300);
  stray.pod(pod('stray-0', { deletionTimestamp: '2026-06-01T12:00:00Z' }));
  expect(stray.ended).toEqual([['released', 400]]);
  expect(stray.clock.oldestMs).toBe(0);

  const misplaced = new World();
  misplaced.gang();
  misplaced.pod(...PODS.map((one) => ({ ...one, schedulerName: 'kube' })));
  const seen = state({
    gang: gang(),
    pods: [...PODS.slice(0, 2), pod('workers-1', { schedulerName: 'volcano' })],
    backend: { ...state().backend, schedulerName: 'kube' },
  });
  misplaced.clock.judged(KEY, planGang(seen));
  expect(misplaced.clock.oldestMs).toBe(0);
  misplaced.now += 1_000;
  misplaced.judge();
  misplaced.now += 50;
  expect(misplaced.clock.oldestMs).toBe(50);
});

test('the oldest one that waits', () => {
  const world = new World();
  expect(world.clock.oldestMs).toBe(0);
  world.gang();
  world.pod(...PODS.slice(0, 2));
  expect(world.clock.oldestMs).toBe(0);
  world.pod(pod('workers-1'));
  world.now += 7_000;
  expect(world.clock.oldestMs).toBe(7_000);
  world.answers(...NAMES);
  expect(world.clock.oldestMs).toBe(0);
});

const step = fc.oneof(
  fc.record({
    do: fc.constantFrom('gate', 'free', 'fail', 'remove', 'answer'),
    name: fc.constantFrom(...NAMES),
  }),
  fc.record({ do: fc.constantFrom('gang', 'smaller', 'noGang', 'judge'), name: fc.constant('') }),
);

/** What is waited for, found out by counting everything at each step. */
function counted(world: World, answered: ReadonlySet<string>): { complete: boolean; gated: boolean } {
  const pods = world.view.pods.byIndex(BY_GANG, KEY);
  const plan = planGang(state({ gang: world.view.gangs.get('ml', 'train') ?? 'missing', pods }));
  const groups = plan.summary?.groups ?? [];
  return {
    complete: groups.length > 0 && groups.every(({ present, expected }) => present >= expected),
    gated: pods.some(({ uid, gates }) => gates.length > 0 && !answered.has(uid)),
  };
}

test('whatever happens in whatever order, it is as if everything had been counted at each step', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const world = new World();
      const answered = new Set<string>();
      const ended: World['ended'] = [];
      let since: number | undefined;
      let lives = 0;
      for (const { do: what, name } of steps) {
        const shown = world.view.pods.get('ml', name);
        if (what === 'gate') {
          // A Pod never gets its gate back: one of the same name is another.
          if (shown?.gates.length === 0) world.without(name);
          else world.pod(pod(name, { uid: shown?.uid ?? `${name}/${++lives}` }));
        } else if (what === 'free') world.pod(bound(name, { uid: shown?.uid ?? `${name}/${++lives}` }));
        else if (what === 'fail') {
          if (shown !== undefined) world.pod({ ...shown, phase: 'Failed' });
        } else if (what === 'remove') world.without(name);
        else if (what === 'answer') world.answers(name);
        else if (what === 'gang') world.gang();
        else if (what === 'smaller') world.gang({ groups: [group('leader', 1), group('workers', 1)] });
        else if (what === 'noGang') world.noGang();
        else world.judge();
        if (what === 'answer' && shown !== undefined && shown.gates.length > 0) answered.add(shown.uid);
        const { complete, gated } = counted(world, answered);
        if (complete && gated) since ??= world.now;
        else if (since !== undefined) {
          ended.push([complete ? 'released' : 'unreleased', world.now - since]);
          since = undefined;
        }
        expect(world.clock.oldestMs).toBe(since === undefined ? 0 : world.now - since);
      }
      expect(world.ended).toEqual(ended);
    }),
    { numRuns: 500 },
  );
});

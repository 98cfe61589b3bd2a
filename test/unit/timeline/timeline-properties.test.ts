import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { lanesOf } from '../../../src/timeline/lanes.ts';
import { LIFE_STEPS } from '../../../src/timeline/step.ts';
import { timelineSvg } from '../../../src/timeline/timeline-svg.ts';
import type { TimelineInput } from '../../../src/timeline/timeline.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { condition, event, gang, msOf, pod, released, timeline } from './objects.ts';

const second = fc.integer({ min: -30, max: 500 });
const maybe = fc.option(second, { nil: undefined });

/** A Pod at any moment of any life, clocks that differ included: it may be bound before it was created. */
const anyPod = fc
  .record({
    index: fc.nat({ max: 5 }),
    group: fc.constantFrom('leader', 'worker', 'stranger'),
    created: second,
    gated: fc.boolean(),
    bound: maybe,
    started: maybe,
    ready: maybe,
    deleted: maybe,
    ended: maybe,
    evicted: maybe,
    attempt: fc.constantFrom(undefined, '0', '1'),
    refused: fc.boolean(),
  })
  .map(({ index, attempt, refused, ...life }) => ({
    name: `${life.group}-${index}`,
    life,
    attempt,
    refused,
  }));

const anyEvent = fc.record({
  at: second,
  reason: fc.constantFrom(
    'GatesRemoved',
    'FailedScheduling',
    'Scheduled',
    'Preempted',
    'Killing',
    'Unschedulable',
    'Odd',
  ),
  about: fc.constantFrom('leader-0', 'worker-0', 'worker-1', 'train'),
  uid: fc.constantFrom('now', 'before'),
});

const anyInput = fc
  .record({
    initialized: maybe,
    pods: fc.uniqueArray(anyPod, { maxLength: 8, selector: ({ name }) => name }),
    events: fc.array(anyEvent, { maxLength: 8 }),
    exists: fc.boolean(),
    now: second,
  })
  .map(({ initialized, pods, events, exists, now }): Partial<TimelineInput> => ({
    gang: exists
      ? gang({ ...(initialized !== undefined && { initialized }), groups: { leader: 1, worker: 2 } })
      : undefined,
    pods: pods.map(({ name, life, attempt, refused }): JsonObject => {
      const { bound, started, ready, deleted, ended, evicted, ...rest } = life;
      const known = Object.entries({ bound, started, ready, deleted, ended, evicted, attempt }).filter(
        ([, value]) => value !== undefined,
      );
      return pod(name, {
        ...rest,
        ...Object.fromEntries(known),
        ...(refused && { conditions: [condition('PodScheduled', 'False', life.created, 'no room')] }),
      });
    }),
    events: events.map(({ at, reason, about, uid }) =>
      reason === 'GatesRemoved'
        ? released(at, 'leader-0', about)
        : event(
            at,
            reason,
            'words',
            about === 'train'
              ? {}
              : { kind: 'Pod', name: about, uid: uid === 'now' ? about : `old-${about}` },
          ),
    ),
    now: msOf(now),
  }));

describe('of any objects, whatever the clocks say', () => {
  const holds = (check: (given: Partial<TimelineInput>) => void): void =>
    fc.assert(fc.property(anyInput, check), { numRuns: 200 });

  test('steps are in order of time, of known kinds, and none is there twice', () => {
    holds((given) => {
      const { steps } = timeline(given);
      const times = steps.map(({ at }) => Date.parse(at));
      expect(times).toEqual([...times].sort((a, b) => a - b));
      for (const { step, generation } of steps) {
        expect(LIFE_STEPS).toContain(step);
        expect(generation).toBeGreaterThanOrEqual(1);
      }
      const keys = steps.map(({ at, step, generation, pods, says }) =>
        [at, step, generation, pods.join(), step === 'refused' ? says : ''].join(' '),
      );
      expect(new Set(keys).size).toBe(keys.length);
    });
  });

  test('a Pod takes each step once in its life', () => {
    holds((given) => {
      const { steps, generations } = timeline({ ...given, events: [] });
      for (const kind of [
        'joined',
        'gates-off',
        'bound',
        'started',
        'ready',
        'evicted',
        'deleted',
        'ended',
      ]) {
        const pods = steps.filter(({ step }) => step === kind).flatMap((one) => one.pods);
        expect(new Set(pods).size).toBe(pods.length);
      }
      const lives = generations.flatMap(({ lives: some }) => some.map(({ uid }) => uid));
      expect(lives.sort()).toEqual(
        (given.pods ?? []).map((one) => (one['metadata'] as { uid: string }).uid).sort(),
      );
    });
  });

  test('the order in which objects are read changes nothing', () => {
    holds((given) => {
      const { pods = [], events = [] } = given;
      const turned = timeline({ ...given, pods: [...pods].reverse(), events: [...events].reverse() });
      expect(turned.steps.map((one) => JSON.stringify(one)).sort()).toEqual(
        timeline(given)
          .steps.map((one) => JSON.stringify(one))
          .sort(),
      );
    });
  });

  test('generations follow each other, and a Pod that is gated is never told as let go', () => {
    holds((given) => {
      const { generations } = timeline(given);
      generations.forEach(({ number, lives }, index) => {
        expect(number).toBe((generations[0]?.number ?? 1) + index);
        for (const { gated, gateOff } of lives) if (gated) expect(gateOff).toBeUndefined();
      });
    });
  });

  test('spans of a lane follow each other, and a picture can be drawn', () => {
    holds((given) => {
      const life = timeline(given);
      for (const { spans } of lanesOf(life))
        spans.forEach(({ from, to }, index) => {
          expect(to).toBeGreaterThan(from);
          expect(from).toBeGreaterThanOrEqual(spans[index - 1]?.to ?? -Infinity);
        });
      expect(timelineSvg(life)).not.toMatch(/NaN|undefined|Infinity/);
    });
  });
});

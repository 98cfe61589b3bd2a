/** What is worked out from a Pod once holds for another only where it would come out the same. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { gangKinds } from '../../../src/workloads/kinds.ts';
import type { PodMarks } from '../../../src/workloads/kind.ts';
import { namesOf } from '../../../src/workloads/pod-names.ts';
import { marksOf } from '../../../src/workloads/pod-origin.ts';
import { ListeningMarks, RememberedNames } from '../../../src/workloads/remembered-names.ts';
import { inLength } from '../../support/length.ts';
import { workloadPod } from '../../support/workload-pods.ts';

const marks = (controller: Partial<PodMarks['controller']> | undefined, labels: Record<string, string>) =>
  marksOf({
    metadata: {
      name: 'a',
      labels,
      ...(controller && {
        ownerReferences: [
          { apiVersion: 'v1', kind: 'K', name: 'n', uid: 'u', ...controller, controller: true },
        ],
      }),
    },
  });

describe('an outcome is found again', () => {
  const under = {};
  const filled = (): RememberedNames<string> => {
    const known = new RememberedNames<string>();
    const listening = new ListeningMarks(marks({}, { a: '1', b: '2' }));
    expect([listening.label('a'), listening.label('c'), listening.annotation('a'), listening.name]).toEqual([
      '1',
      undefined,
      undefined,
      'a',
    ]);
    known.remember(listening, under, 'told');
    return known;
  };

  test('for a Pod that answers the same, whatever else is on it', () => {
    expect(filled().find(marks({}, { a: '1', other: '3' }), under)).toBe('told');
  });

  test.each<[string, PodMarks]>([
    ['another answer', marks({}, { a: '2' })],
    ['an answer where there was none', marks({}, { a: '1', c: '' })],
    ['another name', { ...marks({}, { a: '1' }), name: 'b' }],
    ['another annotation', { ...marks({}, { a: '1' }), annotation: () => 'x' }],
    ['another controller', marks({ name: 'm' }, { a: '1' })],
    ['a controller of another uid', marks({ uid: 'v' }, { a: '1' })],
    ['a controller of another kind', marks({ kind: 'L' }, { a: '1' })],
    ['a controller of another group', marks({ apiVersion: 'x/v1' }, { a: '1' })],
    ['no controller', marks(undefined, { a: '1' })],
  ])('not with %s', (_, pod) => {
    expect(filled().find(pod, under)).toBeUndefined();
  });

  test('not under something else, and not of a Pod that nobody controls', () => {
    expect(filled().find(marks({}, { a: '1' }), {})).toBeUndefined();
    const known = new RememberedNames<string>();
    known.remember(new ListeningMarks(marks(undefined, {})), under, 'told');
    expect(known.find(marks(undefined, {}), under)).toBeUndefined();
  });

  test('of the last few, and of none with a text that is no name', () => {
    const known = new RememberedNames<number>();
    for (let at = 0; at < 9; at += 1)
      known.remember(new ListeningMarks(marks({ uid: `${at}` }, {})), under, at);
    const found = Array.from({ length: 9 }, (_, at) => known.find(marks({ uid: `${at}` }, {}), under));
    expect(found).toEqual([undefined, 1, 2, 3, 4, 5, 6, 7, 8]);
    const long = new ListeningMarks(marks({}, { a: 'x'.repeat(254) }));
    long.label('a');
    known.remember(long, under, 9);
    expect(known.find(marks({}, { a: 'x'.repeat(254) }), under)).toBeUndefined();
    const longName = { uid: 'x'.repeat(254) };
    known.remember(new ListeningMarks(marks(longName, {})), under, 9);
    expect(known.find(marks(longName, {}), under)).toBeUndefined();
  });
});

test('the names of a Pod are the same whoever came before it', () => {
  const given = fc.record({
    short: fc.constantFrom(...gangKinds.map(({ short }) => short)),
    name: fc.constantFrom('a', 'b'),
    group: fc.constantFrom('main', 'worker', 'leader'),
    part: fc.constantFrom('0', '1'),
    size: fc.option(fc.constant('main=2'), { nil: undefined }),
    foreign: fc.option(fc.constantFrom('job-a', 'other'), { nil: undefined }),
    uid: fc.constantFrom('1', '2'),
    lies: fc.boolean(),
  });
  const podOf = ({
    short,
    name,
    group,
    part,
    size,
    foreign,
    uid,
    lies,
  }: typeof given extends fc.Arbitrary<infer T> ? T : never) =>
    marksOf(
      workloadPod(short, name, group, {
        part,
        labels: { 'grove.io/podgang': foreign },
        annotations: size === undefined ? {} : { 'muster.dev/gang-size': size },
        controller: { uid, ...(lies && { name: 'mine' }) },
      }),
    );
  const property = fc.property(fc.array(given, { minLength: 1, maxLength: 20 }), (all) => {
    for (const one of all) {
      // Another list of the same kinds: nothing was worked out under it.
      expect(namesOf(podOf(one), gangKinds)).toEqual(namesOf(podOf(one), [...gangKinds]));
    }
  });
  fc.assert(property, { numRuns: inLength({ short: 200, long: 10_000 }) });
});

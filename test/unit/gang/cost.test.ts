import { describe, expect, test } from '@jest/globals';
import type { Json } from '../../../src/json/json.ts';
import { decideRequest } from '../../../src/admission/endpoints.ts';
import { parseReview } from '../../../src/admission/review.ts';
import { printable } from '../../../src/text/printable.ts';
import { isDnsSubdomain, isLabelKey } from '../../../src/k8s/name-syntax.ts';
import { condition, group, podGang, references } from '../../support/pod-gangs.ts';
import { gangPod } from '../../support/pods.ts';
import { policy } from '../../support/policy.ts';
import { endpointOf, mutatePod, review } from '../../support/reviews.ts';

/**
 * The largest write that an API server takes is 3 MiB. What is made of one here would take minutes, were any rule
 * quadratic. CPU time, so that a busy machine does not count.
 */
const LIMIT_MS = 10_000;
const many = <T>(length: number, make: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => make(index));

const millisecondsOf = (work: () => unknown): number => {
  const start = process.cpuUsage();
  work();
  return process.cpuUsage(start).user / 1000;
};

const hostile: [string, () => unknown][] = [
  [
    'many groups and as many unknown names',
    () => {
      const podGroupNames = many(30_000, (index) => `unknown-${index}`);
      return podGang({
        groups: many(15_000, (index) => group(`group-${index}`)),
        spec: { topologyConstraintGroupConfigs: [{ name: 'c', podGroupNames }] },
      });
    },
  ],
  ['many groups of one name', () => podGang({ groups: many(40_000, () => group('a')) })],
  [
    'many references to one Pod',
    () =>
      podGang({
        groups: [group('a', { podReferences: many(60_000, () => ({ namespace: 'ml', name: 'p' })) })],
      }),
  ],
  [
    'many configurations of many constraints',
    () =>
      podGang({
        spec: {
          topologyConstraintGroupConfigs: many(20_000, () => ({
            name: 'c',
            podGroupNames: ['leader'],
            topologyConstraint: { packConstraint: { required: '/', preferred: '/' } },
          })),
        },
      }),
  ],
  [
    'many conditions, half of them Initialized',
    () =>
      podGang({
        status: {
          conditions: many(60_000, (index) =>
            condition(index % 2 === 0 ? `Type${index}` : 'Initialized', 'True'),
          ),
        },
      }),
  ],
];

describe('the time for a PodGang grows with its size only', () => {
  test.each(hostile)('%s', (_what, make) => {
    const object = make() as ReturnType<typeof podGang>;
    const oldObject = podGang({ groups: [group('a', { podReferences: references('p') })] });
    const requests = [
      { object },
      { object, oldObject: object },
      { object, oldObject },
      { object, oldObject, subResource: 'status' },
    ].map((parts) => parseReview(review('PodGang', parts)));
    const under = policy();
    const took = millisecondsOf(() => {
      for (const request of requests) {
        decideRequest(endpointOf('mutate', 'PodGang'), request, under);
        decideRequest(endpointOf('validate', 'PodGang'), request, under);
      }
    });
    expect(took).toBeLessThan(LIMIT_MS);
  });
});

test('the time for a Pod grows with its size only', () => {
  const pairs = (value: (index: number) => Json): Record<string, Json> =>
    Object.fromEntries(many(60_000, (index) => [`key-${index}`, value(index)]));
  const object = gangPod({
    annotations: pairs(() => 'x'),
    spec: { schedulingGates: many(60_000, (index) => ({ name: `gate-${index}` })) },
  });
  expect(millisecondsOf(() => mutatePod({ object }))).toBeLessThan(LIMIT_MS);
});

test.each([
  ['a name of 3 MiB', () => isDnsSubdomain('a'.repeat(3 * 1024 * 1024))],
  ['a name made of ends', () => many(2_000, () => isDnsSubdomain(`${'a-'.repeat(126)}!`))],
  ['a key made of dots', () => many(2_000, () => isLabelKey(`${'a.'.repeat(126)}!/a`))],
  ['a text of 3 MiB for people', () => many(200, () => printable('\u0000'.repeat(3 * 1024 * 1024)))],
])('no text costs more than its length: %s', (_what, work) => {
  expect(millisecondsOf(work)).toBeLessThan(LIMIT_MS);
});

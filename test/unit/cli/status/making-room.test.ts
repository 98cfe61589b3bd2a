import { expect, test } from '@jest/globals';
import { planLine } from '../../../../src/cli/status/room.ts';
import type { PlanOutcome } from '../../../../src/preemption/outcome.ts';
import { readGangRecord } from '../../../../src/gang/read-records.ts';
import { statusOf } from './gangs.ts';

const why = (plan: string | undefined): string =>
  statusOf(
    [
      readGangRecord({
        metadata: {
          namespace: 'ml',
          name: 'train',
          uid: 'u',
          ...(plan !== undefined && { annotations: { 'muster.dev/preemption-plan': plan } }),
        },
        spec: { podgroups: [{ name: 'worker', minReplicas: 1, podReferences: [] }] },
      }),
    ],
    [],
  ).why;
const planOf = (gang: string, ...victims: string[][]): string =>
  JSON.stringify({ gang, at: '2026-06-01T12:00:00Z', nominations: [], victims });

test('a gang that room is being made for says so before all else, in numbers', () => {
  const rest = why(undefined);
  expect(why(planOf('u', ['a'], ['b', 'c']))).toBe(
    `room is being made: 3 Pods of lower priority have to go, since 2026-06-01T12:00:00.000Z; ${rest}`,
  );
  expect(why(planOf('u', ['a']))).toBe(
    `room is being made: 1 Pod of lower priority has to go, since 2026-06-01T12:00:00.000Z; ${rest}`,
  );
  expect(why(planOf('another', ['a']))).toBe(rest);
});

test('a gang that waits though there is room for it is not told that it fits', () => {
  const outcome = (plan: object): PlanOutcome =>
    ({ plan: { feasible: true, victims: [], awaited: [], ...plan } }) as unknown as PlanOutcome;
  expect(planLine(outcome({ fits: true }))).toBe(
    'plan: there is room for it now: its scheduler has not tried it again yet, or holds it for another reason',
  );
  expect(planLine(outcome({ fits: false, awaited: ['a'] }))).toContain(
    'plan: fits once 1 Pod on the way out is gone',
  );
});

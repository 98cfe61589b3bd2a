import { expect, test } from '@jest/globals';
import { readGang } from '../../../../src/gang/read-records.ts';
import { statusOf } from './gangs.ts';

const why = (plan: string | undefined): string =>
  statusOf(
    [
      readGang({
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

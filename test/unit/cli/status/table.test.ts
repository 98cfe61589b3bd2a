import { describe, expect, test } from '@jest/globals';
import { ageText, tableLines, widthOf } from '../../../../src/cli/status/table.ts';
import { NOW, printed, row } from './gangs.ts';

const LONG_WHY =
  'waiting for Pods: leader 0/1, worker 1/2, and so on for as long as there are groups to name';
const lines = (gangs: Parameters<typeof tableLines>[0], width = 100, namespaces = false): string[] =>
  printed(tableLines(gangs, { namespaces, now: NOW, width }));

describe('the table', () => {
  test('in one namespace', () => {
    expect(lines([row({ phase: 'Pending', why: LONG_WHY }), row({ phase: 'Running' })])).toEqual([
      'GANG   BACKEND            PHASE    GROUPS  PODS  GATES  AGE  WHY',
      'train  default-scheduler  Pending  1/2     2/6   3      45s  waiting for Pods: leader 0/1, worker 1…',
      'train  default-scheduler  Running  1/2     2/6   0      45s',
    ]);
  });

  test('of everything: names give way to the reason, and keep their ends', () => {
    const other = { name: 'a-very-long-name-of-a-gang-12', namespace: 'everything-of-production' };
    expect(
      lines([row({ phase: 'Pending', why: LONG_WHY }), row({ ...other, phase: 'Running' })], 100, true),
    ).toEqual([
      'NAMESPACE   GANG        BACKEND     PHASE    GROUPS  PODS  GATES  AGE  WHY',
      'ml          train       defaul…ler  Pending  1/2     2/6   3      45s  waiting for Pods: leader 0/1…',
      'everyt…ion  a-very…-12  defaul…ler  Running  1/2     2/6   0      45s',
    ]);
  });

  test('of workloads: beside each gang the one that it was made for', () => {
    const made = row({ name: 'job-train', phase: 'Running' });
    const workload = 'job/train';
    const gangs = [
      { ...made, ...(made.summary && { summary: { ...made.summary, workload } }) },
      row({ phase: 'Running' }),
    ];
    expect(lines(gangs, 120)).toEqual([
      'GANG       WORKLOAD   BACKEND            PHASE    GROUPS  PODS  GATES  AGE  WHY',
      'job-train  job/train  default-scheduler  Running  1/2     2/6   0      45s',
      'train      -          default-scheduler  Running  1/2     2/6   0      45s',
    ]);
  });

  test('a gang that only Pods know', () => {
    const why = 'PodGang train does not exist';
    expect(lines([row({ why, backend: '-', creationTimestamp: undefined })])).toEqual([
      'GANG   BACKEND  PHASE  GROUPS  PODS  GATES  AGE  WHY',
      'train  -        -      -       -     0      -    PodGang train does not exist',
    ]);
  });

  test.each([200, 100, 60, 40, 20, 1])('no line is wider than %d', (width) => {
    const all = lines([row({ phase: 'Pending', why: LONG_WHY, name: 'x'.repeat(63) })], width, true);
    expect(Math.max(...all.map(widthOf))).toBe(width);
    if (width < 100) expect(all.every((line) => line.endsWith('…'))).toBe(true);
  });
});

test.each([
  [-5_000, '0s'],
  [119_999, '119s'],
  [120_000, '2m'],
  [7_199_999, '119m'],
  [7_200_000, '2h'],
  [172_800_000, '2d'],
])('%d ms are %s', (ms, text) => {
  expect(ageText(ms)).toBe(text);
});

import { expect, test } from '@jest/globals';
import { ungateEvents } from '../../../src/gang/plan/plan-events.ts';
import type { Ungate } from '../../../src/gang/plan/gang-plan.ts';
import { readGangRecord } from '../../../src/gang/read-records.ts';
import { readEventRecord } from '../../../src/timeline/event-record.ts';
import { releasesOf } from '../../../src/timeline/releases.ts';
import { event, gang, msOf } from './objects.ts';

/** What a timeline reads of the Event that the loop writes when it releases so many Pods. */
function readBack(pods: number) {
  const ungates = Array.from({ length: pods }, (_, index) => ({ pod: `worker-${index}` }) as Ungate);
  const [written] = ungateEvents(readGangRecord(gang()), ungates);
  const read = readEventRecord(event(20, written?.reason ?? '', written?.message ?? ''));
  return releasesOf(read === undefined ? [] : [read]).map(({ at, named, namesAll }) => ({
    at,
    named: [...named],
    namesAll,
  }));
}

test.each([1, 2, 8])('%d Pods that are released are read back from the Event of the loop', (pods) => {
  const named = Array.from({ length: pods }, (_, index) => `worker-${index}`);
  expect(readBack(pods)).toEqual([{ at: msOf(20), named, namesAll: true }]);
});

test('of many Pods the first are named', () => {
  const [release] = readBack(100);
  expect(release?.named).toHaveLength(8);
  expect(release?.namesAll).toBe(false);
});

import { readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { fault } from '../../../src/api/fault.ts';
import { REFUSED_WHEN_WRITTEN, STOPS_STORED, stoppedBy } from '../../../src/gang/rules/rule-lists.ts';
import { gang, group } from './plan/gang-states.ts';

const ROOM = new URL('../../../src/gang/rules/', import.meta.url);
/**
 * What is asked beside the lists: the sum of the minimums by each backend, and the expected Pods when a PodGang is created,
 * since the loop passes over what is wrong with them later.
 */
const ASKED_ELSEWHERE = ['checkExpectedPods', 'checkTotalMinimum'];

/** Every rule there is: what the room exports under a name that begins with `check`. */
async function rules(): Promise<string[]> {
  const found: string[] = [];
  for (const file of readdirSync(ROOM)) {
    const exported = (await import(new URL(file, ROOM).pathname)) as Record<string, unknown>;
    found.push(...Object.keys(exported).filter((name) => name.startsWith('check')));
  }
  return found.sort();
}

describe('the rules of a PodGang', () => {
  const written = REFUSED_WHEN_WRITTEN.map(({ check }) => check.name);
  const stored = STOPS_STORED.map((check) => check.name);

  test('each is in the list of what is refused, of what stops a stored gang, or in both', async () => {
    const listed = [...new Set([...written, ...stored, ...ASKED_ELSEWHERE])].sort();
    expect(listed).toEqual(await rules());
    expect([new Set(written).size, new Set(stored).size]).toEqual([written.length, stored.length]);
  });

  // A rule that is added to the second list stops gangs that run, after an upgrade: it is for CHANGELOG.
  test('a stored gang is stopped by these alone', () => {
    expect([...stored].sort()).toEqual([
      'checkGangName',
      'checkGroupNames',
      'checkGroupsNamed',
      'checkMinimums',
      'checkPriorityClass',
    ]);
  });

  test('Grove’s gangs are held to these alone', () => {
    const held = REFUSED_WHEN_WRITTEN.filter(({ spares }) => spares?.includes('grove') !== true);
    expect(held.map(({ check }) => check.name).sort()).toEqual([
      'checkGangName',
      'checkGroupConfigs',
      'checkGroupNames',
      'checkInitializedStays',
      'checkManagerKept',
      'checkMinimums',
      'checkPlanKept',
      'checkPriorityClass',
      'checkReferences',
      'checkTopology',
    ]);
  });

  test('what stops a gang is said in the words of the rule, and the others are counted', () => {
    expect(stoppedBy(gang())).toBeUndefined();
    const { field, message } = fault('MinReplicasInvalid', 'spec.podgroups[0].minReplicas', { value: -1 });
    expect(stoppedBy(gang({ groups: [group('a', -1)] }))).toBe(`${field}: ${message}`);
    expect(stoppedBy(gang({ groups: [group('a', -1), group('b', -1)] }))).toBe(
      `${field}: ${message} and 1 more fault`,
    );
  });
});

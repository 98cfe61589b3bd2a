import { describe, expect, test } from '@jest/globals';
import type { Json, JsonObject } from '../../../src/json/json.ts';
import { GROVE_OPERATOR_USER, MUSTER_USER } from '../../../src/api/names.ts';
import {
  completeGroups,
  condition,
  group,
  INITIALIZED,
  NOT_INITIALIZED,
  podGang,
  references,
  statusOf,
} from '../../support/pod-gangs.ts';
import { codeOf, rulesOf, validatePodGang } from '../../support/reviews.ts';

const gang = (groups: Json, ...conditions: Json[]): JsonObject =>
  podGang({ groups, ...(conditions.length === 0 ? {} : { status: statusOf(...conditions) }) });
const complete = (...conditions: Json[]): JsonObject => gang(completeGroups(), ...conditions);

/** An update through `status`, where the spec is what is stored. */
const statusUpdate = (oldObject: JsonObject, object: JsonObject, username = 'alice') => ({
  oldObject,
  object,
  username,
  subResource: 'status',
});
const rulesOfStatus = (from: JsonObject, to: JsonObject, username?: string): string[] =>
  rulesOf(validatePodGang(statusUpdate(from, to, username)));

describe.each([MUSTER_USER, GROVE_OPERATOR_USER])('the trusted %s', (account) => {
  test.each([
    ['writes False first', complete(), complete(NOT_INITIALIZED)],
    ['turns it True when every group has its references', complete(NOT_INITIALIZED), complete(INITIALIZED)],
    ['turns it True at once', complete(), complete(INITIALIZED)],
    [
      'leaves it True when a group has lost references',
      gang([group('a')], INITIALIZED),
      gang([group('a')], INITIALIZED),
    ],
    ['takes False away', complete(NOT_INITIALIZED), complete()],
    [
      'counts no group with minReplicas 0',
      gang([group('a', { podReferences: references('p') }), group('b', { minReplicas: 0 })]),
      gang([group('a', { podReferences: references('p') }), group('b', { minReplicas: 0 })], INITIALIZED),
    ],
    [
      'words it anew while it stays True',
      complete(INITIALIZED),
      complete(condition('Initialized', 'True', { message: 'all there' })),
    ],
  ])('%s', (_what, from, to) => {
    expect(rulesOfStatus(from, to, account)).toEqual([]);
  });

  test.each([
    ['back to False', complete(INITIALIZED), complete(NOT_INITIALIZED), ['InitializedFinal']],
    [
      'to Unknown',
      complete(INITIALIZED),
      complete(condition('Initialized', 'Unknown')),
      ['InitializedFinal'],
    ],
    ['to "true"', complete(INITIALIZED), complete(condition('Initialized', 'true')), ['InitializedFinal']],
    ['away', complete(INITIALIZED), complete(condition('Ready', 'True')), ['InitializedFinal']],
    ['away with the whole status', complete(INITIALIZED), complete(), ['InitializedFinal']],
    [
      'behind a False one',
      complete(INITIALIZED),
      complete(NOT_INITIALIZED, INITIALIZED),
      ['InitializedDuplicate', 'InitializedFinal'],
    ],
    [
      'beside a second one',
      complete(INITIALIZED),
      complete(INITIALIZED, NOT_INITIALIZED),
      ['InitializedDuplicate'],
    ],
  ])('cannot bring it from True %s: 422', (_what, from, to, rules) => {
    const parts = statusUpdate(from, to, account);
    const decision = validatePodGang(parts);
    expect(rulesOf(decision)).toEqual(rules);
    expect(codeOf('PodGang', parts, decision)).toBe(422);
  });

  test('cannot turn it True while groups lack references, and is told which', () => {
    const groups = [
      group('leader'),
      group('worker', { minReplicas: 2, podReferences: references('w-0') }),
      { name: 'late', minReplicas: 1 },
    ];
    const decision = validatePodGang(statusUpdate(gang(groups), gang(groups, INITIALIZED), account));
    expect(decision.faults.map(({ rule, field }) => `${rule} ${field}`)).toEqual([
      'InitializedTooEarly spec.podgroups[0].podReferences',
      'InitializedTooEarly spec.podgroups[1].podReferences',
      'InitializedTooEarly spec.podgroups[2].podReferences',
    ]);
    expect(decision.faults[1]?.message).toContain('(group worker has 1 of 2)');
  });
});

describe('an account that is not trusted', () => {
  test.each([
    ['write it', complete(), complete(NOT_INITIALIZED), ['InitializedProtected']],
    ['turn it True', complete(NOT_INITIALIZED), complete(INITIALIZED), ['InitializedProtected']],
    [
      'turn it back',
      complete(INITIALIZED),
      complete(NOT_INITIALIZED),
      ['InitializedProtected', 'InitializedFinal'],
    ],
    ['remove it', complete(NOT_INITIALIZED), complete(), ['InitializedProtected']],
    [
      'word it anew',
      complete(INITIALIZED),
      complete(condition('Initialized', 'True', { reason: 'Mine' })),
      ['InitializedProtected'],
    ],
    [
      'date it anew',
      complete(INITIALIZED),
      complete(condition('Initialized', 'True', { lastTransitionTime: 'x' })),
      ['InitializedProtected'],
    ],
    [
      'turn its message',
      complete(INITIALIZED),
      complete(condition('Initialized', 'True', { message: 'x' })),
      ['InitializedProtected'],
    ],
    [
      'number it anew',
      complete(INITIALIZED),
      complete(condition('Initialized', 'True', { observedGeneration: 4 })),
      ['InitializedProtected'],
    ],
  ])('cannot %s', (_what, from, to, rules) => {
    expect(rulesOfStatus(from, to)).toEqual(rules);
  });

  test('gets 403 where only the account is wrong', () => {
    const parts = statusUpdate(complete(), complete(NOT_INITIALIZED));
    expect(codeOf('PodGang', parts, validatePodGang(parts))).toBe(403);
  });

  test('writes other conditions and the phase as it likes, in any order', () => {
    const from = complete(condition('Ready', 'False'), INITIALIZED);
    const to = podGang({
      groups: completeGroups(),
      status: {
        phase: 'Running',
        conditions: [INITIALIZED, condition('Ready', 'True'), condition('Ready', 'x')],
      },
    });
    expect(rulesOfStatus(from, to)).toEqual([]);
  });

  test('is held to the same on the object itself, where a cluster serves no status subresource', () => {
    const oldObject = complete(INITIALIZED);
    const object = podGang({ groups: [...(completeGroups() as Json[]), group('more', { minReplicas: 0 })] });
    expect(rulesOf(validatePodGang({ oldObject, object }))).toEqual([
      'GroupsFixed',
      'InitializedProtected',
      'InitializedFinal',
    ]);
    expect(rulesOf(validatePodGang({ oldObject, object: complete(NOT_INITIALIZED) }))).toEqual([
      'InitializedProtected',
      'InitializedFinal',
    ]);
  });
});

describe('the groups of an Initialized gang', () => {
  const before = complete(INITIALIZED);
  const withGroups = (groups: Json): JsonObject => gang(groups, INITIALIZED);
  const [leader, worker] = completeGroups() as [Json, Json];

  test.each([
    ['added', [leader, worker, group('late', { minReplicas: 0 })], ['spec.podgroups[2].name']],
    [
      'renamed',
      [leader, { ...(worker as JsonObject), name: 'w' }],
      ['spec.podgroups[1].name', 'spec.podgroups'],
    ],
    ['removed', [leader], ['spec.podgroups']],
  ])('are never %s, whoever asks', (_what, groups, fields) => {
    for (const username of ['alice', MUSTER_USER]) {
      const decision = validatePodGang({ oldObject: before, object: withGroups(groups), username });
      expect(decision.faults.map(({ rule, field }) => [rule, field])).toEqual(
        fields.map((field) => ['GroupsFixed', field]),
      );
    }
  });

  test('may stand in another order and want other numbers', () => {
    const object = withGroups([{ ...(worker as JsonObject), minReplicas: 1 }, leader]);
    expect(rulesOf(validatePodGang({ oldObject: before, object }))).toEqual([]);
  });

  test('change freely before', () => {
    expect(
      rulesOf(
        validatePodGang({ oldObject: complete(NOT_INITIALIZED), object: gang([leader], NOT_INITIALIZED) }),
      ),
    ).toEqual([]);
  });

  test('change their references by trusted accounts only', () => {
    const object = withGroups([
      leader,
      group('worker', { minReplicas: 2, podReferences: references('worker-0', 'worker-2') }),
    ]);
    expect(rulesOf(validatePodGang({ oldObject: before, object, username: MUSTER_USER }))).toEqual([]);
    expect(rulesOf(validatePodGang({ oldObject: before, object }))).toEqual(['ReferencesProtected']);
    expect(
      rulesOf(validatePodGang({ oldObject: before, object: withGroups([leader, group('worker')]) })),
    ).toEqual(['ReferencesProtected']);
  });
});

import { describe, expect, test } from '@jest/globals';
import type { PodGroup } from '../../../../src/api/pod-gang.ts';
import { takeCensus } from '../../../../src/gang/plan/census.ts';
import { planGang } from '../../../../src/gang/plan/plan.ts';
import {
  FULL,
  gang,
  group,
  INITIALIZED,
  pod,
  PODS,
  reasons,
  running,
  state,
  written,
} from './gang-states.ts';

const DUPLICATE =
  'spec.podgroups[1].name: Duplicate value: "workers": group names are unique in a gang (also spec.podgroups[0]); rename one of them [GroupNameDuplicate]';

/** Specs that only get in past the webhook, and what the gang then says. */
const nonsense: readonly [string, PodGroup[], string][] = [
  ['a group twice', [group('workers', 2), group('workers', 1)], DUPLICATE],
  [
    'a negative minimum',
    [group('leader', 1), group('workers', -2)],
    'spec.podgroups[1].minReplicas: Invalid value: -2: minReplicas is a whole number from 0 to 2147483647; give the number of Pods that must start together [MinReplicasInvalid]',
  ],
  [
    'a group without a name, and another fault',
    [group('', 1), group('workers', -2)],
    'spec.podgroups[0].name: Invalid value: "": a group name is a label value of its Pods: at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends; rename the group [GroupNameInvalid] and 1 more fault',
  ],
];

describe('a spec that makes no sense', () => {
  test.each(nonsense)('is no gang yet: %s', (_what, groups, says) => {
    const result = planGang(state({ gang: gang({ groups }) }));
    expect(written(result, 'Initialized')).toMatchObject({ status: 'False', message: says });
    expect(result.summary?.why).toBe(says);
    expect(result.events).toContainEqual(
      expect.objectContaining({ type: 'Warning', reason: 'SpecInvalid', message: says }),
    );
    expect(result).toMatchObject({ references: undefined, ungate: [] });
  });

  test.each(nonsense)('changes nothing in a gang that had formed: %s', (_what, groups, says) => {
    const result = planGang(state({ gang: gang({ groups, conditions: [INITIALIZED] }) }));
    expect(written(result, 'Initialized')?.status).toBe('True');
    expect(result.summary?.why).toBe(says);
    expect(result).toMatchObject({ references: undefined, ungate: [] });
  });

  test('is printable, and short enough for a condition', () => {
    const groups = Array.from({ length: 40 }, (_, index) => group(`g${index}\u001b[31m`, 3));
    const message = written(planGang(state({ gang: gang({ groups }) })), 'Initialized')?.message ?? '';
    expect(message).toContain('g0\\u{1b}[31m');
    expect(message).toMatch(/\[GroupNameInvalid\] and 39 more faults$/);
    expect(message.length).toBeLessThanOrEqual(512);
  });

  test('of two groups of one name the first has the Pods', () => {
    const [first, second] = takeCensus(gang({ groups: [group('workers', 1), group('workers', 1)] }), PODS);
    expect([first?.members.length, second?.members.length]).toEqual([2, 0]);
  });

  test('has no bearing on references, which the loop mends itself', () => {
    const foreign = { ...group('leader', 1), podReferences: [{ namespace: 'other', name: 'leader-0' }] };
    const result = planGang(state({ gang: gang({ groups: [foreign, group('workers', 2)] }), pods: [] }));
    expect(result.references?.groups).toEqual([{ index: 0, name: 'leader', references: [] }]);
  });

  test('a gang that had formed and has no groups any more', () => {
    const result = planGang(
      state({ gang: gang({ groups: [], conditions: [INITIALIZED] }), pods: [running('leader-0')] }),
    );
    expect(result.status?.phase).toBe('Pending');
    for (const [type, status] of [
      ['Scheduled', 'False'],
      ['Ready', 'False'],
      ['Unhealthy', 'True'],
    ] as const) {
      expect(written(result, type)).toMatchObject({ status, message: 'the gang has no groups' });
    }
  });

  test('a Pod of a gang without groups', () => {
    const result = planGang(state({ gang: gang({ groups: [] }), pods: [pod('leader-0')] }));
    expect(reasons(result)['leader-0']).toBe(
      'PodGang train has no group "leader", none at all: correct the label grove.io/podclique where the Pod comes from, and delete the Pod',
    );
  });
});

test('Pods that an earlier gang of the name released are told of, and not held against anybody', () => {
  const pods = PODS.map(({ name }) => running(name));
  const result = planGang(state({ gang: gang({ groups: FULL }), pods }));
  expect(result.violations.map(({ message }) => message)).toContain(
    'this Pod has no gate grove.io/podgang-pending-creation before the gang is Initialized: it was created past the webhook, an earlier PodGang of this name released it, or somebody removed the gate',
  );
  expect(written(result, 'Initialized')?.status).toBe('True');
});

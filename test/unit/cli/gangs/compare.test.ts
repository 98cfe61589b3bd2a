import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compareGangs, type GivenGang, type GivenPods } from '../../../../src/cli/gangs/compare.ts';

const gang = (
  name: string,
  groups: Record<string, number>,
  more: Partial<GivenGang<string>> = {},
): GivenGang<string> => ({
  namespace: 'team',
  name,
  scheduler: undefined,
  groups: Object.entries(groups).map(([group, minReplicas]) => ({ name: group, minReplicas })),
  at: `PodGang ${name}`,
  ...more,
});
const pods = (
  name: string,
  group: string,
  count: number | undefined,
  more: Partial<GivenPods<string>> = {},
): GivenPods<string> => ({
  namespace: 'team',
  gang: name,
  group,
  baseGang: undefined,
  scheduler: undefined,
  count,
  oneByOne: undefined,
  at: `Pods ${name}/${group}`,
  ...more,
});
const found = (gangs: GivenGang<string>[], given: GivenPods<string>[]): string[] =>
  compareGangs(gangs, given).map(({ rule, at, path, about }) => `${rule} ${at} ${path}: ${about}`);

const GROUP = 'metadata.labels[grove.io/podclique]';
const NAME = 'metadata.labels[grove.io/podgang]';

describe('gangs and Pods of one input', () => {
  test.each<[string, GivenGang<string>[], GivenPods<string>[], string[]]>([
    ['nothing', [], [], []],
    ['a gang alone: its Pods come from elsewhere', [gang('train', { w: 8 })], [], []],
    ['enough', [gang('train', { w: 2 })], [pods('train', 'w', 2)], []],
    ['more than enough', [gang('train', { w: 2 })], [pods('train', 'w', 1), pods('train', 'w', 5)], []],
    ['as many as somebody decides later', [gang('train', { w: 2 })], [pods('train', 'w', undefined)], []],
    [
      'too few',
      [gang('train', { l: 1, w: 8 })],
      [pods('train', 'l', 1), pods('train', 'w', 2), pods('train', 'w', 1)],
      ['GroupTooSmall PodGang train spec.podgroups[1].minReplicas: "w" needs 8, the input has 3'],
    ],
    [
      'a misspelt group: said once, and its Pods are counted for the one that was meant',
      [gang('train', { workers: 8 })],
      [pods('train', 'wrokers', 2)],
      [
        `GroupUnknown Pods train/wrokers ${GROUP}: "wrokers" (did you mean "workers"?), PodGang team/train has workers`,
        'GroupTooSmall PodGang train spec.podgroups[0].minReplicas: "workers" needs 8, the input has 2',
      ],
    ],
    [
      'a misspelt group with enough Pods',
      [gang('train', { workers: 2 })],
      [pods('train', 'wrokers', 2)],
      [
        `GroupUnknown Pods train/wrokers ${GROUP}: "wrokers" (did you mean "workers"?), PodGang team/train has workers`,
      ],
    ],
    [
      'another group',
      [gang('train', { workers: 1 })],
      [pods('train', 'evaluators', 2)],
      [
        `GroupUnknown Pods train/evaluators ${GROUP}: "evaluators", PodGang team/train has workers`,
        'GroupWithoutPods PodGang train spec.podgroups[0]: "workers"',
      ],
    ],
    [
      'a group without Pods beside one that has some; none are needed where minReplicas is 0',
      [gang('train', { launcher: 1, workers: 2, spare: 0 })],
      [pods('train', 'workers', 2)],
      ['GroupWithoutPods PodGang train spec.podgroups[0]: "launcher"'],
    ],
    [
      'a misspelt gang',
      [gang('train', { w: 1 })],
      [pods('trian', 'w', 1)],
      [`GangMisnamed Pods trian/w ${NAME}: "trian" (did you mean "train"?)`],
    ],
    [
      'names that differ in a number, and a gang that has its Pods, are not what was meant',
      [gang('run-1', { w: 1 }), gang('train', { w: 1 })],
      [pods('run-2', 'w', 1), pods('train', 'w', 1), pods('trains', 'w', 1)],
      [`GangNotGiven Pods run-2/w ${NAME}: PodGang team/run-2, PodGang team/trains`],
    ],
    [
      'gangs that are not given are one note',
      [],
      ['a', 'b', 'c', 'd', 'e'].map((name) => pods(name, 'w', 1)),
      [`GangNotGiven Pods a/w ${NAME}: PodGang team/a, PodGang team/b, PodGang team/c and 2 more`],
    ],
    [
      'another namespace',
      [gang('train', { w: 1 }, { namespace: 'other' })],
      [pods('train', 'w', 1)],
      [`GangElsewhere Pods train/w ${NAME}: PodGang other/train, Pods in team`],
    ],
    [
      'a base gang that is not given',
      [gang('scaled', { w: 1 })],
      [pods('scaled', 'w', 1, { baseGang: 'base' })],
      ['GangNotGiven Pods scaled/w metadata.labels[grove.io/base-podgang]: PodGang team/base'],
    ],
    [
      'another scheduler',
      [gang('train', { w: 1 }, { scheduler: 'kai-scheduler' })],
      [pods('train', 'w', 1, { scheduler: 'volcano' })],
      [
        'SchedulersDiffer Pods train/w metadata.labels[grove.io/scheduler-name]: "volcano", PodGang team/train has "kai-scheduler"',
      ],
    ],
    [
      'one that only one of the two names',
      [gang('train', { w: 1 }, { scheduler: 'kai-scheduler' }), gang('eval', { w: 1 })],
      [pods('train', 'w', 1), pods('eval', 'w', 1, { scheduler: 'volcano' })],
      [],
    ],
    [
      'Pods that are made one after the other',
      [gang('train', { w: 2 })],
      [pods('train', 'w', 2, { oneByOne: { field: 'spec.podManagementPolicy', instead: 'Parallel' } })],
      ['PodsOneByOne Pods train/w spec.podManagementPolicy: write Parallel'],
    ],
    [
      'where the gang starts with one of them, that is no harm',
      [gang('train', { w: 1 })],
      [pods('train', 'w', 2, { oneByOne: { field: 'spec.podManagementPolicy', instead: 'Parallel' } })],
      [],
    ],
  ])('%s', (_, gangs, given, expected) => expect(found(gangs, given)).toEqual(expected));
});

const name = fc.constantFrom('train', 'trian', 'eval', 'run-1', 'run-2', '');
const namespace = fc.constantFrom('team', 'lab');
const anyGang = fc
  .tuple(name, namespace, fc.dictionary(fc.constantFrom('w', 'workers', 'wrokers', 'l'), fc.nat(4)))
  .map(([title, where, groups]) => gang(title, groups, { namespace: where }));
const anyPods = fc
  .tuple(name, namespace, fc.constantFrom('w', 'workers', 'wrokers', 'l'), fc.option(fc.nat(5)))
  .map(([title, where, group, count]) => pods(title, group, count ?? undefined, { namespace: where }));

describe('whatever the input', () => {
  test('Pods that are made to fit are never complained of', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyGang, { selector: (one) => `${one.namespace}/${one.name}` }), (gangs) => {
        const fitting = gangs.flatMap((one) =>
          one.groups.map(({ name: group, minReplicas }) =>
            pods(one.name, group, minReplicas, { namespace: one.namespace }),
          ),
        );
        expect(found(gangs, fitting)).toEqual([]);
      }),
    );
  });

  test('one Pod less in any group is told of, and the order of the input changes nothing', () => {
    const order = <T>(list: readonly T[]): readonly T[] => [...list].reverse();
    fc.assert(
      fc.property(
        fc.uniqueArray(anyGang, { selector: (one) => `${one.namespace}/${one.name}`, maxLength: 4 }),
        fc.array(anyPods, { maxLength: 6 }),
        (gangs, given) => {
          const rules = (mismatches: { rule: string; about: string }[]): string[] =>
            mismatches
              .filter(({ rule }) => rule === 'GroupTooSmall' || rule === 'GroupWithoutPods')
              .map(({ rule, about }) => `${rule} ${about}`)
              .sort();
          const told = compareGangs(gangs, given);
          expect(rules(compareGangs(order(gangs), order(given)))).toEqual(rules(told));
          for (const one of gangs) {
            const mine = given.filter((pod) => pod.gang === one.name && pod.namespace === one.namespace);
            if (mine.length === 0 || mine.some(({ count }) => count === undefined)) continue;
            const total = mine.reduce((sum, { count }) => sum + (count ?? 0), 0);
            const needed = one.groups.reduce((sum, { minReplicas }) => sum + minReplicas, 0);
            const heard = told.some(({ at, rule }) => at === one.at && rule !== 'GangNotGiven');
            if (total < needed) expect(heard).toBe(true);
          }
        },
      ),
    );
  });
});

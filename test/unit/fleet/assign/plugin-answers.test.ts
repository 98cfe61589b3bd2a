/** Plugins whose answers have to be waited for, and are believed in nothing. */
import { describe, expect, test } from '@jest/globals';
import { assign } from '../../../../src/fleet/assign/assign.ts';
import type { StrategyQuestion } from '../../../../src/fleet/assign/assign-replica-plugin.ts';
import type { Member } from '../../../../src/fleet/assign/member.ts';
import { builtInAssigners, strategiesOf } from '../../../../src/fleet/assign/strategies.ts';
import { remoteAssigner, withPluginAnswers } from '../../../../src/fleet/assign/plugin-answers.ts';
import { bindingOf, memberOf, rooms, shown } from './small-fleet.ts';

const LEAST = 'muster.dev/min-available';
const MINE = { 'muster.dev/custom-scheduling-strategy': 'mine' };
const one = { replicas: 12, placement: {} };

const strategiesWith = (ask: (question: StrategyQuestion) => unknown) =>
  strategiesOf([
    ...builtInAssigners,
    remoteAssigner({
      name: 'prices',
      strategies: () => ['mine'],
      ask: (question) => Promise.resolve().then(() => ask(question)),
    }),
  ]);

const assigned = (
  ask: (question: StrategyQuestion) => unknown,
  binding = bindingOf(one, { annotations: { ...MINE, [LEAST]: '8' } }),
  members: () => readonly Member[] = () => rooms(6, 8).map(memberOf),
) => withPluginAnswers(strategiesWith(ask), (strategies) => assign(binding, members(), strategies));

const gives = async (answer: unknown, binding?: ReturnType<typeof bindingOf>): Promise<string> =>
  shown(await assigned(() => answer, binding));

const components = [
  { name: 'leader', replicas: 1, replicaRequirements: { resourceRequest: { cpu: '1' } } },
  { name: 'worker', replicas: 4, replicaRequirements: { resourceRequest: { cpu: '2' } } },
];
const gang = bindingOf(
  { components, placement: {}, replicaRequirements: undefined },
  { annotations: { ...MINE, [LEAST]: 'leader=1,worker=2' } },
);

describe('an answer', () => {
  test('is taken where it keeps to the rules, and what nobody gets is left out', async () => {
    expect(
      await gives([
        { name: 'm2', replicas: 8 },
        { name: 'm1', replicas: 2, and: 'more' },
      ]),
    ).toBe('m1:2 m2:8');
    expect(
      await gives([
        { name: 'm2', replicas: 8 },
        { name: 'm1', replicas: 0 },
      ]),
    ).toBe('m2:8');
  });

  test.each([
    [null, 'its answer is no list'],
    [[{}], 'its answer has an item without the name of a cluster'],
    [[{ name: 'm1', replicas: -1 }], 'its answer for "m1" has replicas -1, which is no whole number from 0'],
    [
      [{ name: 'm1', replicas: '3' }],
      'its answer for "m1" has replicas "3", which is no whole number from 0',
    ],
    [[{ name: 'm9', replicas: 8 }], 'it names cluster "m9", which was not given'],
    [[{ name: 'm1', replicas: 7 }], 'it gives 7 replicas to "m1", and 6 are available there'],
    [
      [{ name: 'm1', replicas: 5 }],
      'it gives 5 replicas in all, which must be from 8 to 12, or an empty list',
    ],
    [
      [
        { name: 'm1', replicas: 6 },
        { name: 'm2', replicas: 7 },
      ],
      'it gives 13 replicas in all, which must be from 8 to 12, or an empty list',
    ],
  ])('%j is not written', async (answer, why) => {
    expect(await gives(answer)).toBe(
      `SchedulerError: failed to assign replicas: strategy "mine" of plugin prices gives what cannot be: ${why}`,
    );
  });

  test('that is empty holds the workload, and says what there was', async () => {
    expect(await gives([])).toBe(
      'Unschedulable: failed to assign replicas: no available scheduling results: strategy "mine" of plugin prices gives no cluster anything (available: m2 8, m1 6)',
    );
  });

  test('that does not come holds it with the reason', async () => {
    const found = await assigned(() => {
      throw new Error('plugin prices does not run: it ended itself');
    });
    expect(shown(found)).toBe(
      'SchedulerError: failed to assign replicas: strategy "mine" of plugin prices gives no answer: plugin prices does not run: it ended itself',
    );
  });

  test('for several templates names them, and is counted by what each asks for', async () => {
    const to = (worker: number) => [
      {
        name: 'm2',
        components: [
          { name: 'leader', replicas: 1 },
          { name: 'worker', replicas: worker },
        ],
      },
    ];
    const found = await assigned(() => to(3), gang);
    expect(found.clusters).toEqual([{ replicas: 0, ...to(3)[0] }]);
    expect(await gives(to(4), gang)).toContain(
      'it gives leader 1, worker 4 to "m2", and so much is not available there',
    );
    expect(await gives(to(1), gang)).toContain(
      'it gives 1 replicas of "worker" in all, which must be from 2 to 4',
    );
    expect(await gives([{ name: 'm2', components: [{ name: 'chief', replicas: 1 }] }], gang)).toContain(
      'its answer for "m2" names a template "chief" that there is not',
    );
    expect(
      await gives([{ name: 'm2', components: [to(1)[0]?.components[0], to(1)[0]?.components[0]] }], gang),
    ).toContain('its answer for "m2" names a template twice');
  });

  test('of one template that is listed as a component comes in the same words', async () => {
    const listed = bindingOf({ components: [components[1]], placement: {} }, { annotations: MINE });
    const found = await assigned(({ spec }) => {
      expect(spec).toMatchObject({ replicas: 4, minAvailable: 4, components: [] });
      return [{ name: 'm2', replicas: 4 }];
    }, listed);
    expect(found.clusters).toEqual([
      { name: 'm2', replicas: 4, components: [{ name: 'worker', replicas: 4 }] },
    ]);
  });
});

describe('a question', () => {
  test('has what the binding and its clusters say', async () => {
    let asked: StrategyQuestion | undefined;
    await assigned((question) => {
      asked = question;
      return [];
    });
    expect(asked).toEqual({
      strategy: 'mine',
      clusters: [
        expect.objectContaining({
          name: 'm2',
          available: 8,
          allocatable: 8,
          score: 0,
          free: { cpu: '8', pods: '100000' },
        }),
        expect.objectContaining({ name: 'm1', available: 6 }),
      ],
      spec: {
        resource: { apiVersion: 'apps/v1', kind: 'Deployment', uid: '' },
        replicas: 12,
        minAvailable: 8,
        replicaRequirements: { resourceRequest: { cpu: '1' } },
        components: [],
        clusters: [],
        placement: { spreadConstraints: [] },
      },
      status: { schedulerObservingAffinityName: '', fresh: false },
    });
  });

  test('is asked anew where the room has changed meanwhile: no answer counts for another question', async () => {
    const seen: number[] = [];
    let room = 8;
    const found = await assigned(
      ({ clusters }) => {
        const [{ available } = { available: 0 }] = clusters;
        seen.push(available);
        room = 6;
        return [{ name: 'm1', replicas: available }];
      },
      bindingOf(one, { annotations: { ...MINE, [LEAST]: '4' } }),
      () => rooms(room).map(memberOf),
    );
    expect([seen, shown(found)]).toEqual([[8, 6], 'm1:6']);
  });

  test('is not asked for ever', async () => {
    let room = 100;
    const found = await assigned(
      () => [{ name: 'm1', replicas: 12 }],
      undefined,
      () => rooms((room += 1)).map(memberOf),
    );
    expect(shown(found)).toContain('was asked 64 times: the room of clusters changes faster than it answers');
  });

  test('is not asked of what has no Pods, or of none', async () => {
    const never = (): never => {
      throw new Error('asked');
    };
    const map = bindingOf({ placement: {}, replicaRequirements: undefined }, { annotations: MINE });
    expect(shown(await assigned(never, map))).toBe('m1:0 m2:0');
    expect(
      shown(await assigned(never, bindingOf({ replicas: 0, placement: {} }, { annotations: MINE }))),
    ).toBe('');
  });

  test('of each group of clusters has its own answer', async () => {
    const groups = ['first', 'second'].map((affinityName, index) => ({
      affinityName,
      clusterNames: [`m${index + 1}`],
    }));
    const found = await assigned(
      ({ status }) =>
        status.schedulerObservingAffinityName === 'first' ? [] : [{ name: 'm2', replicas: 8 }],
      bindingOf(
        { ...one, placement: { clusterAffinities: groups } },
        { annotations: { ...MINE, [LEAST]: '8' } },
      ),
    );
    expect([found.affinityName, shown(found)]).toEqual(['second', 'm2:8']);
  });
});

test('plugins of Muster’s own are not waited for', async () => {
  let judged = 0;
  const binding = bindingOf(one, {
    annotations: { 'muster.dev/custom-scheduling-strategy': 'gang-divided' },
  });
  const found = await withPluginAnswers(
    strategiesWith(() => []),
    (strategies) => {
      judged += 1;
      return assign(binding, rooms(6, 8).map(memberOf), strategies);
    },
  );
  expect([judged, shown(found)]).toEqual([1, 'm1:5 m2:7']);
});

test('an unknown strategy names those that there are, and who may have it', () => {
  const strategies = strategiesOf(builtInAssigners, ['plugin prices does not run: it threw']);
  const binding = bindingOf(one, { annotations: MINE });
  expect(shown(assign(binding, [], strategies))).toBe(
    'SchedulerError: unknown strategy "mine": there are default, gang-divided, gang-no-divided; plugin prices does not run: it threw',
  );
});

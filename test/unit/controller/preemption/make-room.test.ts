import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { evictorOf } from '../../../../src/controller/preemption/evictor.ts';
import { readGangWithPods, readGangSnapshot } from '../../../../src/controller/preemption/read-cluster.ts';
import { makeRoom, PlanRate, type AttemptOutcome } from '../../../../src/controller/preemption/make-room.ts';
import type { FakeApi } from './fake-api.ts';
import {
  cluster,
  evictions,
  FULL,
  gang,
  GANG,
  plannerHere,
  pod,
  running,
  SCHEDULER,
  type PodIn,
} from './room-scene.ts';

interface Settings {
  readonly victimsPerPlan?: number;
  readonly overrides?: boolean;
  readonly exempt?: readonly string[];
  readonly rate?: PlanRate;
  readonly at?: number;
}

const META = gang('urgent', 2)['metadata'] as JsonObject;

/** One look by a process that remembers nothing. */
async function look(api: FakeApi, settings: Settings = {}): Promise<AttemptOutcome | undefined> {
  const { victimsPerPlan = 64, overrides = false, exempt = ['kube-system'], at = 0 } = settings;
  const { signal } = new AbortController();
  const planner = plannerHere();
  const seen = await readGangSnapshot(GANG, api.client, signal, (objects) => planner.take(objects));
  return (
    seen &&
    makeRoom(seen, {
      evictor: evictorOf(api.client, signal, overrides),
      again: () => readGangWithPods(seen.gang, api.client, signal),
      consider: (question) => planner.consider(question),
      exemptNamespaces: exempt,
      overridePodDisruptionBudgets: overrides,
      rate: settings.rate ?? new PlanRate(100, () => 0),
      victimsPerPlan,
      schedulerName: SCHEDULER,
      now: () => new Date(at),
      observer: {
        planned: () => undefined,
        begun: () => undefined,
        ended: () => undefined,
        evicted: () => undefined,
      },
    })
  );
}

/** Looks until there is nothing left to do; evicted Pods leave in between. */
async function settle(api: FakeApi, settings?: Settings): Promise<AttemptOutcome | undefined> {
  for (let looks = 0; looks < 20; looks += 1) {
    const done = await look(api, settings);
    if (done?.pending !== true) return done;
    api.leave();
  }
  throw new Error('it never ends');
}

describe('making room', () => {
  test('in this order: the plan is written down, nodes are meant, then each victim is told and evicted', async () => {
    const api = cluster();
    expect(await look(api)).toMatchObject({ result: 'preempting', pending: true });
    expect(api.writes).toEqual([
      'remember urgent',
      'nominate urgent-0',
      'nominate urgent-1',
      ...['low-b', 'low-a'].flatMap((name) => [`mark ${name}`, `evict ${name}`]),
    ]);
    expect(api.get('pods', 'ns/low-a')?.['status']).toMatchObject({
      conditions: [
        { type: 'Ready' },
        { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' },
      ],
    });
    // Of the victims there are uids and nothing else: what runs in other namespaces is nobody's business.
    expect(JSON.parse(api.planOf('ns/urgent') ?? '')).toMatchObject({
      gang: 'uid-urgent',
      victims: [['uid-low-a'], ['uid-low-b']],
    });
    expect(api.planOf('ns/urgent')).not.toMatch(/"low-/);
    expect(await look(api)).toMatchObject({ result: 'waits', pending: true });
    expect(evictions(api)).toHaveLength(2);
    api.leave();
    expect(await look(api)).toMatchObject({ result: 'fits', pending: false });
    expect(api.planOf('ns/urgent')).toBeUndefined();
    expect(running(api)).toEqual(['middle-a', 'middle-b']);
  });

  test.each<[string, () => FakeApi, Settings, string, RegExp]>([
    [
      'nobody of lower priority',
      () => cluster(FULL.map((one) => ({ ...one, prio: 1000 }))),
      {},
      'impossible',
      /priority below 1000/,
    ],
    ['all in exempt namespaces', () => cluster(), { exempt: ['ns'] }, 'impossible', /may be touched/],
    [
      'more victims than allowed',
      () => cluster(),
      { victimsPerPlan: 1 },
      'blocked',
      /^2 Pods would have to go, more than preemption.limits.victimsPerPlan \(1\)$/,
    ],
    [
      'as many plans as allowed',
      () => cluster(),
      { rate: spent() },
      'blocked',
      /preemption.limits.plansPerMinute/,
    ],
    ['room', () => cluster(FULL.slice(0, 1)), {}, 'fits', /fits as it is/],
    [
      'Pods that preempt by themselves',
      () => {
        const api = cluster();
        api.put('pods', pod({ name: 'urgent-1', prio: 1000, gang: 'urgent' }));
        return api;
      },
      {},
      'blocked',
      /^Pod ns\/urgent-1 preempts by itself: give it a PriorityClass with preemptionPolicy: Never, and that class the annotation/,
    ],
    [
      'a policy that says Never',
      () => {
        const api = cluster();
        api.put('podgangs', gang('urgent', 2, { 'muster.dev/preemption-policy': 'Never' }));
        return api;
      },
      {},
      'impossible',
      /preemption policy is Never/,
    ],
    [
      'a class that lets its gangs preempt no more than its Pods, whatever the gang says,',
      () => {
        const api = cluster();
        api.put('priorityclasses', { metadata: { name: 'high' }, value: 1000, preemptionPolicy: 'Never' });
        api.put('podgangs', gang('urgent', 2, { 'muster.dev/preemption-policy': 'PreemptLowerPriority' }));
        return api;
      },
      {},
      'impossible',
      /preemption policy is Never/,
    ],
    [
      'a class that was deleted',
      () => {
        const api = cluster();
        api.remove('priorityclasses', '/high');
        return api;
      },
      {},
      'blocked',
      /^PodGang ns\/urgent: spec.priorityClassName: there is no PriorityClass "high"/,
    ],
  ])('with %s nothing is written', async (_case, make, settings, result, why) => {
    const api = make();
    expect(await look(api, settings)).toMatchObject({ result, why: expect.stringMatching(why) });
    expect(api.writes).toEqual([]);
  });

  test('a budget is kept: nothing is begun, unless it may be broken; then victims are deleted', async () => {
    const api = cluster();
    api.protected.add('low-a');
    expect(await look(api)).toMatchObject({
      result: 'blocked',
      why: expect.stringMatching(/^a victim may not be evicted: /),
    });
    expect(api.writes).toEqual([]);
    await settle(api, { overrides: true });
    expect(running(api)).toEqual(['middle-a', 'middle-b']);
    expect(api.writes.filter((write) => /^(delete|evict)/.test(write))).toEqual([
      'delete low-b',
      'delete low-a',
    ]);
  });

  test('a budget that fills up under way stops the plan where it is, and it goes on later; too late, it is given up', async () => {
    const api = cluster();
    api.after = (write) => void (write === 'evict low-b' && api.protected.add('low-a'));
    await look(api);
    expect(await look(api)).toMatchObject({ result: 'blocked', pending: true });
    expect(running(api)).toContain('low-a');
    expect(api.writes).not.toContain('mark low-a');
    // Much later nothing more is begun, and what is planned then keeps the budget.
    api.leave();
    api.put('pods', pod({ name: 'other-b', on: 'b' }));
    await look(api, { at: 11 * 60_000 });
    expect(api.planOf('ns/urgent')).toBeUndefined();
    expect(running(api)).toContain('low-a');
  });

  const after = (write: string, happens: (api: FakeApi) => void): FakeApi => {
    const api = cluster();
    api.after = (done) => {
      if (done !== write) return;
      api.after = () => undefined;
      happens(api);
    };
    return api;
  };
  const changed =
    (more: JsonObject, spec: JsonObject = {}) =>
    (api: FakeApi) => {
      const stored = api.get('podgangs', 'ns/urgent') as unknown as {
        metadata: JsonObject;
        spec: JsonObject;
      };
      const annotations = { ...(stored.metadata['annotations'] as JsonObject), ...more };
      api.put('podgangs', {
        ...(stored as unknown as JsonObject),
        metadata: { ...stored.metadata, annotations },
        spec: { ...stored.spec, ...spec },
      });
    };
  const bound = (api: FakeApi): void => {
    for (const name of ['urgent-0', 'urgent-1']) {
      const { spec } = api.get('pods', `ns/${name}`) as unknown as { spec: { nodeName: string } };
      spec.nodeName = 'a';
    }
  };

  test.each<[string, (api: FakeApi) => void, string]>([
    ['deleted', (api) => api.remove('podgangs', 'ns/urgent'), 'the gang was deleted meanwhile'],
    [
      'made again under its name',
      (api) => api.put('podgangs', { ...gang('urgent', 2), metadata: { ...META, uid: 'uid-another' } }),
      'the gang was deleted meanwhile',
    ],
    [
      'told not to preempt',
      changed({ 'muster.dev/preemption-policy': 'Never' }),
      'the gang was changed meanwhile',
    ],
    ['given another class', changed({}, { priorityClassName: 'low' }), 'the gang was changed meanwhile'],
    ['without its plan', changed({ 'muster.dev/preemption-plan': '' }), 'its plan was taken off meanwhile'],
    ['bound', bound, 'it does not wait for room any more'],
    [
      'without its Pods',
      (api) => void ['urgent-0', 'urgent-1'].forEach((name) => api.remove('pods', `ns/${name}`)),
      'it does not wait for room any more',
    ],
  ])('a gang that is %s between two units: nobody else goes for it', async (_, happens, why) => {
    const api = after('evict low-b', happens);
    expect(await look(api)).toMatchObject({
      why,
      pending: true,
      leaving: [{ namespace: 'ns', name: 'low-b', uid: 'uid-low-b' }],
    });
    expect(evictions(api)).toEqual(['evict low-b']);
    expect(api.writes).not.toContain('mark low-a');
  });

  test('a gang that was deleted while it was planned for has no victim', async () => {
    const api = after('nominate urgent-1', (one) => one.remove('podgangs', 'ns/urgent'));
    expect(await look(api)).toMatchObject({ why: 'the gang was deleted meanwhile' });
    expect(evictions(api)).toEqual([]);
  });

  test('what the loop writes into a gang stops nothing', async () => {
    const api = after('evict low-b', changed({}, { reuseReservationRef: { name: 'x' } }));
    await look(api);
    expect(evictions(api)).toHaveLength(2);
  });

  test('a gang that is disrupted as one goes whole', async () => {
    const old = ['old-0', 'old-1'].map((name, index): PodIn => ({
      name,
      gang: 'old',
      on: index === 0 ? 'a' : 'b',
    }));
    const api = cluster(
      [
        ...old,
        { name: 'middle-a', prio: 500, on: 'a', cpu: 4 },
        { name: 'middle-b', prio: 500, on: 'b', cpu: 4 },
      ],
      [
        {
          ...gang('old', 2, { 'muster.dev/disruption-mode': 'PodGroup' }),
          spec: {
            priorityClassName: 'low',
            podgroups: [{ name: 'worker', minReplicas: 2, podReferences: [] }],
          },
        },
      ],
    );
    await settle(api);
    expect(running(api)).toEqual(['middle-a', 'middle-b']);
  });

  test('a Pod of the same name that comes after is never evicted', async () => {
    const api = cluster();
    api.after = (write) => {
      if (write !== 'remember urgent') return;
      api.after = () => undefined;
      api.put('pods', pod({ name: 'low-a', on: 'a', uid: 'uid-another' }));
      throw new Error('killed');
    };
    await expect(look(api)).rejects.toThrow('killed');
    await look(api);
    expect(api.get('pods', 'ns/low-a')).toMatchObject({ metadata: { uid: 'uid-another' } });
    expect(api.get('pods', 'ns/low-a')?.metadata['deletionTimestamp']).toBeUndefined();
  });

  test('a plan of another gang, or of nobody’s making, evicts nobody', async () => {
    for (const text of [
      '{',
      '[]',
      JSON.stringify({ gang: 'uid-old', at: '2026-01-01T00:00:00Z', victims: [['uid-middle-a']] }),
      JSON.stringify({ gang: 'uid-urgent', victims: [['uid-middle-a']] }),
    ]) {
      const api = cluster(FULL.slice(0, 1));
      api.put('podgangs', gang('urgent', 2, { 'muster.dev/preemption-plan': text }));
      expect(await look(api)).toMatchObject({ result: 'fits' });
      expect(evictions(api)).toEqual([]);
    }
  });

  test('a plan that names whom nobody may evict is given up', async () => {
    const plan = (uid: string): string =>
      JSON.stringify({ gang: 'uid-urgent', at: '1970-01-01T00:00:00Z', nominations: [], victims: [[uid]] });
    const api = cluster([
      ...FULL,
      { name: 'mine', prio: 1000, on: 'a', cpu: 0 },
      { name: 'dns', namespace: 'kube-system', on: 'a', cpu: 0 },
    ]);
    for (const uid of ['uid-mine', 'uid-dns']) {
      api.put('podgangs', gang('urgent', 2, { 'muster.dev/preemption-plan': plan(uid) }));
      await look(api);
      expect(api.planOf('ns/urgent')).toBeUndefined();
      expect(evictions(api)).toEqual([]);
    }
  });
});

describe('killed at any write, done or not, and of two that begin at once', () => {
  const WRITES = 8;

  test.each(
    Array.from({ length: WRITES }, (_, index) => index).flatMap((index) =>
      ([true, false] as const).map((done) => [index, done] as const),
    ),
  )('write %i (done: %s): the same end, and no second set of victims', async (index, done) => {
    const api = cluster();
    let count = 0;
    const die = (): void => {
      if (count++ === index) throw new Error('killed');
    };
    if (done) api.after = die;
    else api.before = die;
    const first = settle(api);
    const died = await first.then(
      () => false,
      () => true,
    );
    expect(died).toBe(true);
    api.before = api.after = () => undefined;
    await settle(api);
    expect(running(api)).toEqual(['middle-a', 'middle-b']);
    expect([...new Set(evictions(api))].sort()).toEqual(['evict low-a', 'evict low-b']);
    expect(api.planOf('ns/urgent')).toBeUndefined();
  });

  test('one plan is written, the other one is not begun', async () => {
    const api = cluster();
    const both = await Promise.all([look(api), look(api)]);
    expect(both.map((one) => one?.result).sort()).toEqual(['preempting', 'waits']);
    await settle(api);
    expect(running(api)).toEqual(['middle-a', 'middle-b']);
  });
});

test('a node that is being cleared for one gang is no room for another', async () => {
  const api = cluster(FULL.filter(({ name }) => !name.startsWith('low')));
  for (const [index, node] of ['a', 'b'].entries()) {
    const meant = pod({ name: `first-${index}`, prio: 1000, gang: 'first', never: true });
    api.put('pods', { ...meant, status: { nominatedNodeName: node } });
  }
  expect(await look(api)).toMatchObject({ result: 'preempting' });
  await settle(api);
  expect(running(api)).toEqual(['first-0', 'first-1']);
});

test('what cannot be read stops nobody else, and nobody is evicted on the strength of it', async () => {
  const api = cluster();
  api.put('poddisruptionbudgets', {
    metadata: { name: 'odd', namespace: 'ns' },
    spec: { selector: { matchExpressions: [{ key: 'x', operator: 'Like' }] } },
  });
  expect(await look(api)).toMatchObject({ result: 'impossible' });
  const other = cluster(FULL.map((one) => ({ ...one, namespace: 'other' })));
  other.put('poddisruptionbudgets', api.get('poddisruptionbudgets', 'ns/odd') as unknown as JsonObject);
  expect(await look(other)).toMatchObject({ result: 'preempting' });
});

function spent(): PlanRate {
  const rate = new PlanRate(1, () => 0);
  rate.begin();
  return rate;
}

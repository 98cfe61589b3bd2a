import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { askEstimates } from '../../../../src/controller/fleet-bindings/reconcile-binding.ts';
import { bindingRecordOf } from '../../../../src/controller/fleet-bindings/binding-record.ts';
import { Members } from '../../../../src/controller/fleet-bindings/members.ts';
import { builtInStrategies } from '../../../../src/fleet/assign/strategies.ts';
import { RESOURCE_BINDINGS, type KubeObject } from '../../../../src/kube/client/resources.ts';
import { binding, had, memberOf, room } from '../../fleet/assign/small-fleet.ts';

const strategies = builtInStrategies();
const { signal } = new AbortController();

const recorded = (spec: Record<string, unknown>, annotations: Record<string, unknown> = {}) => {
  const made = binding({ placement: {}, schedulerName: 'muster', ...spec }, { annotations });
  const metadata = {
    ...(made['metadata'] as JsonObject),
    labels: { 'propagationpolicy.karmada.io/permanent-id': 'p' },
  };
  const record = bindingRecordOf({ ...made, metadata } as unknown as KubeObject, RESOURCE_BINDINGS, 'muster');
  if (record === undefined) throw new Error('not Muster’s');
  return record;
};
const GANG = { 'muster.dev/custom-scheduling-strategy': 'gang-divided', 'muster.dev/min-available': '2' };

function scene(answer: (cluster: string) => number | undefined, before: () => void = () => undefined) {
  const members = new Members(() => undefined);
  for (const name of ['m1', 'm2']) members.report(name, memberOf(room(name, 10)));
  const asked: string[] = [];
  const ask = askEstimates(members, strategies, {
    ask: async (questions, namespace) => {
      before();
      asked.push(...questions.map(({ cluster }) => `${namespace}/${cluster}`));
      return Promise.resolve(questions.map(({ cluster }) => answer(cluster)));
    },
  });
  return { members, asked, ask };
}

describe('estimators are asked', () => {
  test('for what is to be judged, and the clusters that nobody knows of are named', async () => {
    const { ask, asked } = scene((cluster) => (cluster === 'm1' ? 7 : undefined));
    const { found, without } = await ask(recorded({ replicas: 4 }, GANG), signal);
    expect([...found]).toEqual([['m1', { room: 7 }]]);
    expect(without).toEqual(['m2']);
    expect(asked).toEqual(['ml/m1', 'ml/m2']);
  });

  test.each([
    [
      'nothing is due',
      recorded(
        { replicas: 4, clusters: had({ m1: 4 }) },
        { ...GANG, 'policy.karmada.io/applied-placement': '{}' },
      ),
    ],
    ['it cannot be read', recorded({ replicas: -1 }, GANG)],
    [
      'nobody knows its strategy',
      recorded({ replicas: 4 }, { 'muster.dev/custom-scheduling-strategy': 'x' }),
    ],
  ])('not where %s', async (_, record) => {
    const { ask, asked } = scene(() => 1);
    await expect(ask(record, signal)).resolves.toEqual({ found: new Map(), without: [] });
    expect(asked).toEqual([]);
  });

  test('two that ask at the same time do not get the same room', async () => {
    const other = recorded({ replicas: 3 }, GANG).binding;
    const { ask, members } = scene(
      () => 5,
      () => members.place({ ...other, key: 'ml/other' }, [{ name: 'm1', replicas: 3 }], 0),
    );
    const { found } = await ask(recorded({ replicas: 4 }, GANG), signal);
    expect([...found]).toEqual([
      ['m1', { room: 2 }],
      ['m2', { room: 5 }],
    ]);
  });
});

import { expect, test } from '@jest/globals';
import type { StoredGang, StoredPod, Version } from '../../../cluster/support/etcd-history.ts';
import { judge, type Broken } from '../../../cluster/support/gang-judge.ts';
import { GATE } from '../../../cluster/support/registered-muster.ts';

/** The judge of the tests on a real control plane is itself judged here: it has to notice each of these. */

type Step = readonly ['pod' | 'gang', string, object | undefined];

const history = (...steps: readonly Step[]): Version[] =>
  steps.map(([kind, name, object], index) => ({ kind, name, object, revision: index + 1 }) as Version);

const pod = (
  name: string,
  given: { free?: boolean; uid?: string; node?: string; base?: string; gates?: string[] } = {},
): Step => {
  const gates = [...(given.gates ?? []), ...(given.free === true ? [] : [GATE])];
  const labels = {
    'grove.io/podgang': name.slice(0, name.indexOf('-')),
    'grove.io/podclique': 'worker',
    'example.com/team': 'research',
    ...(given.base === undefined ? {} : { 'grove.io/base-podgang': given.base }),
  };
  const object: StoredPod = {
    metadata: { name, uid: given.uid ?? name, labels },
    spec: {
      schedulingGates: gates.map((gate) => ({ name: gate })),
      ...(given.node === undefined ? {} : { nodeName: given.node }),
    },
  };
  return ['pod', name, object];
};

const gang = (
  name: string,
  references: readonly string[],
  given: {
    initialized?: boolean;
    minReplicas?: number;
    uid?: string;
    labels?: Record<string, string>;
    audited?: boolean;
  } = {},
): Step => {
  const object: StoredGang = {
    metadata: { name, uid: given.uid ?? name, labels: given.labels ?? { 'example.com/team': 'research' } },
    spec: {
      podgroups: [
        {
          name: 'worker',
          minReplicas: given.minReplicas ?? 1,
          podReferences: references.map((one) => ({ namespace: 'ml', name: one })),
        },
      ],
    },
    status: {
      conditions: [
        { type: 'Initialized', status: given.initialized === true ? 'True' : 'False' },
        ...(given.audited === true ? [{ type: 'example.com/Audited', status: 'True' }] : []),
      ],
    },
  };
  return ['gang', name, object];
};

const formed = [
  gang('a', []),
  pod('a-0'),
  gang('a', ['a-0']),
  gang('a', ['a-0'], { initialized: true }),
] as const;
const gone = (kind: 'pod' | 'gang', name: string): Step => [kind, name, undefined];
const initialized = { initialized: true };

/** How often each rule was broken, of those that were. */
const complaints = (steps: readonly Step[]): Partial<Record<keyof Broken, number>> =>
  Object.fromEntries(
    Object.entries<string[]>({ ...judge(history(...steps)).broken })
      .filter(([, list]) => list.length > 0)
      .map(([what, list]) => [what, list.length]),
  );

test.each<[string, readonly Step[], Partial<Record<keyof Broken, number>>]>([
  ['a gang that forms', [...formed, pod('a-0', { free: true })], {}],
  ['a gate off before Initialized', [...formed.slice(0, 3), pod('a-0', { free: true })], { ungatedEarly: 1 }],
  [
    'a gate off a Pod that is not named',
    [...formed, pod('a-1'), pod('a-1', { free: true })],
    { ungatedEarly: 1 },
  ],
  [
    'a gate off without a gang',
    [...formed, gone('gang', 'a'), pod('a-0', { free: true })],
    { ungatedEarly: 1 },
  ],
  ['a Pod made without the gate', [pod('a-0', { free: true })], { ungatedEarly: 1 }],
  [
    'a gate off by the word of the gang’s predecessor',
    [...formed, gone('gang', 'a'), gang('a', [], { uid: 'b' }), pod('a-0', { free: true })],
    { ungatedEarly: 1 },
  ],
  [
    'a gate off while the base gang is not bound',
    [
      gang('base', []),
      pod('base-0'),
      gang('a', ['a-0'], initialized),
      pod('a-0', { base: 'base' }),
      pod('a-0', { base: 'base', free: true }),
    ],
    { ungatedEarly: 1 },
  ],
  [
    'a gate off after the base gang was bound',
    [
      gang('base', ['base-0'], initialized),
      pod('base-0'),
      pod('base-0', { free: true, node: 'n' }),
      gang('a', ['a-0'], initialized),
      pod('a-0', { base: 'base' }),
      pod('a-0', { base: 'base', free: true }),
    ],
    {},
  ],
  ['Initialized taken back', [...formed, gang('a', ['a-0'])], { initializedTakenBack: 1 }],
  ['a reference lost', [...formed, gang('a', [], initialized)], { referencesLost: 1 }],
  [
    'a reference to a Pod that is gone taken out',
    [...formed, gone('pod', 'a-0'), gang('a', [], initialized)],
    {},
  ],
  [
    'a reference taken out for a Pod that was replaced under its name meanwhile',
    [...formed, gone('pod', 'a-0'), pod('a-0', { uid: 'other' }), gang('a', [], initialized)],
    {},
  ],
  [
    'a reference to the replacement lost',
    [
      ...formed,
      gone('pod', 'a-0'),
      gang('a', [], initialized),
      pod('a-0', { uid: 'other' }),
      ...[['a-0'], []].map((names) => gang('a', names, initialized)),
    ],
    { referencesLost: 1 },
  ],
  [
    'a label of somebody else lost',
    [...formed, gang('a', ['a-0'], { initialized: true, labels: {} })],
    { foreignLost: 1 },
  ],
  [
    'a condition of somebody else lost',
    [gang('a', [], { audited: true }), gang('a', [])],
    { foreignLost: 1 },
  ],
  ['a gate of somebody else lost', [pod('a-0', { gates: ['other'] }), pod('a-0')], { foreignLost: 1 }],
  ['the spec changed', [gang('a', []), gang('a', [], { minReplicas: 2 })], { foreignLost: 1 }],
])('%s', (_, steps, expected) => {
  expect(complaints(steps)).toEqual(expected);
});

test('counts gates and writes', () => {
  const { ungated, gangWrites } = judge(history(...formed, pod('a-0', { free: true })));
  expect(ungated).toBe(1);
  expect(Object.fromEntries(gangWrites)).toEqual({ a: 2 });
});

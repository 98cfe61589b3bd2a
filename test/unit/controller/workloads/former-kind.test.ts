/** A kind that the configuration does not tell of any more, while gangs of it are there: they go on, and no others come. */
import { expect, test } from '@jest/globals';
import { readMemberPod } from '../../../../src/controller/watch/gang-view.ts';
import { planMadeGang } from '../../../../src/controller/workloads/plan-made-gang.ts';
import { planGang } from '../../../../src/gang/plan/plan.ts';
import type { GangRecord, PodRecord } from '../../../../src/gang/records.ts';
import { readGangRecord } from '../../../../src/gang/read-records.ts';
import { gangKindsWith } from '../../../../src/workloads/configured-gangs.ts';
import { madeGang } from '../../../../src/workloads/made-gang.ts';
import { mutatePod, operationsOf, rulesOf, textsOf, validatePod } from '../../../support/reviews.ts';
import { policy } from '../../../support/policy.ts';
import { patched } from '../../../support/rfc6902.ts';
import { workloadPod } from '../../../support/workload-pods.ts';
import {
  condition,
  group,
  INITIALIZED,
  reasons,
  referencesOf,
  state,
  written,
} from '../../gang/plan/gang-states.ts';

const KINDS = gangKindsWith([
  {
    ...{ group: 'example.com', version: 'v1', kind: 'Renderer', short: 'render', templates: [] },
    labels: { gang: 'example.com/renderer' },
    single: { template: 'spec.template', replicas: 'spec.size' },
  },
]);
const NAME = 'render-film';
const coming = (at: number, uid = 'uid-of-film') =>
  workloadPod(
    'render',
    'film',
    'main',
    { metadata: { name: `film-${at}`, uid: `pod-${at}` }, controller: { uid } },
    KINDS,
  );
/** As it was let in while the configuration told of its kind; read by whom it tells nothing of that any more. */
const member = (at: number, status: object = {}, uid?: string): PodRecord => {
  const object = coming(at, uid);
  const stored = patched(object, operationsOf(mutatePod({ object }, { ...policy(), gangKinds: KINDS })));
  return readMemberPod({ ...stored, status: status as never });
};
const ON_A_NODE = { gates: [], nodeName: 'n1', ready: true, phase: 'Running' } as const;
const gang = (references: readonly string[], formed = references.length > 0): GangRecord => {
  const made = readGangRecord(
    madeGang({
      ...{ namespace: 'ml', name: NAME },
      origin: { kind: 'render', name: 'film', uid: 'uid-of-film' },
      groups: [{ name: 'main', minReplicas: 3, replicas: 3 }],
    }),
  );
  return {
    ...made,
    spec: { ...made.spec, groups: [group('main', 3, ...references)] },
    conditions: formed ? [INITIALIZED, condition('Ready', 'True')] : [],
  };
};
const planned = (pods: readonly PodRecord[], given: GangRecord | 'missing') =>
  planGang(state({ name: NAME, pods, gang: given }));

test('a gang that runs stays whole, its Pods are its own, and nobody changes it', () => {
  const pods = [0, 1, 2].map((at) => ({ ...member(at), ...ON_A_NODE }));
  const formed = gang(['film-0', 'film-1', 'film-2']);
  const made = planned(pods, formed);
  expect([made.references, made.waiting, made.events.map(({ reason }) => reason)]).toEqual([
    undefined,
    [],
    // Its status says so already where it is stored; no Pod of it is a stranger.
    ['PodsBound'],
  ]);
  expect(made.summary).toMatchObject({ phase: 'Running', workload: 'render/film' });
  expect(planMadeGang({ namespace: 'ml', name: NAME, gang: formed, pods, workload: () => 'gone' })).toEqual({
    do: 'nothing',
  });
});

test('one that had all its Pods starts as a whole, one that had not waits', () => {
  const whole = planned(
    [0, 1, 2].map((at) => member(at)),
    gang([]),
  );
  expect(referencesOf(whole)).toEqual({ main: ['film-0', 'film-1', 'film-2'] });
  const half = planned(
    [0, 1].map((at) => member(at)),
    gang([]),
  );
  expect([half.references, half.ungate]).toEqual([undefined, []]);
  expect(half.summary?.why).toContain('main 2/3');
});

test('Pods of another, and of a later one of the name, are not let in with it', () => {
  const stranger = readMemberPod(
    workloadPod(
      'render',
      'film',
      'main',
      {
        labels: { 'muster.dev/gang': undefined, 'grove.io/podgang': NAME, 'grove.io/podclique': 'main' },
        metadata: { name: 'film-7' },
      },
      KINDS,
    ),
  );
  const later = member(8, {}, 'another-uid');
  const made = planned([member(0), member(1), stranger, later], gang([]));
  expect([made.references, made.ungate]).toEqual([undefined, []]);
  expect(reasons(made)['film-8']).toContain('was made for render/film as it was before');
});

test('a Pod that comes later is refused, and told why', () => {
  const refused = mutatePod({ object: coming(3) });
  expect(rulesOf(refused)).toEqual(['GangWorkloadUnknown']);
  expect(textsOf(refused).join()).toContain(
    '(example.com/v1 Renderer film controls this Pod); use a kind of docs/workloads.md or workloads[]',
  );
  expect(rulesOf(validatePod({ object: coming(3) }))).toEqual(['GangWorkloadUnknown']);
});

test('without its PodGang a Pod that is there waits, and says for what', () => {
  const made = planned([member(0)], 'missing');
  expect(reasons(made)['film-0']).toBe(
    `PodGang ${NAME} does not exist, and of example.com/v1 Renderer film Muster makes none: tell of the kind in workloads[] of the configuration, or delete the Pod`,
  );
});

test('once it is told of again all goes on', () => {
  const pods = [0, 1].map((at) =>
    readMemberPod(
      patched(coming(at), operationsOf(mutatePod({ object: coming(at) }, { ...policy(), gangKinds: KINDS }))),
      KINDS,
    ),
  );
  expect(pods.map(({ origin }) => origin?.kind)).toEqual(['render', 'render']);
  expect(written(planned(pods, gang([])), 'Initialized')).toMatchObject({ status: 'False' });
});

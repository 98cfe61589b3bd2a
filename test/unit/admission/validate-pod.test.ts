import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/json/json.ts';
import { GROVE_OPERATOR_USER, MUSTER_USER } from '../../../src/api/names.ts';
import { gangPod, gates, pod, storedPod } from '../../support/pods.ts';
import { policy } from '../../support/policy.ts';
import { codeOf, rulesOf, validatePod } from '../../support/reviews.ts';

const OUR_GATE = 'grove.io/podgang-pending-creation';

describe('a new gang Pod', () => {
  test('that was prepared is let in, and audited', () => {
    expect(validatePod({ object: storedPod() })).toEqual({
      faults: [],
      changes: [],
      warnings: [],
      backend: 'default-scheduler',
      gang: 'ml/train',
    });
  });

  test.each([
    ['without gates', gangPod()],
    ['with gates null', gangPod({ spec: { schedulingGates: null } })],
    ['with a foreign gate only', gangPod({ spec: { schedulingGates: gates('kueue.x-k8s.io/admission') } })],
  ])('%s is refused: 403', (_what, object) => {
    const decision = validatePod({ object });
    expect(rulesOf(decision)).toEqual(['GateMissing']);
    expect(codeOf('Pod', { object }, decision)).toBe(403);
  });

  test('for another scheduler than its backend’s is refused: 403', () => {
    const object = storedPod({ labels: { 'grove.io/scheduler-name': 'kai-scheduler' } });
    const decision = validatePod({ object });
    expect(decision).toMatchObject({ backend: 'kai-scheduler', gang: 'ml/train' });
    expect(rulesOf(decision)).toEqual(['SchedulerMismatch']);
    expect(codeOf('Pod', { object }, decision)).toBe(403);
  });

  test('of the default backend must name its scheduler, default-scheduler alone will not do', () => {
    const kaiByDefault = policy({ fallback: 'kai-scheduler' });
    expect(rulesOf(validatePod({ object: storedPod() }, kaiByDefault))).toEqual(['SchedulerMismatch']);
    const object = storedPod({ spec: { schedulerName: 'kai-scheduler' } });
    expect(validatePod({ object }, kaiByDefault).faults).toEqual([]);
  });

  test('for a scheduler that is not enabled is refused, and a missing gate is named beside it', () => {
    const object = gangPod({ spec: { schedulerName: 'slurm' } });
    expect(rulesOf(validatePod({ object }))).toEqual(['GateMissing', 'SchedulerNotEnabled']);
  });

  test.each([
    ['in kube-system', { object: gangPod(), namespace: 'kube-system' }],
    ['in muster-system', { object: gangPod(), namespace: 'muster-system' }],
    ['that is no gang Pod', { object: pod() }],
    [
      'that is a mirror Pod',
      {
        object: gangPod({ annotations: { 'kubernetes.io/config.mirror': 'x' } }),
        groups: ['system:nodes'],
      },
    ],
    ['on CREATE of a subresource', { object: gangPod(), subResource: 'binding' }],
    ['on DELETE', { operation: 'DELETE', oldObject: storedPod() }],
    ['on CONNECT', { operation: 'CONNECT', object: gangPod() }],
  ])('%s is not held to it', (_what, parts) => {
    expect(validatePod(parts).faults).toEqual([]);
  });
});

describe('the gang labels of a Pod', () => {
  const gangLabels = ['grove.io/podgang', 'grove.io/podclique', 'grove.io/base-podgang'];
  const all = { 'grove.io/base-podgang': 'base' };
  const without = (key: string): JsonObject => {
    const labels = { ...((storedPod({ labels: all })['metadata'] as JsonObject)['labels'] as JsonObject) };
    const kept = Object.fromEntries(Object.entries(labels).filter(([name]) => name !== key));
    return pod({ labels: kept, spec: { schedulingGates: gates(OUR_GATE) } });
  };
  const complete = storedPod({ labels: all });

  describe.each(['', 'status', 'ephemeralcontainers', 'resize'])(
    'through the subresource "%s"',
    (subResource) => {
      test.each(gangLabels)('%s is never added, changed or removed', (key) => {
        const changed = storedPod({ labels: { ...all, [key]: 'other' } });
        for (const [oldObject, object] of [
          [without(key), complete],
          [complete, changed],
          [complete, without(key)],
        ] as const) {
          const parts = { object, oldObject, subResource };
          const decision = validatePod(parts);
          expect(decision.faults).toMatchObject([
            { rule: 'GangLabelImmutable', field: `metadata.labels[${key}]` },
          ]);
          expect(codeOf('Pod', parts, decision)).toBe(403);
        }
      });
    },
  );

  test('stay even for trusted accounts', () => {
    const object = storedPod({ labels: { 'grove.io/podgang': 'other' } });
    expect(rulesOf(validatePod({ object, oldObject: storedPod(), username: MUSTER_USER }))).toEqual([
      'GangLabelImmutable',
    ]);
  });

  test('of a Pod that is in no gang are nobody’s business', () => {
    const object = pod({ labels: { 'grove.io/podclique': 'b' } });
    const oldObject = pod({ labels: { 'grove.io/podclique': 'a' } });
    expect(validatePod({ object, oldObject }).faults).toEqual([]);
  });

  test('say in the message what was asked for', () => {
    const details = [
      validatePod({ oldObject: pod(), object: gangPod() }),
      validatePod({ oldObject: gangPod(), object: pod() }),
    ].map((decision) => decision.faults.map(({ message }) => /\((.*?)\)/.exec(message)?.[1]));
    expect(details).toEqual([
      ['added as train', 'added as worker'],
      ['removed, was train', 'removed, was worker'],
    ]);
  });
});

describe('the gate of a Pod', () => {
  const oldObject = storedPod({ spec: { schedulingGates: gates('a/b', OUR_GATE) } });
  const ungated = gangPod({ spec: { schedulingGates: gates('a/b') } });

  test.each([
    ['alice', ['system:authenticated'], ['GateProtected']],
    ['a cluster administrator', ['system:masters'], ['GateProtected']],
  ])('is not taken away by %s: 403', (username, groups, rules) => {
    const parts = { object: ungated, oldObject, username, groups };
    const decision = validatePod(parts);
    expect(rulesOf(decision)).toEqual(rules);
    expect(codeOf('Pod', parts, decision)).toBe(403);
  });

  test.each([MUSTER_USER, GROVE_OPERATOR_USER])('is taken away by the trusted %s', (username) => {
    expect(validatePod({ object: ungated, oldObject, username }).faults).toEqual([]);
  });

  test.each([
    ['a foreign gate goes', oldObject, storedPod()],
    ['there was none of ours', ungated, gangPod()],
    ['the Pod is in no gang', pod({ spec: { schedulingGates: gates(OUR_GATE) } }), pod()],
  ])('is none of the question where %s', (_what, before, after) => {
    expect(validatePod({ object: after, oldObject: before }).faults).toEqual([]);
  });

  test('and its labels do not leave together', () => {
    expect(rulesOf(validatePod({ object: pod(), oldObject: storedPod() }))).toEqual([
      'GangLabelImmutable',
      'GangLabelImmutable',
      'GateProtected',
    ]);
  });
});

describe('nothing stands in the way of', () => {
  const deleted = { deletionTimestamp: '2026-06-01T12:00:00Z' };
  const deleting = (metadata: JsonObject = {}): JsonObject =>
    storedPod({ metadata: { ...deleted, ...metadata } });

  test.each([
    ['the last update of a Pod on its way out', deleting(), pod({ metadata: deleted })],
    ['the removal of a finalizer', deleting({ finalizers: ['example.com/wait'] }), deleting()],
    ['that removal by a client that leaves deletionTimestamp out', deleting({ finalizers: ['x/y'] }), pod()],
    ['an annotation', storedPod(), storedPod({ annotations: { note: 'hello' } })],
    ['a foreign label', storedPod(), storedPod({ labels: { tier: 'gold' } })],
    ['an owner', storedPod(), storedPod({ metadata: { ownerReferences: [] } })],
  ])('%s', (_what, oldObject, object) => {
    expect(validatePod({ object, oldObject }).faults).toEqual([]);
  });

  test('a status update', () => {
    const object = { ...storedPod(), status: { phase: 'Running', conditions: [] } };
    expect(validatePod({ object, oldObject: storedPod(), subResource: 'status' }).faults).toEqual([]);
  });

  test('an update whose backend is no longer enabled', () => {
    const oldObject = storedPod({ spec: { schedulerName: 'retired' } });
    const object = storedPod({ spec: { schedulerName: 'retired' }, annotations: { note: 'hello' } });
    expect(validatePod({ object, oldObject }).faults).toEqual([]);
  });

  test('but a deletionTimestamp in the new object alone opens no door', () => {
    expect(rulesOf(validatePod({ object: gangPod({ metadata: deleted }), oldObject: storedPod() }))).toEqual([
      'GateProtected',
    ]);
  });
});

import { describe, expect, test } from '@jest/globals';
import { GROVE_OPERATOR_USER, MUSTER_USER } from '../../../src/api/names.ts';
import { group, podGang, references } from '../../support/pod-gangs.ts';
import { policy } from '../../support/policy.ts';
import { mutatePodGang, operationsOf, validatePodGang } from '../../support/reviews.ts';
import { patched } from '../../support/rfc6902.ts';
import type { Json, JsonObject } from '../../../src/json/json.ts';

const KUBE = { 'grove.io/scheduler-name': 'default-scheduler' };
const GROVE = { 'app.kubernetes.io/managed-by': 'grove-operator' };
const bare = (name: string): Json => ({ name, minReplicas: 1 });
const filled = podGang({
  groups: [
    group('leader', { podReferences: references('leader-0') }),
    group('worker', { podReferences: references('worker-0', 'worker-1') }),
  ],
});
const manifest = podGang({ groups: [bare('leader'), bare('worker')] });

describe('a new PodGang', () => {
  test('gets [] for references that are absent or null, and by a trusted account only for those', () => {
    const object = podGang({
      labels: KUBE,
      groups: [
        bare('a'),
        group('b', { podReferences: null }),
        group('c'),
        group('d', { podReferences: references('d-0') }),
      ],
    });
    const decision = mutatePodGang({ object, username: MUSTER_USER });
    expect(operationsOf(decision)).toEqual([
      { op: 'add', path: '/spec/podgroups/0/podReferences', value: [] },
      { op: 'replace', path: '/spec/podgroups/1/podReferences', value: [] },
    ]);
    expect(decision.changes[0]?.why).toBe('group a starts without references');
    expect(decision).toMatchObject({ faults: [], warnings: [], gang: 'ml/train' });
    const stored = patched(object, operationsOf(decision));
    expect(mutatePodGang({ object: stored, username: MUSTER_USER }).changes).toEqual([]);
    expect(validatePodGang({ object: stored }).faults).toEqual([]);
  });

  test.each(['tenant', MUSTER_USER])('begins without a plan of preemption, by %s', (username) => {
    const plan = 'muster.dev/preemption-plan';
    const object = podGang({ labels: KUBE, annotations: { [plan]: '{}', other: 'kept' } });
    const decision = mutatePodGang({ object, username });
    expect(operationsOf(decision)).toEqual([
      { op: 'remove', path: '/metadata/annotations/muster.dev~1preemption-plan' },
    ]);
    const stored = patched(object, operationsOf(decision));
    expect(mutatePodGang({ object: stored, username }).changes).toEqual([]);
    // One that Muster has written stays.
    expect(operationsOf(mutatePodGang({ oldObject: object, object, username }))).toEqual([]);
  });

  test('begins without references, whatever its author gives, and its author is told', () => {
    const groups = [
      group('a', { podReferences: references('a-0', 'a-1') }),
      group('b', { podReferences: [{ namespace: 'other', name: 'b-0' }] }),
      group('c'),
    ];
    const decision = mutatePodGang({ object: podGang({ labels: KUBE, groups }) });
    expect(operationsOf(decision)).toEqual([
      { op: 'replace', path: '/spec/podgroups/0/podReferences', value: [] },
      { op: 'replace', path: '/spec/podgroups/1/podReferences', value: [] },
    ]);
    expect(decision.warnings).toEqual([
      'spec.podgroups[*].podReferences were not taken: Muster writes them itself once the Pods are there; leave them out',
    ]);
    const byGrove = podGang({ labels: { 'app.kubernetes.io/managed-by': 'grove-operator' }, groups });
    expect(mutatePodGang({ object: byGrove })).toMatchObject({ changes: [], warnings: [] });
  });

  test.each([
    ['no spec', podGang({ labels: KUBE, spec: { podgroups: null } })],
    ['groups that are no objects', podGang({ labels: KUBE, groups: [null, 'x', []] })],
    [
      'references that are no list',
      podGang({ labels: KUBE, groups: [group('a', { podReferences: 'all' })] }),
    ],
  ])('with %s is left to the validator, unpatched', (_what, object) => {
    expect(mutatePodGang({ object }).changes).toEqual([]);
    expect(validatePodGang({ object }).faults).not.toEqual([]);
  });
});

describe('found by fuzzing', () => {
  test.each([
    ['absent', undefined],
    ['null', null],
  ])('a PodGang whose metadata is %s gets no patch into it: it would not apply', (_what, metadata) => {
    const object = { ...podGang({ groups: [bare('a')] }), metadata } as unknown as JsonObject;
    const operations = operationsOf(mutatePodGang({ object }));
    expect(operations).toEqual([{ op: 'add', path: '/spec/podgroups/0/podReferences', value: [] }]);
    expect(patched(object, operations)).toMatchObject({ spec: { podgroups: [{ podReferences: [] }] } });
  });
});

describe('the backend of a PodGang', () => {
  const known = {
    ofGang: () => undefined,
    ofNamespace: (name: string) => (name === 'ml' ? 'kai-scheduler' : undefined),
  };

  test.each([
    ['the default', {}, {}, 'default-scheduler'],
    ['the default, which may change later', { fallback: 'kai-scheduler' }, {}, 'kai-scheduler'],
    ['what its Namespace says', { placement: known }, {}, 'kai-scheduler'],
    ['the default in another Namespace', { placement: known }, { namespace: 'web' }, 'default-scheduler'],
  ])('is written down at its creation: %s', (_what, parts, request, backend) => {
    const under = policy(parts);
    for (const labels of [undefined, { app: 'x' }]) {
      const object = podGang({ ...(labels && { labels }) });
      const stored = patched(object, operationsOf(mutatePodGang({ object, ...request }, under)));
      expect(stored['metadata']).toMatchObject({ labels: { ...labels, 'grove.io/scheduler-name': backend } });
      expect(mutatePodGang({ object: stored, ...request }, under).changes).toEqual([]);
    }
  });

  test('is what its author says, and nothing for a gang of Grove’s or one that no backend serves', () => {
    const unknown = { ofGang: () => undefined, ofNamespace: () => 'slurm' };
    for (const [object, under] of [
      [podGang({ labels: { 'grove.io/scheduler-name': 'kai-scheduler' } }), policy({ placement: known })],
      [podGang({ labels: GROVE }), policy()],
      [podGang(), policy({ placement: unknown })],
    ] as const) {
      expect(mutatePodGang({ object }, under).changes).toEqual([]);
    }
  });

  test('is put back where an update leaves it out, whatever is the default by now', () => {
    const oldObject = podGang({ labels: KUBE });
    const under = policy({ fallback: 'kai-scheduler' });
    const stored = patched(podGang(), operationsOf(mutatePodGang({ oldObject, object: podGang() }, under)));
    expect(stored['metadata']).toMatchObject({ labels: KUBE });
    expect(validatePodGang({ oldObject, object: stored }, under).faults).toEqual([]);
    // A gang from before there was this label goes on without.
    expect(mutatePodGang({ oldObject: podGang(), object: podGang() }, under).changes).toEqual([]);
  });
});

describe('an update by an account that is not trusted', () => {
  test('keeps the references when the first manifest is applied again, field absent or []', () => {
    for (const object of [manifest, podGang({ groups: [group('leader'), group('worker')] })]) {
      const decision = mutatePodGang({ oldObject: filled, object });
      expect(patched(object, operationsOf(decision))['spec']).toEqual(filled['spec']);
      expect(decision.changes.map(({ why }) => why)).toEqual([
        'group leader keeps the references it has',
        'group worker keeps the references it has',
      ]);
    }
  });

  test('keeps them by the name of the group, not by its place', () => {
    const object = podGang({ groups: [group('worker'), group('new'), group('leader')] });
    expect(patched(object, operationsOf(mutatePodGang({ oldObject: filled, object })))['spec']).toEqual({
      podgroups: [
        group('worker', { podReferences: references('worker-0', 'worker-1') }),
        group('new'),
        group('leader', { podReferences: references('leader-0') }),
      ],
    });
  });

  test('undoes references of its own choice, also in another order', () => {
    const object = podGang({
      groups: [
        group('leader', { podReferences: references('mine') }),
        group('worker', { podReferences: references('worker-1', 'worker-0') }),
      ],
    });
    expect(patched(object, operationsOf(mutatePodGang({ oldObject: filled, object })))['spec']).toEqual(
      filled['spec'],
    );
  });

  test('is not patched where it changes none', () => {
    const object = podGang({ groups: (filled['spec'] as { podgroups: Json }).podgroups, labels: { a: 'b' } });
    expect(mutatePodGang({ oldObject: filled, object })).toMatchObject({ changes: [], gang: 'ml/train' });
  });
});

describe('an update by a trusted account', () => {
  test.each([MUSTER_USER, GROVE_OPERATOR_USER])('%s writes what it likes, also nothing', (username) => {
    const object = podGang({
      groups: [group('leader'), group('worker', { podReferences: references('w') })],
    });
    expect(mutatePodGang({ oldObject: filled, object, username }).changes).toEqual([]);
  });

  test('which leaves the field out keeps what is there', () => {
    const decision = mutatePodGang({ oldObject: filled, object: manifest, username: MUSTER_USER });
    expect(operationsOf(decision)).toEqual([
      { op: 'add', path: '/spec/podgroups/0/podReferences', value: references('leader-0') },
      { op: 'add', path: '/spec/podgroups/1/podReferences', value: references('worker-0', 'worker-1') },
    ]);
  });
});

describe('a PodGang that Grove manages', () => {
  const managed = podGang({ labels: GROVE, groups: (filled['spec'] as { podgroups: Json }).podgroups });

  test('is Grove’s to write, whoever asks', () => {
    const object = podGang({ labels: GROVE, groups: [bare('leader'), bare('worker')] });
    expect(mutatePodGang({ oldObject: managed, object }).changes).toEqual([]);
    expect(mutatePodGang({ object }).changes).toEqual([]);
  });

  test('is known by its stored label: to put the label on does not help, to take it off does not hurt', () => {
    const labelled = podGang({ labels: GROVE, groups: [bare('leader'), bare('worker')] });
    expect(mutatePodGang({ oldObject: filled, object: labelled }).changes).toHaveLength(2);
    expect(mutatePodGang({ oldObject: managed, object: manifest }).changes).toEqual([]);
  });
});

describe('what is never patched', () => {
  test.each([
    ['status', { oldObject: filled, object: manifest, subResource: 'status' }],
    ['DELETE', { operation: 'DELETE', oldObject: filled }],
    ['CONNECT', { operation: 'CONNECT' }],
    [
      'a PodGang on its way out',
      { oldObject: podGang({ metadata: { deletionTimestamp: 'x' } }), object: manifest },
    ],
  ])('%s', (_what, parts) => {
    expect(mutatePodGang(parts).changes).toEqual([]);
  });
});

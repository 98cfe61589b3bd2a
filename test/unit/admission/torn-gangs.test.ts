/** A gang is released to one scheduler: what admission does about a Pod that is, or may be, another backend's. */
import { describe, expect, test } from '@jest/globals';
import type { NamedBackend, GangLookup } from '../../../src/backends/select.ts';
import { backend } from '../../support/backends.ts';
import { gangPod, storedPod } from '../../support/pods.ts';
import { podGang } from '../../support/pod-gangs.ts';
import { policy } from '../../support/policy.ts';
import { mutatePod, mutatePodGang, rulesOf, validatePod } from '../../support/reviews.ts';

const LABEL = 'grove.io/scheduler-name';
const TRAIN = { namespace: 'ml', gang: 'train' };

const knowing = (gang?: NamedBackend, namespace?: NamedBackend): GangLookup => ({
  ofGang: () => gang,
  ofNamespace: () => namespace,
});
/** The same where the cluster can be asked; nobody does so here. */
const asking = (gang?: NamedBackend, namespace?: NamedBackend): GangLookup => ({
  ...knowing(gang, namespace),
  read: () => Promise.reject(new Error('a decision does not wait')),
});
const under = (placement: GangLookup, enabled?: readonly string[]) =>
  policy({ placement, ...(enabled && { enabled }) });

const plain = gangPod();
const ofKai = gangPod({ labels: { [LABEL]: 'kai-scheduler' } });
const toKai = gangPod({ spec: { schedulerName: 'kai-scheduler' } });
const preparedForKai = storedPod({ spec: { schedulerName: 'kai-scheduler' } });

describe.each([
  ['mutating', mutatePod, plain, ofKai, toKai],
  [
    'validating',
    validatePod,
    storedPod(),
    storedPod({ labels: { [LABEL]: 'kai-scheduler' }, spec: { schedulerName: 'kai-scheduler' } }),
    preparedForKai,
  ],
] as const)('the %s webhook', (_verb, decide, silent, labelled, named) => {
  test.each([
    ['its gang is not known', asking(), silent, true],
    ['its gang names none, and its Namespace is not known', asking(null), silent, true],
    ['its gang names none, nor does its Namespace', asking(null, null), silent, false],
    ['nobody can be asked', knowing(), silent, false],
    ['its gang is not known, but it names its backend', asking(), labelled, false],
    ['its gang is not known, but it names its scheduler', asking(), named, false],
    [
      'its gang is of another backend than its label says, as far as is known',
      asking('volcano'),
      labelled,
      true,
    ],
    [
      'its gang is of another backend than its scheduler’s, as far as is known',
      asking('volcano'),
      named,
      true,
    ],
    ['its gang is of the backend that it names', asking('kai-scheduler'), labelled, false],
    ['its gang names none, and it does', asking(null), labelled, false],
    ['its gang’s backend is not enabled here', asking('slurm'), named, false],
  ])('asks the cluster where %s: %#', (_where, placement, object, asks) => {
    expect(decide({ object }, under(placement)).needs).toEqual(asks ? TRAIN : undefined);
  });

  test('asks nobody where there is one backend', () => {
    const one = under(asking(), ['default-scheduler']);
    expect(decide({ object: silent }, one)).toMatchObject({ backend: 'default-scheduler', faults: [] });
  });

  test.each([
    ['label', labelled, `metadata.labels[${LABEL}]`],
    ['schedulerName', named, 'spec.schedulerName'],
  ])('refuses a Pod whose %s contradicts its gang', (_what, object, field) => {
    const decision = decide({ object }, under(knowing('volcano')));
    expect(decision.changes).toEqual([]);
    expect(decision.faults).toMatchObject([{ rule: 'BackendOfGang', field }]);
    expect(decision.faults[0]?.message).toContain('PodGang train is of volcano');
  });
});

test('a Pod that is refused anyway is not worth a question', () => {
  const object = gangPod({ spec: { nodeName: 'n1' } });
  expect(rulesOf(mutatePod({ object }, under(asking())))).toEqual(['NodeNameForbidden']);
  const ungated = gangPod({ spec: { schedulerName: 'default-scheduler' } });
  expect(rulesOf(validatePod({ object: ungated }, under(asking())))).toEqual(['GateMissing']);
  const nameless = storedPod({ labels: { 'grove.io/podgang': '' } });
  expect(validatePod({ object: nameless }, under(asking())).needs).toBeUndefined();
});

test('a Pod that was prepared for the default before its gang was known is asked about before it is refused', () => {
  const object = storedPod();
  expect(validatePod({ object }, under(asking('kai-scheduler'))).needs).toEqual(TRAIN);
  expect(rulesOf(validatePod({ object }, under(knowing('kai-scheduler'))))).toEqual(['BackendOfGang']);
});

test('a scheduler that two backends share means the gang’s', () => {
  const sharing = ['one', 'other'].map((name) => backend(name, { schedulerName: 'flat' }));
  const factories = [backend('default-scheduler'), ...sharing];
  const object = storedPod({ spec: { schedulerName: 'flat' } });
  const decision = validatePod({ object }, policy({ factories, placement: knowing('other') }));
  expect(decision).toMatchObject({ backend: 'other', faults: [] });
});

describe('a new PodGang that names no backend', () => {
  test.each([
    ['its Namespace is not known', asking(), true],
    ['its Namespace names none', asking(undefined, null), false],
    ['its Namespace names one', asking(undefined, 'kai-scheduler'), false],
    ['nobody can be asked', knowing(), false],
  ])('where %s', (_where, placement, asks) => {
    const decision = mutatePodGang({ object: podGang() }, under(placement));
    expect(decision.needs).toEqual(asks ? { namespace: 'ml', gang: undefined } : undefined);
  });

  test('is not asked about once it has a label', () => {
    const object = podGang({ labels: { [LABEL]: 'kai-scheduler' } });
    expect(mutatePodGang({ object }, under(asking())).needs).toBeUndefined();
  });
});

/** `workloads`: kinds of somebody else's whose Pods may be gangs. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { checkConfiguration, loadConfiguration } from '../../../src/config/load.ts';
import { gangKinds } from '../../../src/workloads/kinds.ts';

const header = { apiVersion: 'operator.config.grove.io/v1alpha1', kind: 'OperatorConfiguration' };
const options = { supportedSchedulers: ['default-scheduler'], workloads: gangKinds };
const textOf = (workloads: unknown): string => stringify({ ...header, workloads });
const faults = (workloads: unknown): string[] =>
  checkConfiguration(textOf(workloads), options).map(({ path, message }) => `${path}: ${message}`);

const solo = {
  group: 'example.com',
  kind: 'Trainer',
  labels: { gang: 'example.com/trainer' },
  single: { template: 'spec.template', replicas: 'spec.workers' },
};
const several = {
  ...solo,
  labels: { ...solo.labels, group: 'example.com/role' },
  single: undefined,
  templates: [{ name: 'head', template: 'spec.head' }],
};

describe('a workload of the configuration', () => {
  test('is read with its defaults', () => {
    const { configuration } = loadConfiguration({ text: textOf([solo]), env: {}, flags: {}, ...options });
    expect(configuration.workloads).toEqual([{ ...solo, version: 'v1', templates: [] }]);
    expect(
      loadConfiguration({ text: stringify(header), env: {}, flags: {}, ...options }).configuration.workloads,
    ).toEqual([]);
  });

  test.each<readonly [string, readonly object[], string]>([
    ['no labels', [{ ...solo, labels: undefined }], 'workloads[0].labels: is required'],
    ['no label of the gang', [{ ...solo, labels: {} }], 'workloads[0].labels.gang: is required'],
    [
      'a label that is none',
      [{ ...solo, labels: { gang: 'a b' } }],
      'workloads[0].labels.gang: must be the key of a label such as "example.com/trainer"',
    ],
    [
      'a key that is nearly one',
      [{ ...solo, labels: { ...solo.labels, grup: 'x' } }],
      'workloads[0].labels.grup: unknown key "grup" (did you mean "group"?)',
    ],
    [
      'a path that is none',
      [{ ...solo, single: { template: 'spec.x[0]' } }],
      'workloads[0].single.template: must be a path such as "spec.worker.replicas"',
    ],
    [
      'no template',
      [{ ...solo, single: undefined }],
      'workloads[0]: must say where Pod templates are: templates, or single where there is but one',
    ],
    [
      'templates without a label for them',
      [{ ...several, labels: solo.labels }],
      'workloads[0].labels.group: is required with templates: nothing else says which of them a Pod is made from',
    ],
    [
      'a label for templates where there is one',
      [{ ...solo, labels: several.labels }],
      'workloads[0].labels.group: is for templates only: with single all Pods are of one group, so take it out',
    ],
    [
      'two of a kind',
      [solo, { ...solo, short: 'other' }],
      'workloads[1].kind: duplicate kind: one entry tells of all its versions',
    ],
    [
      'two whose gangs begin alike',
      [solo, { ...solo, group: 'example.org' }],
      'workloads[1].short: "trainer" is how gangs of Trainer begin: give this kind another one',
    ],
    [
      'gangs that begin as those of Muster’s own table',
      [{ ...solo, short: 'job' }],
      'workloads[0].short: "job" is how gangs of Job begin: give this kind another one',
    ],
    [
      'a short name with a dash',
      [{ ...solo, short: 'my-trainer' }],
      'workloads[0].short: must be at most 20 lower-case letters and digits',
    ],
    [
      'a kind with a long name, and no short one',
      [{ ...solo, kind: 'DistributedTrainingJob' }],
      'workloads[0].short: is required: distributedtrainingjob has more than 20 characters',
    ],
    [
      'a plural that is none',
      [{ ...solo, plural: 'Trainers' }],
      'workloads[0].plural: must be the plural such as "trainers"',
    ],
  ])('%s is a fault', (_, workloads, says) => {
    expect(faults(workloads)).toEqual([says]);
  });

  test('what Muster knows by itself is not told again', () => {
    const known = [
      { ...solo, group: 'ray.io', kind: 'RayCluster', short: 'x' },
      { ...solo, group: 'jobset.x-k8s.io', kind: 'JobSet', short: 'y' },
    ];
    expect(faults(known)).toEqual([
      'workloads[0].kind: Muster knows the Pods of ray.io/RayCluster by itself: take this entry out',
      'workloads[1].kind: Muster knows the Pods of jobset.x-k8s.io/JobSet by itself: take this entry out',
    ]);
  });

  test('any list that keeps the rules is read as it is written, and what is no list or mapping is told of', () => {
    const word = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
    const path = fc.array(word, { minLength: 1, maxLength: 4 }).map((steps) => steps.join('.'));
    const kind = fc.stringMatching(/^[A-Z][A-Za-z0-9]{0,8}$/).map((name) => `${name}X`);
    const label = fc.tuple(word, word).map(([a, b]) => `${a}.example.com/${b}`);
    const one = fc.record({
      group: word.map((name) => `${name}.example.com`),
      version: word,
      kind,
      plural: word,
      labels: fc.record({ gang: label, group: label }),
      templates: fc.array(fc.record({ items: path, template: path, replicas: path }), { minLength: 1 }),
      minAvailable: path,
    });
    const lists = fc.uniqueArray(one, { selector: ({ kind: name }) => name.toLowerCase(), maxLength: 4 });
    fc.assert(
      fc.property(lists, (workloads) => {
        const { configuration } = loadConfiguration({
          text: textOf(workloads),
          env: {},
          flags: {},
          ...options,
        });
        expect(configuration.workloads).toEqual(workloads);
      }),
      { numRuns: 100 },
    );
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const found = faults(value);
        if (value !== null && !(Array.isArray(value) && value.length === 0)) expect(found).not.toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

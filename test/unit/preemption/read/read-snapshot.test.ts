import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { readSnapshot } from '../../../../src/preemption/read/read-snapshot.ts';
import { node, pod, podGang, podGroup, priorityClass } from '../small-cluster.ts';

const faultsOf = (...objects: JsonObject[]): string[] =>
  readSnapshot(objects).faults.map(({ object, field, message }) => `${object}: ${field}: ${message}`);

describe('what cannot be counted with is told, with the object, the field and the way out', () => {
  test.each<[string, JsonObject, string]>([
    [
      'no quantity',
      pod({ name: 'p', on: 'a', cpu: 'lots' }),
      'Pod ns/p: spec.containers[0].resources.requests.cpu: "lots" is no quantity; write it as 500m, 2 or 12Gi',
    ],
    [
      'less than nothing',
      pod({ name: 'p', on: 'a', cpu: '-1' }),
      'Pod ns/p: spec.containers[0].resources.requests.cpu: "-1" must be from 0 to 9007199254740 cores; correct it',
    ],
    [
      'more than can be counted',
      pod({ name: 'p', on: 'a', ask: { memory: '9000Pi' } }),
      'Pod ns/p: spec.containers[0].resources.requests.memory: "9000Pi" must be from 0 to 9007199254740991 (2^53 - 1); correct it',
    ],
    [
      'a resource named so that a terminal would obey',
      pod({ name: 'p', on: 'a', ask: { '\u001b[2J': 'x' } }),
      'Pod ns/p: spec.containers[0].resources.requests.\\u{1b}[2J: "x" is no quantity; write it as 500m, 2 or 12Gi',
    ],
    [
      'a node',
      node('a', 'many'),
      'Node a: status.allocatable.cpu: "many" is no quantity; write it as 500m, 2 or 12Gi',
    ],
    [
      'a priority that is no number',
      pod({ name: 'p', on: 'a', spec: { priority: 'high' } }),
      'Pod ns/p: spec.priority: "high" is no integer',
    ],
    [
      'a class that is not there',
      pod({ name: 'p', on: 'a', spec: { priorityClassName: 'gone' } }),
      'Pod ns/p: spec.priorityClassName: there is no PriorityClass gone among what was given; add it, or spec.priority',
    ],
    [
      'the class of a gang',
      podGang('g', { className: 'gone' }),
      'PodGang ns/g: spec.priorityClassName: there is no PriorityClass "gone" among what was given; add it',
    ],
    [
      'a mode',
      podGang('g', { annotations: { 'muster.dev/disruption-mode': 'All' } }),
      'PodGang ns/g: metadata.annotations[muster.dev/disruption-mode]: "All" must be Pod or PodGroup',
    ],
    [
      'a policy',
      podGang('g', { annotations: { 'muster.dev/preemption-policy': 'Always' } }),
      'PodGang ns/g: metadata.annotations[muster.dev/preemption-policy]: "Always" must be PreemptLowerPriority or Never',
    ],
    [
      'the operator of a selector',
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'b', namespace: 'ns' },
        spec: { selector: { matchExpressions: [{ key: 'a', operator: 'Near', values: [] }] } },
      },
      'PodDisruptionBudget ns/b: spec.selector.matchExpressions[0].operator: "Near" must be In, NotIn, Exists or DoesNotExist',
    ],
    [
      'an older version',
      { apiVersion: 'policy/v1beta1', kind: 'PodDisruptionBudget', metadata: { name: 'b', namespace: 'ns' } },
      'PodDisruptionBudget ns/b: apiVersion: version policy/v1beta1 is not read; take the snapshot as policy/v1',
    ],
    [
      'a newer version of several',
      { apiVersion: 'scheduling.k8s.io/v9', kind: 'PodGroup', metadata: { name: 'g', namespace: 'ns' } },
      'PodGroup ns/g: apiVersion: version scheduling.k8s.io/v9 is not read; take the snapshot as one of scheduling.k8s.io/v1alpha2, scheduling.k8s.io/v1alpha3, scheduling.k8s.io/v1beta1, scheduling.k8s.io/v1',
    ],
  ])('%s', (_, object, told) => expect(faultsOf(object)).toEqual([told]));

  test('a gang that two could preempt each other over for ever', () => {
    const classes = [priorityClass('low', 1), priorityClass('high', 9)];
    expect(faultsOf(...classes, podGang('g', { className: 'high', cost: 'low' }))).toEqual([
      'PodGang ns/g: metadata.annotations[muster.dev/preemption-priority-class]: "low" (1) is below the scheduling priority (9): two gangs could preempt each other for ever; name a class at least as high',
    ]);
  });

  test('a node that offers nothing is odd, but can be reckoned with', () => {
    const bare: JsonObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } };
    expect(readSnapshot([bare]).warnings).toEqual(['node a has no status.allocatable: no Pod fits it']);
    const capacity = { ...bare, status: { capacity: { cpu: '1' } } };
    expect(readSnapshot([capacity]).warnings).toEqual([]);
  });

  test('what decides nothing, and what has the name of a kind in another group, is left out', () => {
    expect(
      faultsOf(
        { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } },
        { apiVersion: 'scheduling.volcano.sh/v1beta1', kind: 'PodGroup', metadata: { name: 'g' } },
        { kind: '__proto__' },
      ),
    ).toEqual([]);
  });
});

describe('priorities', () => {
  const first = (...objects: JsonObject[]) => readSnapshot(objects).snapshot.pods[0];
  const of = (spec: JsonObject, ...classes: JsonObject[]) =>
    first(pod({ name: 'p', on: 'a', spec }), ...classes);

  test.each<[string, JsonObject, number, boolean]>([
    ['of its own', { priority: 7 }, 7, true],
    ['of its class', { priorityClassName: 'high' }, 9, false],
    ['of the default class', {}, 3, true],
    ['of a class that every cluster has', { priorityClassName: 'system-node-critical' }, 2_000_001_000, true],
    ['a policy of its own', { priorityClassName: 'high', preemptionPolicy: 'PreemptLowerPriority' }, 9, true],
  ])('%s', (_, spec, priority, preempts) => {
    const classes = [
      priorityClass('high', 9, { preemptionPolicy: 'Never' }),
      priorityClass('d1', 5, { globalDefault: true }),
      priorityClass('d2', 3, { globalDefault: true }),
    ];
    expect(of(spec, ...classes)).toMatchObject({ priority, preempts });
  });

  test('none without any class', () => expect(of({})).toMatchObject({ priority: 0, preempts: true }));
});

test('Pods that have ended hold no place; those without a node neither', () => {
  const ended = (phase: string): JsonObject => ({ ...pod({ name: phase, on: 'a' }), status: { phase } });
  const { pods } = readSnapshot([
    ended('Succeeded'),
    ended('Failed'),
    ended('Running'),
    pod({ name: 'waiting' }),
  ]).snapshot;
  expect(pods.map(({ name }) => name)).toEqual(['Running']);
});

test.each<[JsonObject[string], string]>([
  ['PodGroup', 'PodGroup'],
  ['Pod', 'Pod'],
  [{ all: {} }, 'PodGroup'],
  [{ single: {} }, 'Pod'],
])('the disruption mode of a native PodGroup, as each version writes it: %j', (disruptionMode, mode) => {
  const group = podGroup('g', { prio: 1 });
  const spec = { ...(group['spec'] as JsonObject), disruptionMode };
  expect(readSnapshot([{ ...group, spec }]).snapshot.podGroups.get('ns/g')?.mode).toBe(mode);
});

test('Pods of one template share their constraints, and what they ask for', () => {
  const spec: JsonObject = { nodeSelector: { a: 'b' }, tolerations: [{ operator: 'Exists' }] };
  const made = ['x', 'y'].map((name) => pod({ name, on: 'n', spec, cpu: 1 }));
  const { pods } = readSnapshot([...made, pod({ name: 'z', on: 'n', cpu: 2 })]).snapshot;
  expect(pods[0]?.constraints).toBe(pods[1]?.constraints);
  expect(pods[0]?.requests).toBe(pods[1]?.requests);
  expect(pods.map(({ requests }) => requests.get('cpu'))).toEqual([1000, 1000, 2000]);
});

describe('what the API server fills in is filled in of a Pod as people write it, and stays as it is where it was', () => {
  const constraintsOf = (spec: JsonObject, labels: Readonly<Record<string, string>> = {}) =>
    readSnapshot([pod({ name: 'p', on: 'n', spec, labels })]).snapshot.pods[0]?.constraints;

  test.each<[string, boolean | undefined, JsonObject, readonly number[]]>([
    ['a port of its own', undefined, { containerPort: 80 }, []],
    ['not on the network of the host', false, { containerPort: 80 }, []],
    ['on the network of the host', true, { containerPort: 80 }, [80]],
    ['with 0, which is none', true, { containerPort: 80, hostPort: 0 }, [80]],
    ['filled in', true, { containerPort: 80, hostPort: 80 }, [80]],
    ['a port of the host', undefined, { containerPort: 80, hostPort: 8080 }, [8080]],
  ])('host ports: %s', (_, hostNetwork, port, ports) => {
    const container: JsonObject = { name: 'c', ports: [port] };
    const sidecar: JsonObject = { ...container, restartPolicy: 'Always' };
    const spec = { containers: [container], ...(hostNetwork === undefined ? {} : { hostNetwork }) };
    expect(constraintsOf(spec)?.ports.map((one) => one.port)).toEqual(ports);
    const beside = constraintsOf({ ...spec, containers: [], initContainers: [sidecar] });
    expect(beside?.ports.map((one) => one.port)).toEqual(ports);
  });

  const app = { matchLabels: { app: 'a' } };
  const asked = (operator: string, value: string): JsonObject => ({ key: 'v', operator, values: [value] });
  const withKeys = { labelSelector: app, matchLabelKeys: ['v'], mismatchLabelKeys: ['w', 'none'] };
  const both = [asked('In', '1'), { key: 'w', operator: 'NotIn', values: ['2'] }];
  test.each<[string, JsonObject, readonly JsonObject[] | undefined]>([
    ['none', { labelSelector: app }, []],
    ['both', withKeys, both],
    ['merged', { ...withKeys, labelSelector: { ...app, matchExpressions: both } }, both],
    [
      'merged, and another value since',
      { labelSelector: { ...app, matchExpressions: [asked('In', '0')] }, matchLabelKeys: ['v'] },
      [asked('In', '0')],
    ],
    ['a label that the Pod has not', { labelSelector: app, matchLabelKeys: ['none'] }, []],
    ['no selector: it takes nothing', { matchLabelKeys: ['v'] }, undefined],
  ])('label keys of Pod (anti-)affinity: %s', (_, term, expressions) => {
    const required = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone', ...term }] };
    const read = constraintsOf(
      { affinity: { podAffinity: required, podAntiAffinity: required } },
      { v: '1', w: '2' },
    );
    for (const terms of [read?.affinity, read?.antiAffinity])
      expect(terms?.map(({ selector }) => selector?.matchExpressions)).toEqual([expressions]);
  });
});

test('a Pod that is given twice is there once, as it was given last', () => {
  const given = ['n1', 'n2'].map((on) => pod({ name: 'x', on, cpu: 1 }));
  const { pods } = readSnapshot([...given, pod({ name: 'y', on: 'n1' })]).snapshot;
  expect(pods.map(({ name, nodeName }) => `${name} ${nodeName}`)).toEqual(['x n2', 'y n1']);
});

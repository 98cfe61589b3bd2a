/** The priorities of gangs and of their Pods, as far as memory knows the classes. */
import { describe, expect, test } from '@jest/globals';
import type { Policy } from '../../../src/admission/policy.ts';
import type { WriteOperation } from '../../../src/json/patch.ts';
import type { Decision } from '../../../src/admission/review.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import type { GangLookup } from '../../../src/backends/select.ts';
import { completeGroups, podGang, type PodGangParts } from '../../support/pod-gangs.ts';
import { gangPod, pod, storedPod } from '../../support/pods.ts';
import { policy } from '../../support/policy.ts';
import { NO_CLASSES, priorityClasses } from '../../support/priority-classes.ts';
import {
  mutatePod,
  mutatePodGang,
  operationsOf,
  rulesOf,
  validatePod,
  validatePodGang,
} from '../../support/reviews.ts';
import { patched } from '../../support/rfc6902.ts';

const COST = 'muster.dev/preemption-priority-class';
const MODE = 'muster.dev/disruption-mode';
const POLICY = 'muster.dev/preemption-policy';
const LABELS = { 'grove.io/scheduler-name': 'default-scheduler' };
const GROVE = { 'app.kubernetes.io/managed-by': 'grove-operator' };
const classed = (priorityClassName: string | null, more: PodGangParts = {}): JsonObject =>
  podGang({ labels: LABELS, ...more, spec: { priorityClassName } });
const annotated = (annotations: JsonObject, priorityClassName = 'low'): JsonObject =>
  classed(priorityClassName, { annotations });
const operations = (decision: Decision): WriteOperation[] => operationsOf(decision) as WriteOperation[];
/** Memory of one gang `ml/train`. */
const gangOf = (priorityClass: string | null | undefined, withPods = false): GangLookup => ({
  ofGang: () => (priorityClass === undefined ? undefined : null),
  ofNamespace: () => null,
  classOfGang: (namespace, gang) => (`${namespace}/${gang}` === 'ml/train' ? priorityClass : undefined),
  hasPods: () => withPods,
});
const SYSTEM = { name: 'system-node-critical', value: 2_000_001_000, globalDefault: false, preempts: true };
const DEFAULT_ALONE = ['default-scheduler'];
const knowing = (byDefault?: string, placement?: GangLookup) =>
  policy({
    enabled: DEFAULT_ALONE,
    classes: priorityClasses(byDefault),
    ...(placement && { placement }),
  });

describe('a PodGang that names no class', () => {
  const priorityOf = (decision: Decision) =>
    operations(decision).filter(({ path }) => path === '/spec/priorityClassName');

  test.each([
    ['left out', podGang({ labels: LABELS }), 'add'],
    ['null', classed(null), 'replace'],
    ['empty', classed(''), 'replace'],
  ])('%s: gets the name of the default', (_, object, op) => {
    const decision = mutatePodGang({ object }, knowing('low'));
    expect(priorityOf(decision)).toEqual([{ op, path: '/spec/priorityClassName', value: 'low' }]);
    const stored = patched(object, operationsOf(decision));
    expect(mutatePodGang({ object: stored }, knowing('low')).changes).toEqual([]);
    expect(validatePodGang({ object: stored }, knowing('low')).faults).toEqual([]);
  });

  test.each([
    ['there is no default', podGang({ labels: LABELS }), knowing()],
    ['the classes are not known', podGang({ labels: LABELS }), policy({ classes: NO_CLASSES })],
    ['nobody watches them', podGang({ labels: LABELS }), policy()],
    ['it names one', classed('high'), knowing('low')],
    ['the gang is Grove’s', podGang({ labels: GROVE }), knowing('low')],
    ['it has no spec that could take one', { ...podGang({ labels: LABELS }), spec: 'x' }, knowing('low')],
  ])('is left alone where %s', (_, object, under) => {
    expect(priorityOf(mutatePodGang({ object }, under))).toEqual([]);
  });

  test('and is stored already: is left alone, unless it named one before', () => {
    const none = podGang({ labels: LABELS });
    expect(priorityOf(mutatePodGang({ oldObject: none, object: none }, knowing('low')))).toEqual([]);
    const taken = mutatePodGang({ oldObject: classed('high'), object: none }, knowing('low'));
    expect(priorityOf(taken)).toEqual([{ op: 'add', path: '/spec/priorityClassName', value: 'low' }]);
    for (const [oldObject, placement] of [
      [classed('high', { groups: completeGroups() }), gangOf('high')],
      [classed('high'), gangOf('high', true)],
    ] as const) {
      const back = mutatePodGang({ oldObject, object: none }, knowing('low', placement));
      expect(priorityOf(back)).toEqual([{ op: 'add', path: '/spec/priorityClassName', value: 'high' }]);
    }
  });
});

describe('of what a PodGang says of priorities is refused', () => {
  const update = (oldObject: JsonObject, object: JsonObject, under = knowing()): string[] =>
    rulesOf(validatePodGang({ oldObject, object }, under));
  const create = (object: JsonObject, under = knowing()): string[] =>
    rulesOf(validatePodGang({ object }, under));

  test('a class that is not there, where they are known', () => {
    expect(create(classed('gone'))).toEqual(['PriorityClassUnknown']);
    expect(create(annotated({ [COST]: 'gone' }))).toEqual(['PriorityClassUnknown']);
    expect(create(annotated({ [COST]: '' }))).toEqual(['PriorityClassInvalid']);
    expect(create(classed('gone'), policy())).toEqual([]);
    expect(create(podGang({ labels: GROVE, spec: { priorityClassName: 'gone' } }))).toEqual([]);
  });

  test('nothing of a class that has gone since, as long as the gang keeps it', () => {
    const before = classed('gone', { annotations: { [COST]: 'gone', [MODE]: 'All' } });
    const after = { ...before, metadata: { ...(before['metadata'] as JsonObject), finalizers: ['a/b'] } };
    expect(update(before, after)).toEqual([]);
    const smaller = classed('gone', {
      annotations: { [COST]: 'gone', [MODE]: 'All' },
      groups: completeGroups(),
    });
    expect(update(before, smaller)).toEqual([]);
    expect(update(before, annotated({ [COST]: 'gone', [MODE]: 'Pod' }, 'gone'))).toEqual([]);
  });

  test.each<[string, string[], JsonObject]>([
    ['above the scheduling class', ['PreemptionPriorityAbove'], annotated({ [COST]: 'high' })],
    ['above it, of a class that allows it', [], annotated({ [COST]: 'guard' })],
    [
      'above it, of one that allows it others',
      ['PreemptionPriorityAbove'],
      annotated({ [COST]: 'guard' }, 'lower'),
    ],
    ['above it, of one that allows it all', [], annotated({ [COST]: 'shield' }, 'lower')],
    ['of the system', ['PreemptionPriorityAbove'], annotated({ [COST]: 'system-cluster-critical' })],
    ['the same', [], annotated({ [COST]: 'low' })],
    ['of the same value', [], annotated({ [COST]: 'polite' }, 'high')],
    ['below it', ['PreemptionPriorityBelow'], annotated({ [COST]: 'low' }, 'high')],
    ['beside a class that is not there', ['PriorityClassUnknown'], annotated({ [COST]: 'low' }, 'gone')],
  ])('what it costs to preempt it: %s', (_, expected, object) => {
    expect(create(object)).toEqual(expected);
    expect(update(classed('low'), object)).toEqual(expected);
  });

  test('what it costs beside no class at all goes by the default, or 0', () => {
    const none = podGang({ labels: LABELS, annotations: { [COST]: 'low' } });
    expect(create(none)).toEqual(['PreemptionPriorityAbove']);
    expect(create(none, knowing('low'))).toEqual([]);
    expect(create(none, knowing('high'))).toEqual(['PreemptionPriorityBelow']);
  });

  test('a class that comes to stand above what the gang costs', () => {
    expect(update(annotated({ [COST]: 'low' }), annotated({ [COST]: 'low' }, 'high'))).toEqual([
      'PreemptionPriorityBelow',
    ]);
  });

  test('another class once there are Pods, whoever knows of them', () => {
    expect(update(classed('low'), classed('high'))).toEqual([]);
    expect(update(classed('low'), classed('high'), knowing(undefined, gangOf('low', true)))).toEqual([
      'PriorityClassImmutable',
    ]);
    const groups = completeGroups();
    expect(update(classed('low', { groups }), classed('high', { groups }))).toEqual([
      'PriorityClassImmutable',
    ]);
    // One that had none may get one.
    expect(update(podGang({ labels: LABELS, groups }), classed('high', { groups }))).toEqual([]);
    // What it costs may change at any time.
    expect(
      update(classed('low', { groups }), classed('low', { groups, annotations: { [COST]: 'guard' } })),
    ).toEqual([]);
  });

  test.each([
    ['left out', 'Pod', {}, { [MODE]: 'Pod' }, []],
    ['taken away', 'PodGroup', { [MODE]: 'PodGroup' }, {}, ['DisruptionModeImmutable']],
    ['exchanged', 'Pod', { [MODE]: 'Pod' }, { [MODE]: 'PodGroup' }, ['DisruptionModeImmutable']],
    ['of no meaning, then mended', 'All', { [MODE]: 'All' }, { [MODE]: 'PodGroup' }, []],
    ['exchanged for what is none', 'Pod', {}, { [MODE]: 'All' }, ['DisruptionModeInvalid']],
  ])('another mode: %s (%s)', (_what, _was, before, after, expected) => {
    expect(update(annotated(before), annotated(after))).toEqual(expected);
  });
});

describe('a PodGang is let in with a warning', () => {
  const warningsOf = (object: JsonObject, under: Policy): readonly string[] =>
    validatePodGang({ object }, under).warnings.filter((text) => /^(spec.priority|metadata)/.test(text));

  test('where it could not be checked which classes there are', () => {
    const blind = policy({ enabled: DEFAULT_ALONE, classes: NO_CLASSES });
    expect(warningsOf(annotated({ [COST]: 'b' }, 'a'), blind)).toEqual([
      'spec.priorityClassName: it was not checked whether there is a PriorityClass "a": Muster has not been able to list them',
      'metadata.annotations[muster.dev/preemption-priority-class]: it was not checked whether there is a PriorityClass "b": Muster has not been able to list them',
    ]);
    const { faults, warnings } = validatePodGang({ oldObject: classed('a'), object: classed('a') }, blind);
    expect({ faults, warnings }).toEqual({ faults: [], warnings: [] });
  });

  test('where its policy is not that of its class, which alone schedulers go by', () => {
    const idle = [
      "metadata.annotations[muster.dev/preemption-policy]: schedulers go by the preemptionPolicy of the PriorityClass; this one counts for Muster's own preemption and muster plan alone",
    ];
    const never = { [POLICY]: 'Never' };
    expect(warningsOf(annotated(never, 'high'), knowing())).toEqual(idle);
    expect(warningsOf(annotated(never, 'polite'), knowing())).toEqual([]);
    expect(warningsOf(annotated({ [POLICY]: 'PreemptLowerPriority' }, 'high'), knowing())).toEqual([]);
    expect(warningsOf(annotated({ [POLICY]: 'PreemptLowerPriority' }, 'polite'), knowing())).toEqual([
      'metadata.annotations[muster.dev/preemption-policy]: nothing is preempted: the PriorityClass says Never; whoever keeps it may let its gangs preempt, by the annotation muster.dev/preemption-policy: PreemptLowerPriority on the class',
    ]);
    expect(warningsOf(annotated({ [POLICY]: 'PreemptLowerPriority' }, 'together'), knowing())).toEqual(idle);
    expect(warningsOf(podGang({ labels: LABELS, annotations: never }), knowing('polite'))).toEqual([]);
    expect(warningsOf(podGang({ labels: LABELS, annotations: never }), policy())).toEqual(idle);
  });
});

describe('a Pod of a gang with a class', () => {
  const filled = (priorityClassName: string, priority: number, preemptionPolicy = 'PreemptLowerPriority') =>
    gangPod({ spec: { priorityClassName, priority, preemptionPolicy } });
  const none = gangPod({ spec: { priority: 0, preemptionPolicy: 'PreemptLowerPriority' } });
  const prioritiesIn = (decision: Decision) =>
    operations(decision).filter(({ path }) => /riority|preemption/.test(path));
  const FORGET = { op: 'remove', path: '/spec/priority' };

  test.each<[string, JsonObject, string | undefined, string, object[]]>([
    [
      'names none',
      none,
      undefined,
      'high',
      [FORGET, { op: 'add', path: '/spec/priorityClassName', value: 'high' }],
    ],
    [
      'has got the default',
      filled('low', 10),
      'low',
      'high',
      [FORGET, { op: 'replace', path: '/spec/priorityClassName', value: 'high' }],
    ],
    [
      'gets a class of another policy',
      filled('low', 10),
      'low',
      'polite',
      [
        FORGET,
        { op: 'remove', path: '/spec/preemptionPolicy' },
        { op: 'replace', path: '/spec/priorityClassName', value: 'polite' },
      ],
    ],
    [
      'was filled in by nobody',
      gangPod(),
      undefined,
      'polite',
      [{ op: 'add', path: '/spec/priorityClassName', value: 'polite' }],
    ],
  ])('gets it where it %s', (_, object, byDefault, wanted, expected) => {
    const under = knowing(byDefault, gangOf(wanted));
    const decision = mutatePod({ object }, under);
    expect(decision).toMatchObject({ faults: [], warnings: [] });
    expect(prioritiesIn(decision)).toEqual(expected);
    const once = patched(object, operationsOf(decision));
    expect(mutatePod({ object: once }, under)).toMatchObject({ changes: [], warnings: [] });
  });

  test.each<[string, JsonObject, Policy]>([
    ['it is that of the gang', filled('high', 1000), knowing('low', gangOf('high'))],
    ['the gang names none', none, knowing('low', gangOf(null))],
    ['the gang is not known yet', none, knowing('low', gangOf(undefined))],
    ['nobody knows of gangs', none, policy({ enabled: DEFAULT_ALONE, classes: priorityClasses() })],
    ['it is of no gang', pod(), knowing('low', gangOf('high'))],
  ])('keeps its own where %s', (_, object, under) => {
    const decision = mutatePod({ object }, under);
    expect([prioritiesIn(decision), decision.warnings]).toEqual([[], []]);
  });

  describe('that memory does not know yet', () => {
    const read = (): Promise<GangLookup> => Promise.resolve(gangOf('high'));
    const unknown = { ...gangOf(undefined), read };
    const asks = (object: JsonObject, under: Policy): unknown => mutatePod({ object }, under).needs;

    test('waits until it is read, and gets its class', async () => {
      const under = knowing('low', unknown);
      const ask = { namespace: 'ml', gang: 'train' };
      expect(asks(none, under)).toEqual(ask);
      expect(asks(filled('low', 10), under)).toEqual(ask);
      const answer = mutatePod({ object: none }, knowing('low', await read()));
      expect(prioritiesIn(answer)).toContainEqual({
        op: 'add',
        path: '/spec/priorityClassName',
        value: 'high',
      });
    });

    test.each<[string, JsonObject, Policy]>([
      ['it has a class of its own', filled('high', 1000), knowing('low', unknown)],
      ['memory knows the gang', none, knowing('low', { ...gangOf(null), read })],
      ['the cluster has been asked', none, knowing('low', gangOf(null))],
      [
        'the classes are not known',
        none,
        policy({ enabled: DEFAULT_ALONE, classes: NO_CLASSES, placement: unknown }),
      ],
      [
        'there are none but those of the system',
        none,
        policy({
          enabled: DEFAULT_ALONE,
          classes: { known: true, get: () => undefined, values: () => [SYSTEM], byDefault: undefined },
          placement: unknown,
        }),
      ],
      [
        'its gang is made of its workload, after the Pod',
        gangPod({ labels: { 'muster.dev/gang': '2', 'batch.kubernetes.io/job-name': 'train' } }),
        knowing('low', unknown),
      ],
    ])('waits for nothing where %s', (_, object, under) => {
      expect(asks(object, under)).toBeUndefined();
    });
  });

  test.each<[string, JsonObject, Policy, string]>([
    [
      'it has another of its own',
      filled('low', 10),
      knowing(undefined, gangOf('high')),
      'spec.priorityClassName: "low" is not the PriorityClass of its gang: leave it out, and the Pod gets that of its gang',
    ],
    [
      'that of the gang has gone',
      none,
      knowing(undefined, gangOf('gone')),
      "spec.priorityClassName is not that of its gang, and stays so: the gang's PriorityClass is not there any more",
    ],
    [
      'the classes are not known',
      none,
      policy({ enabled: DEFAULT_ALONE, classes: NO_CLASSES, placement: gangOf('high') }),
      'spec.priorityClassName is not that of its gang, and stays so: Muster has not been able to list the PriorityClasses',
    ],
  ])('keeps its own with a warning where %s', (_, object, under, warning) => {
    const decision = mutatePod({ object }, under);
    expect([prioritiesIn(decision), decision.warnings, decision.faults]).toEqual([[], [warning], []]);
  });

  test('is refused with a number that is not that of its class, where that is known', () => {
    const stored = (priorityClassName: string, priority?: number): JsonObject =>
      storedPod({ spec: { priorityClassName, ...(priority !== undefined && { priority }) } });
    const refused = (object: JsonObject, under = knowing()): string[] =>
      rulesOf(validatePod({ object }, under));
    expect(refused(stored('low', 10))).toEqual([]);
    expect(refused(stored('low', 1000))).toEqual(['PriorityMismatch']);
    expect(refused(stored('low'))).toEqual([]);
    expect(refused(stored('gone', 1000))).toEqual([]);
    expect(refused(stored('low', 1000), policy({ classes: NO_CLASSES }))).toEqual([]);
    expect(refused(stored('low', 1000), policy())).toEqual([]);
    // Once it is stored it is so for good.
    expect(
      rulesOf(validatePod({ oldObject: stored('low', 1000), object: stored('low', 1000) }, knowing())),
    ).toEqual([]);
  });
});

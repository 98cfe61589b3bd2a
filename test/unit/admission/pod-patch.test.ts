import { describe, expect, test } from '@jest/globals';
import type { Json, JsonObject } from '../../../src/json/json.ts';
import { JsonPodPatch } from '../../../src/admission/pod-patch.ts';
import { BadRequest } from '../../../src/errors.ts';
import type { PatchSurface, PodPatch } from '../../../src/backends/backend.ts';
import { PodRefused } from '../../../src/backends/backend.ts';
import { backend } from '../../support/backends.ts';
import { gangPod, gates, pod, storedPod } from '../../support/pods.ts';
import { policy } from '../../support/policy.ts';
import { answer, mutatePod, operationsOf, review, rulesOf } from '../../support/reviews.ts';
import { patched } from '../../support/rfc6902.ts';

const OURS = 'grove.io/podgang-pending-creation';
const onKai = { labels: { 'grove.io/scheduler-name': 'kai-scheduler' } };
const storedFrom = (object: JsonObject): JsonObject => patched(object, operationsOf(mutatePod({ object })));
const specOf = (object: JsonObject): JsonObject => object['spec'] as JsonObject;

describe('the gate', () => {
  test.each<[string, Json | undefined, Json]>([
    ['absent', undefined, gates(OURS)],
    ['null', null, gates(OURS)],
    ['empty', [], gates(OURS)],
    ['foreign', gates('b/x', 'a/y'), gates('b/x', 'a/y', OURS)],
    ['ours already, in the middle', gates('b/x', OURS, 'a/y'), gates('b/x', OURS, 'a/y')],
    ['nonsense', [null, 'x', { name: 7 }], [null, 'x', { name: 7 }, { name: OURS }]],
  ])('is added once to gates that are %s, after the others, in their order', (_what, given, wanted) => {
    const stored = storedFrom(gangPod({ spec: { schedulingGates: given } }));
    expect(specOf(stored)['schedulingGates']).toEqual(wanted);
    expect(mutatePod({ object: stored }).changes).toEqual([]);
  });

  test.each([
    ['absent', undefined],
    ['null', null],
  ])('makes a spec that is %s', (_what, spec) => {
    const object = { ...gangPod() } as Record<string, Json>;
    delete object['spec'];
    const stored = storedFrom(spec === undefined ? object : { ...object, spec });
    expect(stored['spec']).toEqual({ schedulerName: 'default-scheduler', schedulingGates: gates(OURS) });
  });

  test.each([
    ['spec is a list', { ...gangPod(), spec: [] }, 'request.object.spec: an object is needed'],
    ['spec is text', { ...gangPod(), spec: 'x' }, 'request.object.spec: an object is needed'],
    [
      'the gates are an object',
      gangPod({ spec: { schedulingGates: {} } }),
      'request.object.spec.schedulingGates: a list is needed',
    ],
  ])('is not guessed at where %s', (_what, object, says) => {
    expect(() => mutatePod({ object })).toThrow(new BadRequest(says));
  });
});

describe('annotations', () => {
  const wanted = {
    'kai.scheduler/podgang': 'train',
    'kai.scheduler/podgroup': 'worker',
    'kai.scheduler/skip-podgrouper': 'true',
    'pod-group-name': 'ml.train',
  };

  test.each<[string, Json | undefined, JsonObject]>([
    ['absent', undefined, wanted],
    ['null', null, wanted],
    ['empty', {}, wanted],
    ['foreign', { 'a/b~c': 'keep', ü: '' }, { 'a/b~c': 'keep', ü: '', ...wanted }],
    ['partly there', { 'pod-group-name': 'ml.train', x: 'y' }, { x: 'y', ...wanted }],
    ['wrong', { 'pod-group-name': 'web.train', 'kai.scheduler/skip-podgrouper': 'no' }, wanted],
  ])('that are %s', (_what, annotations, expected) => {
    const object = gangPod({ ...onKai, annotations });
    expect((storedFrom(object)['metadata'] as JsonObject)['annotations']).toEqual(expected);
  });
});

test('operations come in a fixed order, and the same Pod gives the same bytes', () => {
  const body = review('Pod', { object: gangPod({ ...onKai, spec: { schedulingGates: gates('a/b') } }) });
  const response = answer('mutate', 'Pod', body);
  const operations = JSON.parse(Buffer.from(response['patch'] as string, 'base64').toString()) as Json;
  expect(operations).toMatchObject([
    { op: 'add', path: '/spec/schedulingGates/-' },
    { op: 'replace', path: '/spec/schedulerName' },
    { op: 'add', path: '/metadata/annotations' },
    { op: 'add', path: '/metadata/labels/kai.scheduler~1subgroup-name' },
  ]);
  expect(JSON.stringify(answer('mutate', 'Pod', body))).toBe(JSON.stringify(response));
});

describe('the scheduling group', () => {
  const group = (podGroupName: string): JsonObject => ({ schedulingGroup: { podGroupName } });
  const changesOf = (object: JsonObject, ...names: string[]) => {
    const patch = new JsonPodPatch(object);
    for (const name of names) patch.setSchedulingGroup(name, 'it is asked for');
    return patched(
      object,
      patch.changes().map(({ operation }) => operation),
    )['spec'];
  };

  test.each([
    ['is added', {}, ['g'], 'g'],
    ['is replaced', group('old'), ['g'], 'g'],
    ['stays', group('g'), ['g'], 'g'],
    ['is the last one asked for', group('g'), ['other', 'g'], 'g'],
    ['is made where there is null', { schedulingGroup: null }, ['g'], 'g'],
  ])('%s', (_what, spec, names, wanted) => {
    expect(changesOf(pod({ spec }), ...names)).toMatchObject(group(wanted));
  });
});

describe('the workload reference', () => {
  const reference = (name: string, podGroup: string): JsonObject => ({ workloadRef: { name, podGroup } });

  test.each([
    ['is added', {}, reference('w', 'g')],
    ['is replaced', reference('w', 'old'), reference('w', 'g')],
    ['is made where there is null', { workloadRef: null }, reference('w', 'g')],
  ])('%s, and is then there', (_what, spec, wanted) => {
    const received = pod({ spec });
    const patch = new JsonPodPatch(received);
    patch.setWorkloadRef({ name: 'w', podGroup: 'g' }, 'it is asked for');
    const stored = patched(
      received,
      patch.changes().map(({ operation }) => operation),
    );
    expect(stored['spec']).toMatchObject(wanted);
    const again = new JsonPodPatch(stored);
    again.setWorkloadRef({ name: 'w', podGroup: 'g' }, 'it is asked for');
    expect(again.changes()).toEqual([]);
  });
});

describe('a backend', () => {
  const every: PatchSurface = {
    schedulerName: true,
    annotations: ['x/a'],
    labels: ['x/l', 'grove.io/podgang', 'grove.io/podclique', 'grove.io/base-podgang'],
    gates: ['x/gate', OURS],
    schedulingGroup: true,
    workloadRef: true,
  };
  const deciding = (patchSurface: PatchSurface, act: (patch: PodPatch) => void) => () =>
    mutatePod(
      { object: gangPod({ spec: { schedulerName: 'bold' } }) },
      policy({
        factories: [
          backend('bold', {
            patchSurface,
            preparePod: (_pod, _gang, patch) => {
              act(patch);
            },
          }),
        ],
      }),
    );

  test.each<[string, (patch: PodPatch) => void]>([
    ['setSchedulerName', (patch) => patch.setSchedulerName('bold', 'why')],
    ['annotate x/a', (patch) => patch.annotate('x/a', 'v', 'why')],
    ['label x/l', (patch) => patch.label('x/l', 'v', 'why')],
    ['addGate x/gate', (patch) => patch.addGate('x/gate', 'why')],
    ['setSchedulingGroup', (patch) => patch.setSchedulingGroup('g', 'why')],
    ['setWorkloadRef', (patch) => patch.setWorkloadRef({ name: 'w', podGroup: 'g' }, 'why')],
  ])('may %s where it declared it, and only there', (act, call) => {
    expect(deciding(every, call)().faults).toEqual([]);
    expect(deciding({}, call)).toThrow(
      expect.objectContaining({
        code: 'BACKEND_CONTRACT',
        message: `backend bold called ${act}, which is outside its patchSurface`,
      }),
    );
  });

  test.each<[string, (patch: PodPatch) => void]>([
    ['another annotation', (patch) => patch.annotate('x/b', 'v', 'why')],
    ['another label', (patch) => patch.label('x/b', 'v', 'why')],
    ['another gate', (patch) => patch.addGate('x/b', 'why')],
    ['Muster’s gate', (patch) => patch.addGate(OURS, 'why')],
    ['the gang of the Pod', (patch) => patch.label('grove.io/podgang', 'other', 'why')],
    ['the group of the Pod', (patch) => patch.label('grove.io/podclique', 'other', 'why')],
    ['the base gang of the Pod', (patch) => patch.label('grove.io/base-podgang', 'other', 'why')],
    ['the name of another scheduler', (patch) => patch.setSchedulerName('default-scheduler', 'why')],
    ['an annotation that is no text', (patch) => patch.annotate('x/a', 7 as unknown as string, 'why')],
    ['a label that is no text', (patch) => patch.label('x/l', null as unknown as string, 'why')],
  ])('never sets %s, whatever it declared', (_what, call) => {
    expect(deciding(every, call)).toThrow(expect.objectContaining({ code: 'BACKEND_CONTRACT' }));
  });

  test('that refuses a Pod is quoted, with the field, as 422; nothing is patched', () => {
    const refusing = backend('choosy', {
      preparePod: (_pod, _gang, patch) => {
        patch.setSchedulerName('choosy', 'why');
        throw new PodRefused('metadata.labels[q]', 'no queue\u001b[31m');
      },
    });
    const response = answer(
      'mutate',
      'Pod',
      review('Pod', { object: gangPod() }),
      policy({ factories: [refusing] }),
    );
    expect(response).toMatchObject({
      allowed: false,
      status: {
        code: 422,
        message: expect.stringMatching(
          /^Pod worker-0: metadata\.labels\[q\]: .*\(choosy: no queue\\u\{1b\}\[31m\)/,
        ),
        details: { causes: [{ field: 'metadata.labels[q]', reason: 'FieldValueInvalid' }] },
      },
    });
    expect(response).not.toHaveProperty('patch');
  });

  test('that throws anything else is a failure to decide, not a refusal', () => {
    expect(
      deciding(every, () => {
        throw new TypeError('no queue map');
      }),
    ).toThrow('no queue map');
  });

  test('that answers later is told so, and its late failure kills nobody', async () => {
    const late: unknown = () => Promise.reject(new Error('too late'));
    const slow = backend('slow', { preparePod: late as () => void });
    expect(() => mutatePod({ object: gangPod() }, policy({ factories: [slow] }))).toThrow(
      expect.objectContaining({ code: 'BACKEND_CONTRACT', message: expect.stringContaining('synchronous') }),
    );
    await new Promise((resolve) => setImmediate(resolve));
  });

  test('sees the Pod as it came', () => {
    const seen: unknown[] = [];
    const curious = backend('curious', {
      preparePod: (received, gang, patch) => {
        patch.setSchedulerName('curious', 'why');
        const { namespace, name, schedulerName, priorityClassName } = received;
        seen.push({ namespace, name, schedulerName, priorityClassName }, gang);
        seen.push(received.label('grove.io/podgang'), received.annotation('a'), received.label('toString'));
      },
    });
    const object = gangPod({
      annotations: { a: '1' },
      labels: { 'grove.io/base-podgang': 'base' },
      spec: { priorityClassName: 'high' },
    });
    mutatePod({ object }, policy({ factories: [curious] }));
    expect(seen).toEqual([
      { namespace: 'ml', name: 'worker-0', schedulerName: 'default-scheduler', priorityClassName: 'high' },
      { namespace: 'ml', gang: 'train', group: 'worker', baseGang: 'base' },
      'train',
      '1',
      undefined,
    ]);
  });

  test('that asks for one gate twice gets it once', () => {
    const twice = (patch: PodPatch): void => {
      patch.addGate('x/gate', 'one');
      patch.addGate('x/gate', 'two');
    };
    expect(operationsOf(deciding(every, twice)())).toEqual([
      { op: 'add', path: '/spec/schedulingGates', value: gates(OURS, 'x/gate') },
    ]);
    expect(rulesOf(mutatePod({ object: storedPod() }))).toEqual([]);
  });
});

/** A gang's Pod with two who prepare it: its backend, and one that adds what a Pod consists of. */
import { describe, expect, test } from '@jest/globals';
import { json, gangPod } from '../../support/pods.ts';
import type { Json, JsonObject } from '../../../src/json/json.ts';
import { fault } from '../../../src/api/fault.ts';
import { PodRefused, type Preparer } from '../../../src/preparers/preparer.ts';
import { backend } from '../../support/backends.ts';
import { podGang } from '../../support/pod-gangs.ts';
import { policy } from '../../support/policy.ts';
import { mutatePod, operationsOf, rulesOf, textsOf, validatePodGang } from '../../support/reviews.ts';
import { applied } from '../../support/rfc6902.ts';

const ANTI = 'spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution';
const term: JsonObject = { topologyKey: 'kubernetes.io/hostname' };

const preparer = (
  name: string,
  prepare: Preparer['prepare'],
  surface: Preparer['patchSurface'] = {},
): Preparer => ({
  name,
  patchSurface: surface,
  prepare,
});

/** Puts files and variables into every container, and a look-out before them. */
const files = preparer(
  'files',
  (_pod, gang, patch) => {
    patch.add('spec.volumes', { name: 'files', configMap: { name: gang.gang } }, 'its files');
    patch.add('spec.initContainers', { name: 'look-out', image: 'busybox' }, 'it waits for the others');
    patch.add('containers.env', { name: 'GANG', value: gang.gang }, 'it knows its gang');
    patch.add('containers.volumeMounts', { name: 'files', mountPath: '/files' }, 'its files');
    patch.add(ANTI, term, 'one on each node');
    patch.set('containers.command', ['/files/start'], 'it starts from its files', 'main');
  },
  {
    lists: ['spec.volumes', 'spec.initContainers', 'containers.env', 'containers.volumeMounts', ANTI],
    fields: ['containers.command'],
  },
);
const under = (...preparers: Preparer[]) => ({ ...policy({ factories: [backend('sched')] }), preparers });
const specOf = (object: JsonObject) => json(object['spec']) as Record<string, Json>;
const prepared = (object: JsonObject, ...preparers: Preparer[]): JsonObject =>
  applied(JSON.stringify(object), operationsOf(mutatePod({ object }, under(...preparers))) as never);

describe('what is added to a Pod', () => {
  test.each<[string, Record<string, Json>]>([
    ['that has none of it', {}],
    ['whose lists are empty', { volumes: [], initContainers: [], affinity: {} }],
    ['whose lists are null', { volumes: null, initContainers: null, affinity: null }],
    ['whose affinity says something else', { affinity: { podAntiAffinity: {}, nodeAffinity: { a: 'b' } } }],
  ])('%s comes with its parents', (_what, spec) => {
    const stored = specOf(prepared(gangPod({ spec }), files));
    expect(stored).toMatchObject({
      schedulerName: 'sched',
      volumes: [{ name: 'files', configMap: { name: 'train' } }],
      initContainers: [{ name: 'look-out', image: 'busybox' }],
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
      containers: [
        {
          name: 'main',
          command: ['/files/start'],
          env: [{ name: 'GANG', value: 'train' }],
          volumeMounts: [{ name: 'files', mountPath: '/files' }],
        },
      ],
    });
  });

  test('stands behind what is there, which stays; each container has it', () => {
    const containers = [
      {
        name: 'side',
        env: [{ name: 'GANG', value: 'mine' }],
        volumeMounts: [{ name: 'x', mountPath: '/x' }],
      },
      { name: 'main', command: ['run'], env: [{ name: 'A', value: '1' }] },
    ];
    const stored = specOf(prepared(gangPod({ spec: { volumes: [{ name: 'x' }], containers } }), files));
    expect(stored['volumes']).toEqual([{ name: 'x' }, { name: 'files', configMap: { name: 'train' } }]);
    const mount = { name: 'files', mountPath: '/files' };
    expect(stored['containers']).toEqual([
      { ...containers[0], volumeMounts: [{ name: 'x', mountPath: '/x' }, mount] },
      {
        name: 'main',
        command: ['/files/start'],
        env: [
          { name: 'A', value: '1' },
          { name: 'GANG', value: 'train' },
        ],
        volumeMounts: [mount],
      },
    ]);
  });

  test('is not added again', () => {
    const stored = prepared(gangPod(), files);
    expect(mutatePod({ object: stored }, under(files)).changes).toEqual([]);
  });

  test('by two is added once where they agree, is in their order, and is the author’s defect where they do not', () => {
    const env = (value: string, name = 'SHARED'): Preparer =>
      preparer(value, (_pod, _gang, patch) => patch.add('containers.env', { name, value }, value), {
        lists: ['containers.env'],
      });
    const [container] = specOf(prepared(gangPod(), env('b', 'B'), env('a', 'A'), env('b', 'B')))[
      'containers'
    ] as JsonObject[];
    expect(container?.['env']).toEqual([
      { name: 'B', value: 'b' },
      { name: 'A', value: 'a' },
    ]);
    expect(() => mutatePod({ object: gangPod() }, under(env('a'), env('b')))).toThrow(
      'two preparers want containers.env of a Pod to be different things',
    );
  });

  test('can be read before', () => {
    const seen: unknown[] = [];
    const reader = preparer('reader', (pod) => {
      seen.push(pod.containers, pod.list('containers.env', 'main'), pod.list('spec.volumes'));
      seen.push(pod.field('containers.command'), pod.list('containers.env', 'none'));
    });
    const env = [{ name: 'A', value: '1' }];
    const containers = [{ name: 'main', command: ['run'], env }];
    mutatePod({ object: gangPod({ spec: { containers } }) }, under(reader));
    expect(seen).toEqual([['main'], env, [], ['run'], []]);
  });
});

describe('each is contained alone', () => {
  test.each<[string, Preparer['prepare'], string]>([
    [
      'a list outside of its surface',
      (_p, _g, patch) => patch.add('spec.volumes', { name: 'x' }, ''),
      'preparer bold called add spec.volumes, which is outside its patchSurface',
    ],
    [
      'a field outside of its surface',
      (_p, _g, patch) => patch.set('containers.args', ['x'], ''),
      'preparer bold called set containers.args, which is outside its patchSurface',
    ],
    [
      'something returned',
      () => Promise.resolve() as never,
      'preparer bold returned something from prepare, which is synchronous and returns nothing',
    ],
    [
      'another scheduler',
      (_p, _g, patch) => patch.setSchedulerName('mine', ''),
      'preparer bold called setSchedulerName, which is outside its patchSurface',
    ],
    [
      'an item without its key',
      (_p, _g, patch) => patch.add('containers.env', { value: 'x' }, ''),
      'preparer bold called add containers.env with what cannot stand there',
    ],
    [
      'a command that is no list',
      (_p, _g, patch) => patch.set('containers.command', 'x', ''),
      'preparer bold called set containers.command with what cannot stand there',
    ],
  ])('%s is its author’s defect', (_what, prepare, says) => {
    const bold = preparer('bold', prepare, { lists: ['containers.env'], fields: ['containers.command'] });
    expect(() => mutatePod({ object: gangPod() }, under(bold, files))).toThrow(says);
  });

  test('one that declared a scheduler has none to set', () => {
    const bold = preparer('bold', (_p, _g, patch) => patch.setSchedulerName('mine', ''), {
      schedulerName: true,
    });
    expect(() => mutatePod({ object: gangPod() }, under(bold))).toThrow(
      'preparer bold called setSchedulerName with mine, but its schedulerName is none',
    );
  });

  test('refusals of all are told in one answer, and nothing is patched', () => {
    const choosy = (name: string): Preparer =>
      preparer(name, () => {
        throw new PodRefused('spec', `not for ${name}`);
      });
    const decision = mutatePod({ object: gangPod() }, under(choosy('a'), files, choosy('b')));
    expect(rulesOf(decision)).toEqual(['BackendFailed', 'BackendFailed']);
    expect(textsOf(decision).join()).toMatch(/a: not for a.*b: not for b/);
    expect(decision.changes).toEqual([]);
  });
});

test('each has its say about a PodGang', () => {
  const stern: Preparer = {
    ...preparer('stern', () => undefined),
    validate: () => ({ faults: [fault('BackendCannotExpress', 'spec')], warnings: ['it looks odd'] }),
  };
  const decision = validatePodGang({ object: podGang() }, under(stern, files));
  expect(rulesOf(decision)).toEqual(['BackendCannotExpress']);
  expect(decision.warnings).toEqual(['it looks odd']);
});

import { describe, expect, test } from '@jest/globals';
import { inLength } from '../../../support/length.ts';
import fc from 'fast-check';
import type { JsonObject } from '../../../../src/json/json.ts';
import type { OwnedObject } from '../../../../src/backends/cluster.ts';
import { mergePatch } from './fake-objects.ts';
import {
  ANNOTATION_APPLIED,
  ownedPatch,
  recordOf,
} from '../../../../src/controller/scheduler-objects/owned-patch.ts';

const resource = { group: 'x.io', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true };
type Parts = Partial<Pick<OwnedObject, 'labels' | 'annotations' | 'writtenOnce'>>;
const wanting = (spec: JsonObject, parts: Parts = {}): OwnedObject => ({
  resource,
  name: 'a',
  spec,
  ...parts,
});

/** What the API server has after `wanted` was created, and after what others did to it since. */
const created = (wanted: OwnedObject, others: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
  metadata: {
    name: 'a',
    labels: { ...wanted.labels, ...(metadata['labels'] as JsonObject) },
    annotations: {
      ...wanted.annotations,
      ...(metadata['annotations'] as JsonObject),
      [ANNOTATION_APPLIED]: recordOf(wanted),
    },
  },
  spec: { ...wanted.spec, ...others },
});

describe('the patch of an object that a backend keeps', () => {
  const before = wanting(
    { min: 3, queue: 'q', topology: { name: 't', level: 'rack' } },
    { labels: { a: '1' } },
  );

  test.each<[string, OwnedObject, JsonObject, JsonObject | undefined]>([
    ['nothing differs', before, {}, undefined],
    ['defaults and other people’s fields', before, { phase: 'x', mode: 'Pod' }, undefined],
    ['a number', wanting({ ...before.spec, min: 4 }, { labels: { a: '1' } }), {}, { min: 4 }],
    [
      'a field that is no longer wanted',
      wanting({ min: 3, topology: { name: 't', level: 'rack' } }, { labels: { a: '1' } }),
      {},
      { queue: null },
    ],
    [
      'one inside of an object',
      wanting({ ...before.spec, topology: { name: 't' } }, { labels: { a: '1' } }),
      {},
      { topology: { level: null } },
    ],
    ['what somebody else changed', before, { min: 9 }, { min: 3 }],
  ])('%s', (_what, wanted, others, spec) => {
    const patch = ownedPatch(created(before, others), wanted);
    expect(patch?.['spec']).toEqual(spec);
    if (spec === undefined) expect(patch).toBeUndefined();
    else expect(patch?.['metadata']).toEqual({ annotations: { [ANNOTATION_APPLIED]: recordOf(wanted) } });
  });

  test('lists: defaults inside of an item stay, a changed item is written with the whole list', () => {
    const groups = wanting({ groups: [{ name: 'a', min: 1, level: 'x' }, { name: 'b' }] });
    const live = created(groups, {
      groups: [
        { name: 'a', min: 1, level: 'x', size: 1 },
        { name: 'b', size: 1 },
      ],
    });
    expect(ownedPatch(live, groups)).toBeUndefined();
    const less = wanting({ groups: [{ name: 'a', min: 1 }, { name: 'b' }] });
    expect(ownedPatch(live, less)?.['spec']).toEqual(less.spec);
    const shorter = wanting({ groups: [{ name: 'a', min: 1, level: 'x' }] });
    expect(ownedPatch(live, shorter)?.['spec']).toEqual(shorter.spec);
  });

  test('a field that is the scheduler’s once it is written is never written again', () => {
    const once = wanting({ min: 1, queue: 'q' }, { writtenOnce: ['queue'] });
    expect(ownedPatch(created(once, { queue: 'other' }), once)).toBeUndefined();
    const later = wanting({ min: 2, queue: 'new' }, { writtenOnce: ['queue'] });
    expect(ownedPatch(created(once, { queue: 'other' }), later)?.['spec']).toEqual({ min: 2 });
    const gone = wanting({ min: 1 }, { writtenOnce: ['queue'] });
    expect(ownedPatch(created(once), gone)).toBeUndefined();
  });

  test('foreign labels and annotations stay, ours come and go', () => {
    const live = created(before, {}, { labels: { theirs: 'x' }, annotations: { note: 'y' } });
    expect(ownedPatch(live, before)).toBeUndefined();
    const other = wanting(before.spec, { labels: { b: '2' }, annotations: { k: 'v' } });
    expect(ownedPatch(live, other)).toEqual({
      metadata: {
        labels: { b: '2', a: null },
        annotations: { k: 'v', [ANNOTATION_APPLIED]: recordOf(other) },
      },
    });
  });

  test.each([
    ['missing', {}],
    ['spoilt', { [ANNOTATION_APPLIED]: '{' }],
    ['no object', { [ANNOTATION_APPLIED]: '[]' }],
  ])('with a record that is %s nothing is taken away', (_what, annotations) => {
    const live = { metadata: { labels: { a: '1' }, annotations }, spec: { ...before.spec, extra: 1 } };
    expect(ownedPatch(live, before)).toBeUndefined();
    expect(ownedPatch(live, wanting({ min: 5 }))?.['spec']).toEqual({ min: 5 });
  });

  test('whatever was before: after the patch all that is wanted is there, and a second one is empty', () => {
    const value = fc.letrec((tie) => ({
      json: fc.oneof(
        { maxDepth: 3 },
        fc.integer(),
        fc.constantFrom('a', 'b'),
        fc.boolean(),
        fc.array(tie('json'), { maxLength: 3 }),
        tie('object'),
      ),
      object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor'), tie('json'), {
        maxKeys: 3,
      }),
    })).object as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(value, value, value, (first, second, foreign) => {
        const wanted = wanting(second);
        const live = created(wanting(first), foreign);
        const patch = ownedPatch(live, wanted);
        const now = patch === undefined ? live : (mergePatch(live, patch) as JsonObject);
        expect(ownedPatch(now, wanted)).toBeUndefined();
        // And what was ours before and is not wanted any more is gone.
        for (const key of Object.keys(first)) {
          if (!Object.hasOwn(second, key)) expect(Object.hasOwn(now['spec'] as JsonObject, key)).toBe(false);
        }
      }),
      { numRuns: inLength({ short: 600, long: 3_000 }) },
    );
  });
});

describe('an object that consists of something else than a spec', () => {
  const map = (data: JsonObject): OwnedObject => ({ resource, name: 'a', spec: {}, body: { data } });
  const live = (wanted: OwnedObject, others: JsonObject = {}): JsonObject => {
    const { metadata } = created(wanted);
    return { metadata: metadata ?? {}, data: { ...(wanted.body?.['data'] as JsonObject), ...others } };
  };

  test('is left alone where it is as it should be, with what others added', () => {
    expect(ownedPatch(live(map({ a: '1' }), { theirs: 'x' }), map({ a: '1' }))).toBeUndefined();
  });

  test('gets what is new, loses what is no longer wanted, and keeps what is not ours', () => {
    const patch = ownedPatch(live(map({ a: '1', old: 'x' }), { theirs: 'x' }), map({ a: '2', b: '3' }));
    expect(patch).toMatchObject({ data: { a: '2', b: '3', old: null } });
    expect(Object.keys(patch ?? {})).toEqual(['metadata', 'data']);
    expect(recordOf(map({ a: '1' }))).toContain('"body":{"data":{"a":"1"}}');
  });

  test.each(['apiVersion', 'kind', 'metadata', 'spec', 'status'])('never writes %s in this way', (key) => {
    const wanted: OwnedObject = { resource, name: 'a', spec: {}, body: { [key]: {} } };
    expect(() => ownedPatch({}, wanted)).toThrow(`Thing a: body must not have ${key}`);
  });
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { InputFault } from '../../../../src/cli/input/input-fault.ts';
import { readObjects } from '../../../../src/cli/input/documents.ts';

const FIELDS = [
  '',
  'metadata',
  'metadata.name',
  'metadata.labels[a.b/c]',
  'spec.list[1]',
  'items[1]',
  'nowhere',
];

/** All that is told of a text, and of where things stand in it. */
function read(text: string): unknown {
  const faults: InputFault[] = [];
  const objects = [...readObjects({ name: 'f', text }, (fault) => faults.push(fault))].map((source) => ({
    object: source.object,
    places: FIELDS.map((field) => source.locate(field)),
    written: FIELDS.map((field) => source.written(field)),
    literal: source.literal('metadata.name'),
    alone: source.text?.replace(/\n#$/, '').trim(),
  }));
  return { objects, faults };
}

/** With a comment it is no JSON, and stands where it stood. */
const asYaml = (text: string): string => `${text}\n#`;

const name = fc.oneof(
  fc.string(),
  fc.constantFrom('a', '"', '\\', '"items":[', '{', ']', 'yes', 'ü😀', ': #'),
);
const { object } = fc.letrec<{ object: object; list: object }>((tie) => ({
  object: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record({
      kind: fc.constant('Pod'),
      metadata: fc.record({ name }),
      spec: fc.jsonValue({ maxDepth: 2 }),
    }),
    fc.record({
      metadata: fc.record({ name, labels: fc.constant({ 'a.b/c': 'x' }) }),
      spec: fc.record({ list: fc.array(name, { maxLength: 3 }) }),
      kind: fc.constantFrom('Pod', 'PodGang', 'List'),
    }),
    tie('list'),
  ),
  list: fc.record({
    metadata: fc.constantFrom({}, { items: [{}] }),
    kind: fc.constantFrom('List', 'PodList', 'Pod'),
    items: fc.array(fc.oneof({ weight: 9, arbitrary: tie('object') }, fc.constantFrom(null, 1, [])), {
      maxLength: 4,
    }),
  }),
}));

describe('JSON is read as the YAML that it is', () => {
  test.each([
    '{"kind":"Pod","metadata":{"name":"a"}}',
    '\n  {"kind":"Pod",\n "metadata":\n{"name":"a"}}\n',
    '{"kind":"List","items":[{"kind":"Pod","metadata":{"name":"a"}},\n {"kind":"Pod"}]}',
    '{"items" : [{"metadata":{"name":"a"}}],"kind":"PodList"}',
    // Told of, as in YAML: a key that comes twice, what is no object, and what is nested without end.
    '{"kind":"Pod","kind":"Job"}',
    '{"kind":"List","items":[{"a":1,"a":2}]}',
    '{"kind":"Pod"}{"kind":"Pod"}',
    '[{"kind":"Pod"}]',
    '{"kind":"Pod",}',
    `{"kind":"Pod","a":${'['.repeat(300)}${']'.repeat(300)}}`,
    '{"kind":"{{ .Values.kind }}","a":{{ .Values.a }}}',
    '{"kind":"Pod"}\n---\n{"kind":"Job"}\n',
    '{}',
  ])('%s', (text) => {
    expect(read(text)).toEqual(read(asYaml(text)));
  });

  test('whatever is in it', () => {
    fc.assert(
      fc.property(object, fc.constantFrom(undefined, 1, 2, '\t'), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        expect(read(text)).toEqual(read(asYaml(text)));
      }),
      { numRuns: 300 },
    );
  });
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseAllDocuments } from 'yaml';
import { readObjects } from '../../../../src/cli/input/documents.ts';
import type { SourceObject } from '../../../../src/cli/input/source-object.ts';
import type { InputFault } from '../../../../src/cli/input/input-fault.ts';

/** The objects, and what cannot be read, as it is told. */
function readBoth(text: string): { sources: SourceObject[]; faults: InputFault[] } {
  const faults: InputFault[] = [];
  const sources = [...readObjects({ name: 'in.yaml', text }, (fault) => faults.push(fault))];
  return { sources, faults };
}
function read(text: string): SourceObject[] {
  const { sources, faults } = readBoth(text);
  expect(faults).toEqual([]);
  return sources;
}
const objects = (text: string) => read(text).map(({ object }) => object);

function refusal(text: string): string {
  const [{ file, line, column, message } = { file: '', line: 0, column: 0, message: '' }, ...others] =
    readBoth(text).faults;
  expect(others).toEqual([]);
  return `${file}:${line}:${column}: ${message}`;
}

describe('documents', () => {
  test('one input holds many; empty ones are left out', () => {
    expect(objects('a: 1\n---\n---\n# nothing\n---\nb: 2\n...\n')).toEqual([{ a: 1 }, { b: 2 }]);
    expect(objects('')).toEqual([]);
    expect(objects('# only a comment\n')).toEqual([]);
    expect(objects('\ufeffa: 1')).toEqual([{ a: 1 }]);
  });

  test('a hundred in one input', () => {
    const text = Array.from({ length: 100 }, (_, index) => `num: ${index}\n`).join('---\n');
    const found = read(text);
    expect(found).toHaveLength(100);
    expect(found.at(-1)?.locate('num')).toEqual({ line: 199, column: 1 });
  });

  test('JSON, with tabs as well', () => {
    expect(objects('{\n\t"a":\t[1, {"b": null}]\n}')).toEqual([{ a: [1, { b: null }] }]);
  });

  test('is read as kubectl reads it: YAML 1.1', () => {
    expect(objects('mode: 0644\non: yes\nd: 2001-01-01\nt: 12:30\nb: &x {c: 1}\nm: {<<: *x, d: 2}')).toEqual([
      { mode: 420, true: true, d: '2001-01-01', t: '12:30', b: { c: 1 }, m: { c: 1, d: 2 } },
    ]);
  });

  test('lists are their items, lists in lists as well; a typed list lends its kind', () => {
    const text = `
apiVersion: v1
kind: List
items:
  - {kind: Pod, apiVersion: v1, num: 1}
  - kind: PodGangList
    apiVersion: scheduler.grove.io/v1alpha1
    items: [{num: 2}, {kind: Other, num: 3}]
  - {kind: ConfigMap, apiVersion: v1, items: [4]}
`;
    const found = read(text);
    expect(found.map(({ object }) => object)).toEqual([
      { kind: 'Pod', apiVersion: 'v1', num: 1 },
      { kind: 'PodGang', apiVersion: 'scheduler.grove.io/v1alpha1', num: 2 },
      { kind: 'Other', num: 3 },
      { kind: 'ConfigMap', apiVersion: 'v1', items: [4] },
    ]);
    expect(found[1]?.locate('num')).toEqual({ line: 8, column: 14 });
    expect(found[1]?.locate('')).toEqual({ line: 8, column: 13 });
    expect(found[1]?.text).toBeUndefined();
  });

  test('a list without items is an empty one', () => {
    for (const items of ['[]', 'null', '']) expect(objects(`{kind: List, items: ${items}}`)).toEqual([]);
    expect(objects('{"kind": "List", "apiVersion": "v1"}')).toEqual([]);
    expect(objects('{"kind": "PodList", "apiVersion": "v1"}')).toHaveLength(1);
  });

  test('an anchor that is used twice gives two objects', () => {
    const [first] = objects('a: &x {b: 1}\nc: *x') as [{ a: object; c: object }];
    expect(first.a).toEqual(first.c);
    expect(first.a).not.toBe(first.c);
  });

  test('keys named __proto__ and constructor are keys, and change nothing else', () => {
    const [object] = objects('__proto__: {polluted: true}\nconstructor: {prototype: {polluted: true}}');
    expect(Object.keys(object ?? {})).toEqual(['__proto__', 'constructor']);
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
  });
});

describe('places', () => {
  const [source] = read(`kind: PodGang
metadata:
  labels:
    grove.io/podgang: x
    'a.b[c]': y
spec:
  podgroups:
    - name: a
    - {name: b, minReplicas: 1}
  shared: &s
    deep: 1
  alias: *s
`);
  test.each([
    ['kind', 1, 1],
    ['metadata.labels[grove.io/podgang]', 4, 5],
    ['metadata.labels["a.b[c]"]', 5, 5],
    ['spec.podgroups[0].name', 8, 7],
    ['spec.podgroups[1].minReplicas', 9, 17],
    ['spec.podgroups[1].missing', 9, 7],
    ['spec.podgroups[7].name', 7, 3],
    ['spec.missing.deeper', 6, 1],
    ['spec.alias.deep', 11, 5],
    ['kind.is.no.map', 1, 1],
    ['nothing', 1, 1],
    ['', 1, 1],
  ])('%s stands at %d:%d', (field, line, column) => {
    expect(source?.locate(field)).toEqual({ line, column });
  });

  test('a document by itself keeps its lines', () => {
    const found = read('a: 1\n---\nb: 2\nc: 3\n---\nd: 4\n');
    expect(found[1]?.text).toBe('\n---\nb: 2\nc: 3\n');
    expect(found[1]?.text?.split('\n')[2]).toBe('b: 2');
  });
});

describe('what cannot be read says where', () => {
  test.each([
    ['a: [1,\nb: 2\n', /^in\.yaml:\d+:\d+: .*flow/i],
    ['a: 1\n---\na: 1\n  b: 2\n', /^in\.yaml:[34]:\d+: /],
    ['a: 1\nb: 2\na: 3\n', /^in\.yaml:3:1: Map keys must be unique/],
    ['{"a": 1, "a": 2}', /^in\.yaml:1:10: Map keys must be unique/],
    ['just text', /^in\.yaml:1:1: a Kubernetes object is needed, found "just text"$/],
    ['a: 1\n---\n- 1\n', /^in\.yaml:3:1: a Kubernetes object is needed, found a list$/],
    ['42', /^in\.yaml:1:1: a Kubernetes object is needed, found 42$/],
    ['a: *nowhere', /^in\.yaml:1:1: /],
    ['a: &a [*a]', /^in\.yaml:1:1: /],
  ])('%j', (text, message) => {
    expect(refusal(text)).toMatch(message);
  });

  test('a bomb of aliases', () => {
    const level = (index: number): string =>
      `l${index}: &l${index} [${Array.from({ length: 10 }, () => (index === 0 ? '"lol"' : `*l${index - 1}`)).join(', ')}]\n`;
    const bomb = Array.from({ length: 12 }, (_, index) => level(index)).join('');
    expect(refusal(bomb)).toBe('in.yaml:1:1: its aliases unfold to more than any manifest needs');
  });

  test('nesting beyond any stack', () => {
    expect(refusal(`a: ${'['.repeat(200_000)}`)).toMatch(/^in\.yaml:\d+:\d+: /);
    expect(refusal(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`)).toMatch(
      /^in\.yaml:1:\d+: it is nested too deeply$/,
    );
  });

  test('an alias that contains itself', () => {
    expect(refusal('a: 1\nb: &x [*x]\n')).toBe('in.yaml:1:1: one of its aliases contains itself');
  });

  test('what is no object in a list, with its place; the others are read', () => {
    const { sources, faults } = readBoth(
      'kind: List\nitems:\n- {kind: Pod}\n- 7\n- {kind: List, items: [null]}\n',
    );
    expect(sources.map(({ object }) => object)).toEqual([{ kind: 'Pod' }]);
    expect(faults.map(({ line, column, message }) => `${line}:${column}: ${message}`)).toEqual([
      '4:3: items[1]: a Kubernetes object is needed, found 7',
      '5:24: items[2].items[0]: a Kubernetes object is needed, found null',
    ]);
    const json = readBoth('{"kind":"List",\n"items":[\n{"kind":"Pod"}, 7]}');
    expect(json.sources.map(({ object }) => object)).toEqual([{ kind: 'Pod' }]);
    expect(json.faults).toMatchObject([
      { line: 3, column: 17, message: expect.stringMatching(/^items\[1\]: /) },
    ]);
    expect(refusal('{kind: List, items: 5}')).toBe('in.yaml:1:14: items: a list is needed, found 5');
  });

  test('one bad document hides no other', () => {
    const { sources, faults } = readBoth('a: 1\n---\na: [\n---\nb: 2\n---\n- 3\n---\nc: 4\n');
    expect(sources.map(({ object }) => object)).toEqual([{ a: 1 }, { b: 2 }, { c: 4 }]);
    expect(faults.map(({ line }) => line)).toEqual([4, 7]);
    expect(sources[2]?.locate('c')).toEqual({ line: 9, column: 1 });
  });

  test('of a template of Helm it says what to do first', () => {
    const { faults } = readBoth('{{- if .Values.x }}\na: 1\n{{- end }}\n');
    expect(faults[0]?.fix).toBe(
      'it is a template of Helm: render it first, helm template <chart> | muster … -f -',
    );
  });
});

describe('documents are cut as the library cuts them', () => {
  const line = fc.constantFrom(
    'a: 1',
    'b:',
    '  - x',
    '---',
    '--- ',
    '--- # c',
    '...',
    '%YAML 1.1',
    '# ---',
    ' ---',
    'c: |',
    '  ---',
    'd: "x',
    '  y"',
    '',
    '---x: 1',
  );
  test('whatever the lines', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 10 }), (lines) => {
        const text = lines.join('\n');
        const whole = parseAllDocuments(text, { version: '1.1' });
        fc.pre([...whole].every(({ errors }) => errors.length === 0));
        const values = [...whole].map((document) => document.toJS() as unknown);
        const objects = values.filter(
          (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
        );
        expect(readBoth(text).sources.map(({ object }) => object)).toEqual(objects);
      }),
      { numRuns: 1000 },
    );
  });
});

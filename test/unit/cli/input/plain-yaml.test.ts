import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseAllDocuments, type Document } from 'yaml';
import { plainYamlIn } from '../../../../src/cli/input/plain-yaml.ts';
import { READ_AS_KUBERNETES } from '../../../../src/cli/input/yaml-dialect.ts';
import { inLength } from '../../../support/length.ts';

/** What `yaml` makes of a text. */
function byLibrary(text: string) {
  const documents = [...parseAllDocuments(text, READ_AS_KUBERNETES)] as Document.Parsed[];
  const [first] = documents;
  return {
    faults: documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]).map(String),
    count: documents.length,
    start: first?.contents?.range[0],
    object: first?.toJS() as unknown,
  };
}

/** The object, where js-yaml reads it; it has to be that of `yaml`. */
function readPlainly(text: string): unknown {
  const plain = plainYamlIn(text);
  if (plain === undefined) return undefined;
  expect({ text, ...byLibrary(text) }).toEqual({ text, faults: [], count: 1, ...plain });
  // The order of the keys is that of the text, too.
  expect(JSON.stringify(plain.object)).toBe(JSON.stringify(byLibrary(text).object));
  return plain.object;
}

describe('what kubectl and Helm write is read by js-yaml', () => {
  const WRITTEN = `---
# Source: chart/templates/pod.yaml
apiVersion: v1
kind: Pod   # of a gang
metadata:
  name: "trainer-0"
  labels: {}
  annotations:
    grove.io/podgang: 'it''s'
    "quoted.example/key": "a \\"b\\" \\u00e9"
spec:
  priority: 10
  ratio: 1.50
  mode: 0644
  enabled: yes
  nothing:
  other: ~
  finalizers: []
  containers:
  - name: c
    image: registry.example.com/a:1.2.3
    args: ["--a", "b"]
    command:
      - sh
      - -c
      - |
        set -e
          indented

        echo "x: y" # no comment
    cpu: 500m
    empty:
  -   name: d
      lists:
      - - 1
        - -2
      -
        a: b
      -
  last: |-
    one

    two
`;

  test('all of it', () => {
    expect(readPlainly(WRITTEN)).toMatchObject({
      metadata: { annotations: { 'grove.io/podgang': "it's", 'quoted.example/key': 'a "b" é' } },
      spec: {
        ...{ mode: 0o644, enabled: true, nothing: null, ratio: 1.5, last: 'one\n\ntwo' },
        containers: [
          { command: ['sh', '-c', 'set -e\n  indented\n\necho "x: y" # no comment\n'], cpu: '500m' },
          { lists: [[1, -2], { a: 'b' }, null] },
        ],
      },
    });
  });

  test.each([
    ['an anchor', 'a: &x 1\nb: *x\n'],
    ['a tag', 'a: !!str 1\n'],
    ['a key twice', 'a: 1\na: 2\n'],
    ['a merge', '<<: {}\n'],
    ['a tab', 'a:\tb\n'],
    ['a last line of spaces', 'a: |+\n  '],
    ['a list', '- a\n'],
    ['nothing', '# a comment\n'],
    ['a second document', 'a: 1\n---\nb: 2\n'],
    ['a fault', 'a: b: c\n'],
    ['a template', '{{ if }}\na: 1\n'],
    ['infinity', 'a: .inf\n'],
    ['a key that is no text', 'on: 1\n'],
    ['a key that is nothing', ': 1\n'],
    ['a prototype', '__proto__: 1\n'],
    ['a line that is not far enough to the right', 'a:\n    b: 1\n  c: 2\n'],
  ])('%s is left to yaml', (_, text) => {
    expect(plainYamlIn(text)).toBeUndefined();
  });
});

describe('what js-yaml reads is what yaml reads', () => {
  const line = fc
    .tuple(
      fc.constantFrom('', '', '  ', '  ', '    ', '      ', ' '),
      fc.constantFrom('', '', '', '- ', '- - ', '-  ', '-'),
      fc.constantFrom('', 'a:', 'b: ', 'c:', 'd/e.f: ', '"q": ', "'r': ", 'g:h: ', 'on: ', '? ', 'x'),
      fc.oneof(
        fc.constantFrom(
          ...[
            '',
            'text',
            'two words',
            'yes',
            'NO',
            'null',
            '~',
            '1',
            '007',
            '0x1F',
            '1_000',
            '-5',
            '+3',
            '1.5',
            '1e3',
          ],
          ...[
            '.5',
            '.inf',
            '12:30',
            '2026-01-01',
            '1.2.3',
            '500m',
            '"x"',
            '"a\\n"',
            "'it''s'",
            '"',
            '[]',
            '{}',
            '["a"]',
          ],
          ...[
            '[a]',
            '|',
            '|-',
            '|+',
            '>',
            '|2',
            '# c',
            'x # c',
            'x#c',
            'a: b',
            'a:b',
            ': x',
            '-x',
            '--- x',
            '*a',
            '&a b',
          ],
          ...[
            '!t x',
            '@x',
            '%x',
            '`x',
            '<<',
            '...',
            '---',
            '"a" b',
            "'a' # c",
            '| # c',
            '[] # c',
            'x:',
            'a,b',
            '<a>',
            '\\',
          ],
        ),
        fc.string({ maxLength: 6 }),
      ),
    )
    .map((parts) => parts.join(''));
  const text = fc
    .tuple(fc.array(line, { maxLength: 8 }), fc.constantFrom('\n', '', '\n\n'))
    .map(([lines, end]) => `a:\n${lines.join('\n')}${end}`);

  test('whatever the lines', () => {
    fc.assert(
      fc.property(text, (given) => void readPlainly(given)),
      { numRuns: inLength({ short: 3_000, long: 30_000 }) },
    );
  });

  /** Lines that go together, so that most of these texts are read by js-yaml. */
  const { node } = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.constantFrom('a\nb\n', 'yes', '1e3', '- a'),
      ),
      fc.array(tie('node'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b/c', 'd e', 'on', 'é'), tie('node'), { maxKeys: 3 }),
    ),
  }));

  test('however deep', () => {
    fc.assert(
      fc.property(node, (given) => {
        readPlainly(`${written({ a: given }, '')}\n`);
      }),
      { numRuns: inLength({ short: 1_000, long: 10_000 }) },
    );
  });
});

function written(value: unknown, before: string): string {
  if (Array.isArray(value) && value.length > 0)
    return value.map((item) => `${before}- ${written(item, `${before}  `).trimStart()}`).join('\n');
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0)
    return Object.entries(value)
      .map(([key, item]) => {
        const nests = typeof item === 'object' && item !== null && Object.keys(item as object).length > 0;
        return `${before}${/^\w+$/.test(key) ? key : JSON.stringify(key)}:${nests ? '\n' : ' '}${written(item, `${before}  `)}`;
      })
      .join('\n');
  return typeof value === 'string' && /^[\w ]*\w$/.test(value) ? value : JSON.stringify(value);
}

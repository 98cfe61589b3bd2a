import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { Json } from '../../../../src/json/json.ts';
import { pointer } from '../../../../src/json/patch.ts';
import { toYaml, writeYaml } from '../../../../src/cli/output/structured.ts';

const hard = fc.constantFrom(
  'yes',
  'n',
  '0644',
  '1e3',
  'e0',
  'E-1',
  '~',
  '<<',
  'a: b',
  'a #b',
  'a:',
  '- a',
  '12:30',
  ' x',
  'x ',
  '',
  'a\nb\n',
  '\n',
  '\t',
  '\u202e',
  'x'.repeat(1100),
);
const text = fc.oneof(hard, fc.string({ maxLength: 8 }), fc.string({ unit: 'binary', maxLength: 8 }));
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.constantFrom(null, true, false),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

test.each(['1.1', '1.2'] as const)('whatever is written, a reader of YAML %s reads', (version) => {
  fc.assert(
    fc.property(value, (written) => {
      const read: unknown = parse(toYaml(written), { version, merge: false });
      expect(JSON.stringify(read)).toBe(JSON.stringify(written));
    }),
    { numRuns: 500 },
  );
});

test('the line of each field is the one that begins with it', () => {
  fc.assert(
    fc.property(fc.dictionary(text, value, { maxKeys: 4, noNullPrototype: true }), (written) => {
      const { lines, lineOf } = writeYaml(written);
      const starts = Object.keys(written).map((key) => lineOf.get(`/${pointer(key)}`) ?? 0);
      expect(starts).toEqual([...starts].sort((a, b) => a - b));
      const top = lines.flatMap((line, index) => (/^(?:[ \-:]|$)/.test(line) ? [] : [index + 1]));
      // A text of several lines may have some at the left edge only where it is empty.
      expect(starts.every((line) => top.includes(line))).toBe(true);
    }),
    { numRuns: 300 },
  );
});

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  EVERYTHING,
  takesEverything,
  unmetRequirement,
  type LabelOperator,
  type LabelSelector,
} from '../../../src/k8s/label-selector.ts';

const where = (key: string, operator: LabelOperator, ...values: string[]): LabelSelector => ({
  matchLabels: {},
  matchExpressions: [{ key, operator, values }],
});
const labelled = (labels: Record<string, string>): LabelSelector => ({
  matchLabels: labels,
  matchExpressions: [],
});

test.each<[string, LabelSelector, Record<string, string>, string | undefined]>([
  ['nothing asked', EVERYTHING, {}, undefined],
  ['an equal label', labelled({ team: 'ml' }), { team: 'ml', x: 'y' }, undefined],
  ['another value', labelled({ team: 'ml' }), { team: 'web' }, 'needs label team=ml, has team=web'],
  ['no label', labelled({ team: 'ml' }), {}, 'needs label team=ml, has none'],
  ['the empty value', labelled({ team: '' }), {}, 'needs label team=, has none'],
  ['a name of the prototype', labelled({ constructor: 'x' }), {}, 'needs label constructor=x, has none'],
  ['In', where('a', 'In', '1', '2'), { a: '2' }, undefined],
  ['In, another', where('a', 'In', '1', '2'), { a: '3' }, 'needs label a with one of 1, 2, has a=3'],
  ['In, none', where('a', 'In', '1'), {}, 'needs label a with value 1, has none'],
  ['NotIn', where('a', 'NotIn', '1'), { a: '2' }, undefined],
  ['NotIn holds without the label', where('a', 'NotIn', '1'), {}, undefined],
  ['NotIn, listed', where('a', 'NotIn', '1'), { a: '1' }, 'must not have label a with value 1, has a=1'],
  ['Exists', where('a', 'Exists'), { a: '' }, undefined],
  ['Exists, none', where('a', 'Exists'), { b: '' }, 'needs label a, has none'],
  ['DoesNotExist', where('a', 'DoesNotExist'), { b: '' }, undefined],
  ['DoesNotExist, there', where('a', 'DoesNotExist'), { a: '' }, 'must not have label a, has a='],
])('%s', (_, selector, labels, unmet) => {
  expect(unmetRequirement(selector, new Map(Object.entries(labels)))).toBe(unmet);
});

const key = fc.constantFrom('a', 'b', 'example.com/c');
const value = fc.constantFrom('', '1', '2');
const values = fc.uniqueArray(value, { minLength: 1, maxLength: 3 });
const requirement = fc.oneof(
  fc.record({ key, operator: fc.constantFrom<LabelOperator>('In', 'NotIn'), values }),
  fc.record({
    key,
    operator: fc.constantFrom<LabelOperator>('Exists', 'DoesNotExist'),
    values: fc.constant<string[]>([]),
  }),
);
const selector: fc.Arbitrary<LabelSelector> = fc.record({
  matchLabels: fc.dictionary(key, value, { noNullPrototype: true }),
  matchExpressions: fc.array(requirement, { maxLength: 3 }),
});
const labels = fc.dictionary(key, value).map((record) => new Map(Object.entries(record)));
const OPPOSITE = { In: 'NotIn', NotIn: 'In', Exists: 'DoesNotExist', DoesNotExist: 'Exists' } as const;

const takes = (one: LabelSelector, of: ReadonlyMap<string, string>): boolean =>
  unmetRequirement(one, of) === undefined;

test('a selector holds exactly where each of its parts holds alone', () => {
  fc.assert(
    fc.property(selector, labels, (one, of) => {
      const parts = [
        ...Object.entries(one.matchLabels).map(([name, is]) => labelled({ [name]: is })),
        ...one.matchExpressions.map((part) => ({ matchLabels: {}, matchExpressions: [part] })),
      ];
      expect(takes(one, of)).toBe(parts.every((part) => takes(part, of)));
    }),
  );
});

test('of a requirement and its opposite exactly one holds, whatever the labels', () => {
  fc.assert(
    fc.property(requirement, labels, (one, of) => {
      const holds = ({ operator }: { operator: LabelOperator }): boolean =>
        takes(where(one.key, operator, ...one.values), of);
      expect(holds(one)).toBe(!holds({ operator: OPPOSITE[one.operator] }));
    }),
  );
});

test('matchLabels is In with one value', () => {
  fc.assert(
    fc.property(key, value, labels, (name, is, of) => {
      expect(takes(labelled({ [name]: is }), of)).toBe(takes(where(name, 'In', is), of));
    }),
  );
});

test('labels that nobody asks for change nothing, and only an empty selector is said to take everything', () => {
  fc.assert(
    fc.property(selector, labels, (one, of) => {
      expect(unmetRequirement(one, new Map([...of, ['other', 'x']]))).toBe(unmetRequirement(one, of));
      if (takesEverything(one)) expect(takes(one, of)).toBe(true);
      else expect(one).not.toEqual(EVERYTHING);
    }),
  );
});

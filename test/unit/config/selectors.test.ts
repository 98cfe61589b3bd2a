/** `controllers.podGang.namespaceSelector` and `objectSelector`. */
import { expect, test } from '@jest/globals';
import { loadConfiguration } from '../../../src/config/load.ts';
import { EVERY_GANG, notSelected } from '../../../src/gang/gang-selection.ts';

const load = (selector: string, which = 'namespaceSelector') => {
  const text = `apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
controllers:
  podGang:
    ${which}: ${selector}
`;
  return loadConfiguration({
    text,
    fileName: 'c.yaml',
    env: {},
    flags: {},
    supportedSchedulers: ['default-scheduler'],
  }).configuration.controllers.podGang;
};

test('by default, and where nothing follows the key, every gang', () => {
  expect(load('')).toMatchObject(EVERY_GANG);
  expect(load('{ matchLabels: }')).toMatchObject(EVERY_GANG);
});

test('written as in a webhook configuration', () => {
  const settings = load(
    '{ matchLabels: { team: ml }, matchExpressions: [{ key: tier, operator: NotIn, values: [test] }] }',
  );
  const of = (labels: Record<string, string>): Map<string, string> => new Map(Object.entries(labels));
  expect(notSelected(settings, 'a', of({ team: 'ml' }), of({}))).toBeUndefined();
  expect(notSelected(settings, 'a', of({ team: 'ml', tier: 'test' }), of({}))).toContain('must not have');
  expect(load('{ matchLabels: { "": "" } }'.replace('""', 'a'), 'objectSelector')).toMatchObject({
    objectSelector: { matchLabels: { a: '' }, matchExpressions: [] },
    namespaceSelector: EVERY_GANG.namespaceSelector,
  });
});

const AT = 'controllers.podGang.namespaceSelector';
test.each<[string, string]>([
  ['[]', `${AT}: must be a mapping, not a list`],
  ['{ matchLabel: {} }', `${AT}.matchLabel: unknown key "matchLabel" (did you mean "matchLabels"?)`],
  ['{ matchLabels: [] }', `${AT}.matchLabels: must be a mapping, not a list`],
  [
    '{ matchLabels: { gpu: true } }',
    `${AT}.matchLabels.gpu: must be a string, not true: write "true" with quotes`,
  ],
  [
    '{ matchLabels: { tier: 1 } }',
    `${AT}.matchLabels.tier: must be a string, not the number 1: write "1" with quotes`,
  ],
  // Left out it would select everything.
  [
    '{ matchLabels: { team: } }',
    `${AT}.matchLabels.team: must be a string: write "" for a label without a value`,
  ],
  [
    '{ matchLabels: { "a b": x } }',
    `${AT}.matchLabels["a b"]: "a b" is not a valid label key: write at most 63 letters, digits, "-", "_" and ".", if need be behind "example.com/"`,
  ],
  [
    '{ matchLabels: { a: "x y" } }',
    `${AT}.matchLabels.a: "x y" is not a valid label value: write at most 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends`,
  ],
  ['{ matchExpressions: {} }', `${AT}.matchExpressions: must be a list, not a mapping`],
  ['{ matchExpressions: [{ operator: Exists }] }', `${AT}.matchExpressions[0].key: is required`],
  [
    '{ matchExpressions: [{ key: a, operator: in, values: [b] }] }',
    `${AT}.matchExpressions[0].operator: unsupported value "in" (supported: In, NotIn, Exists, DoesNotExist) (did you mean "In"?)`,
  ],
  [
    '{ matchExpressions: [{ key: a, operator: In }] }',
    `${AT}.matchExpressions[0].values: must list at least one value for In: list some, or write operator Exists`,
  ],
  [
    '{ matchExpressions: [{ key: a, operator: NotIn, values: [] }] }',
    `${AT}.matchExpressions[0].values: must list at least one value for NotIn: list some, or write operator DoesNotExist`,
  ],
  [
    '{ matchExpressions: [{ key: a, operator: Exists, values: [b] }] }',
    `${AT}.matchExpressions[0].values: must be empty for Exists: leave them out, or write operator In`,
  ],
  [
    '{ matchExpressions: [{ key: a, operator: DoesNotExist, values: [b] }] }',
    `${AT}.matchExpressions[0].values: must be empty for DoesNotExist: leave them out, or write operator NotIn`,
  ],
  [
    '{ matchExpressions: [{ key: a, operator: In, values: [true] }] }',
    `${AT}.matchExpressions[0].values[0]: must be a string, not true: write "true" with quotes`,
  ],
  [
    '{ matchExpressions: [{ key: -a, operator: In, values: [-b] }] }',
    `${AT}.matchExpressions[0].key: "-a" is not a valid label key`,
  ],
  // A value as long as somebody likes is no reason for a message of that length.
  [
    `{ matchLabels: { a: ${'u'.repeat(10_000)} } }`,
    `${AT}.matchLabels.a: "${'u'.repeat(79)}…" is not a valid label value`,
  ],
])('%s', (selector, message) => {
  expect(() => load(selector)).toThrow(message);
});

import { describe, expect, test } from '@jest/globals';
import { isPodGangName } from '../../../src/api/pod-gang.ts';
import { isDnsLabel, isDnsSubdomain, isLabelKey, isLabelValue } from '../../../src/k8s/name-syntax.ts';

/** One table for all: which of the syntaxes takes the text. */
const cases: [text: string, label: boolean, subdomain: boolean, value: boolean, key: boolean][] = [
  ['a', true, true, true, true],
  ['a-1', true, true, true, true],
  ['1', true, true, true, true],
  ['a.b', false, true, true, true],
  ['A_b.C', false, false, true, true],
  ['', false, false, false, false],
  ['-a', false, false, false, false],
  ['a-', false, false, false, false],
  ['a..b', false, false, true, true],
  ['.a', false, false, false, false],
  ['a.', false, false, false, false],
  ['a b', false, false, false, false],
  ['a\n', false, false, false, false],
  ['ä', false, false, false, false],
  ['ａ', false, false, false, false],
  ['a/b', false, false, false, true],
  ['A/b', false, false, false, false],
  ['a/', false, false, false, false],
  ['/a', false, false, false, false],
  ['a/b/c', false, false, false, false],
  ['x.y/A_b', false, false, false, true],
  ['a'.repeat(63), true, true, true, true],
  ['a'.repeat(64), false, true, false, false],
  [`${'a'.repeat(249)}.bcd`, false, true, false, false],
  [`${'a'.repeat(250)}.bcd`, false, false, false, false],
  [`${'a'.repeat(253)}/b`, false, false, false, true],
  [`${'a'.repeat(254)}/b`, false, false, false, false],
  [`a/${'b'.repeat(64)}`, false, false, false, false],
];

describe.each(cases)('%p', (text, label, subdomain, value, key) => {
  test('is taken as Kubernetes takes it', () => {
    expect([isDnsLabel(text), isDnsSubdomain(text), isLabelValue(text), isLabelKey(text)]).toEqual([
      label,
      subdomain,
      value,
      key,
    ]);
    expect(isPodGangName(text)).toBe(subdomain && text.length <= 63);
  });
});

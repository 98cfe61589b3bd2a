import { stringify } from 'yaml';
import type { Random } from '../support/random.ts';
import { spoiltBytes, spoiltText } from './spoil.ts';

/** A few levels of nine aliases each: 9^8 values from a few hundred bytes. */
const bomb = (key: string): string =>
  Array.from({ length: 9 }, (_, level) => {
    const of = level === 0 ? '"x"' : `*l${level - 1}`;
    return `${key}${level}: &l${level} [${Array.from({ length: 9 }, () => of).join(', ')}]`;
  }).join('\n');
const mergeBomb = Array.from({ length: 9 }, (_, level) =>
  level === 0
    ? 'm0: &m0 {a: 1}'
    : `m${level}: &m${level} {<<: [${Array.from({ length: 9 }, () => `*m${level - 1}`).join(', ')}]}`,
).join('\n');

/** Pieces that a reader of YAML may stumble over; each stands on lines of its own. */
const PIECES: readonly [string, ...string[]] = [
  bomb('bomb'),
  mergeBomb,
  'self: &self [*self]',
  'self: &self {a: {b: *self}}',
  'lost: *nobody',
  '<<: *nobody',
  '<<: {kind: Pod, apiVersion: v1}',
  '<<: [{a: 1}, {a: 2}]',
  '<<: 5',
  '? [a, b]\n: c',
  '? {a: b}\n: c',
  '? |\n  long\n: c',
  'binary: !!binary aGVsbG8=',
  'code: !!js/function "function(){}"',
  'own: !mine {a: 1}',
  'set: !!set {a, b}',
  'omap: !!omap [a: 1]',
  'when: 2026-01-01T00:00:00Z',
  'octal: 0644',
  'base60: 190:20:30',
  'yes: no',
  'inf: .inf',
  'nan: .NaN',
  'big: 123456789012345678901234567890',
  'float: 1e999',
  '~: null',
  'null: ~',
  '__proto__: {polluted: true}',
  'constructor: {prototype: {polluted: true}}',
  '---',
  '--- |',
  '--- # x',
  '...',
  '%YAML 1.1\n---',
  '%YAML 9.9\n---',
  '%TAG ! tag:example.com,2000:\n---',
  '%NONSENSE',
  'kind: Pod',
  'kind: List\nitems: []',
  'apiVersion: v2',
  'metadata: {}',
  'spec:\n  podgroups: [{name: a, minReplicas: 1}, {name: a}]',
  '\ttab: x',
  'a:\n\tb: c',
  'bad: [1, 2',
  'bad: {a: ',
  "quote: 'open",
  'quote: "open',
  'escape: "\\x00\\u202e\\ud800\\e[31m"',
  'raw: \u001b[31mred',
  'key \u001b]0;title\u0007: x',
  'nel: a\u0085b\u2028c',
  '\ufeffbom: x',
  'cr: a\rb: c',
  'nul: a\u0000b',
  'text: |+2\n    x\n',
  'text: >-\n  a\n  b',
  'anchor: &a\nb: *a',
  '# \u001b[2J a comment',
  'helm: {{ .Values.name }}',
  '{{- if .Values.x }}',
  `long: ${'x'.repeat(20_000)}`,
  `${'k'.repeat(2_000)}: x`,
  `deep: ${'['.repeat(300)}${']'.repeat(300)}`,
  `deep: ${'['.repeat(6_000)}`,
  `deep: ${'{a: '.repeat(500)}1${'}'.repeat(500)}`,
  `${'- '.repeat(400)}x`,
  Array.from({ length: 200 }, (_, level) => `${' '.repeat(level)}d${level}:`).join('\n'),
  `wide: [${'1, '.repeat(3_000)}1]`,
  Array.from({ length: 500 }, (_, index) => `k${index}: ${index}`).join('\n'),
  Array.from({ length: 60 }, () => 'twice: 1').join('\n'),
];

/**
 * `tree` as somebody may write it down: JSON or YAML in one of its styles.
 * @param version of YAML: to a reader of 1.1, as Kubernetes is, some words of 1.2 are no text
 */
export function writtenOnce(
  tree: unknown,
  random: Random,
  version: '1.1' | '1.2' = random.pick(['1.1', '1.2']),
): string {
  const kind = random.below(6);
  if (kind === 0) return JSON.stringify(tree);
  if (kind === 1) return JSON.stringify(tree, null, 2);
  return stringify(tree, {
    version,
    collectionStyle: random.pick(['any', 'any', 'block', 'flow'] as const),
    defaultStringType: random.pick([
      'PLAIN',
      'PLAIN',
      'QUOTE_DOUBLE',
      'QUOTE_SINGLE',
      'BLOCK_LITERAL',
    ] as const),
    indent: random.pick([2, 4, 1]),
    indentSeq: random.chance(50),
    lineWidth: random.pick([0, 40, 80]),
    aliasDuplicateObjects: random.chance(50),
  });
}

/** `tree` with something wrong in it, or in how it is written, or with nothing. */
export function written(tree: unknown, random: Random): Buffer {
  const kind = random.below(10);
  if (kind <= 2) return Buffer.from(writtenOnce(tree, random));
  if (kind <= 4) return Buffer.from(spoiltText(JSON.stringify(tree), random));
  let text = writtenOnce(kind === 5 ? spoiltTree(tree, random) : tree, random);
  if (kind >= 6 && kind <= 8) {
    const lines = text.split('\n');
    for (let times = random.below(3); times >= 0; times -= 1)
      lines.splice(random.chance(60) ? lines.length : random.below(lines.length + 1), 0, random.pick(PIECES));
    text = lines.join('\n');
  }
  if (random.chance(5)) text = text.replaceAll('\n', '\r\n');
  return kind === 9 || random.chance(8) ? spoiltBytes(text, random) : Buffer.from(text);
}

/** As JSON can be spoilt, where that is JSON still and can be written. */
function spoiltTree(tree: unknown, random: Random): unknown {
  const text = spoiltText(JSON.stringify(tree), random);
  try {
    return text.includes('[[[[') || text.includes('{"a":{"a"') ? tree : (JSON.parse(text) as unknown);
  } catch {
    return tree;
  }
}

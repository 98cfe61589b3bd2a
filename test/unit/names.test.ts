/** Names of src: none exported twice, none coined; and docs/glossary.md is in order. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

/** Words for which the field has others; docs/glossary.md has those. */
const COINAGES = new Set([
  'attendant',
  'deed',
  'due',
  'foreseen',
  'hands',
  'heard',
  'keeper',
  'liking',
  'pauses',
  'places',
  'said',
  'standstill',
  'told',
  'torn',
  'turns',
  'unheard',
  'unsocial',
  'whose',
  'give back',
  'label comes',
]);

const DECLARED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm;

/** Path below src, to text. */
type Sources = ReadonlyMap<string, string>;

const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/[\s_.-]+/)
    .map((word) => word.toLowerCase());

function isCoined(name: string): boolean {
  const words = wordsOf(name);
  return words.some((word, index) => COINAGES.has(word) || COINAGES.has(`${word} ${words[index + 1] ?? ''}`));
}

const exportsOf = (text: string): string[] => [
  ...new Set(Array.from(text.matchAll(DECLARED), ([, name = '']) => name)),
];

function exportedTwice(sources: Sources): string[] {
  const files = new Map<string, number>();
  for (const text of sources.values())
    for (const name of exportsOf(text)) files.set(name, (files.get(name) ?? 0) + 1);
  return [...files].flatMap(([name, count]) => (count > 1 ? [name] : [])).sort();
}

/** Exported names, and names of files, that have a coinage in them. */
const coined = (sources: Sources): string[] =>
  [
    ...new Set([...sources].flatMap(([file, text]) => [basename(file), ...exportsOf(text)]).filter(isCoined)),
  ].sort();

describe('src', () => {
  const root = join(import.meta.dirname, '../../src');
  const sources: Sources = new Map(
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?<!\.d)\.ts$/.test(file))
      .map((file) => [file, readFileSync(join(root, file), 'utf8')]),
  );

  test('exports no name from two files', () => {
    expect(exportedTwice(sources)).toEqual([]);
  });

  test('has no coinage in a file name or an exported name', () => {
    expect(coined(sources)).toEqual([]);
  });
});

describe('the check itself', () => {
  test('finds a name in two files, whatever it is declared as, and not one that is exported again', () => {
    const twice = new Map([
      ['a.ts', 'export const one = 1;\nexport interface Two {}\nexport function three(): void;\n'],
      ['b.ts', `export type Two = 2;\nexport { one } from './a.ts';\nexport async function three() {}\n`],
    ]);
    expect(exportedTwice(twice)).toEqual(['Two', 'three']);
  });

  test('finds coinages as words of a name, and no others', () => {
    const texts = new Map([
      ['room/give-back.ts', 'export class HeardPreparation {}\nexport const clusterHands = 1;\n'],
      [
        'room/handshakes.ts',
        'export const TOLD_AT = 1;\nexport type Dues = 1;\nexport const placesOfNode = 1;\n',
      ],
    ]);
    expect(coined(texts)).toEqual([
      'HeardPreparation',
      'TOLD_AT',
      'clusterHands',
      'give-back.ts',
      'placesOfNode',
    ]);
  });
});

describe('docs/glossary.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/glossary.md'), 'utf8');
  const entries = Array.from(page.matchAll(/^- \*\*([^*]+)\*\*: ([^]*?)(?=\n- \*\*|\n*$(?![^]))/gm));

  test('has each word once, in alphabetical order', () => {
    const words = entries.map(([, word = '']) => word.toLowerCase());
    expect(words.length).toBeGreaterThan(40);
    expect(words).toEqual([...new Set(words)].sort((a, b) => a.localeCompare(b, 'en')));
  });

  test('says what each means in a few sentences', () => {
    const long = entries.filter(([, , meaning = '']) => meaning.length > 320);
    expect(long.map(([, word]) => word)).toEqual([]);
  });

  test('has no coinage as an entry', () => {
    expect(entries.map(([, word = '']) => word).filter(isCoined)).toEqual([]);
  });
});

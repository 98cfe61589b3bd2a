import { LineCounter, parseAllDocuments, type Document } from 'yaml';
import type { JsonObject } from '../../json/json.ts';
import { nodeAt, offsetOf, stepsOf, READ_AS_KUBERNETES } from './yaml-dialect.ts';

/** 1-based, as editors count. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** One object of an input, with the positions of its fields. */
export interface SourceObject {
  readonly file: string;
  readonly object: JsonObject;
  /** Position of `field` (`spec.podgroups[0].name`), or of the nearest existing parent; for '' of the object. */
  locate(field: string): TextPosition;
  /** Text of the scalar at `field` in the file: `yes` where the value is `true`. */
  written(field: string): string | undefined;
  /** Position of the first line of a literal text (`|`) at `field`; undefined for a value in another style. */
  literal(field: string): TextPosition | undefined;
  /** Text of the document with its lines at their numbers in the file; undefined for an item of a list. */
  readonly text: string | undefined;
}

/** A part of a file, and the number of lines before it. */
export interface TextPart {
  readonly text: string;
  readonly before: number;
  /** Position in the file for an offset in the part; absent where it follows from the lines. */
  readonly at?: (offset: number) => TextPosition;
}

export function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** A parsed document, and the positions of its offsets. */
export interface Tree {
  readonly document: Document.Parsed;
  readonly at: (offset: number) => TextPosition;
}

/** The part that was used last, with its trees: trees are many times as large as their text. */
let latest: { readonly part: TextPart; readonly trees: readonly Tree[] } | undefined;

export function treesOf(part: TextPart): readonly Tree[] {
  if (latest?.part === part) return latest.trees;
  const lines = new LineCounter();
  const byLines = (offset: number): TextPosition => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1) + part.before, column: Math.max(col, 1) };
  };
  const documents = [
    ...parseAllDocuments(part.text, { ...READ_AS_KUBERNETES, lineCounter: lines }),
  ] as Document.Parsed[];
  const trees = documents.map((document) => ({ document, at: part.at ?? byLines }));
  latest = { part, trees };
  return trees;
}

export type TextRange = readonly [number, number];

/** Of a document that is known from its tree. */
export const wholeOf = (tree: () => Tree): TextRange => {
  const { range } = tree().document;
  return [range[0], range[2]];
};

export function sourceOf(given: {
  readonly file: string;
  readonly object: JsonObject;
  readonly path: string;
  readonly part: TextPart;
  /** Index of the document in its part. */
  readonly index: number;
  /** Range of a document in its part; undefined for an item that is a part of its own. */
  readonly range: ((tree: () => Tree) => TextRange) | undefined;
  /** Position of the object, where it is known without a tree. */
  readonly origin: TextPosition | undefined;
}): SourceObject {
  // The source keeps no tree: it may live long, and its positions are seldom needed.
  const { file, object, path, part, index, range, origin } = given;
  const tree = (): Tree => {
    const found = treesOf(part)[index];
    if (found === undefined) throw new RangeError(`${file} has no document ${index} there`);
    return found;
  };
  const under = (field: string): string => (path === '' || field === '' ? path || field : `${path}.${field}`);
  return {
    file,
    object,
    locate: (field) => {
      if (origin !== undefined && field === '') return origin;
      const { document, at } = tree();
      return at(offsetOf(document, stepsOf(under(field))));
    },
    written: (field) => nodeAt(tree().document, stepsOf(under(field)))?.source,
    literal: (field) => {
      const { document, at } = tree();
      const node = nodeAt(document, stepsOf(under(field)));
      if (node?.type !== 'BLOCK_LITERAL') return undefined;
      const start = part.text.indexOf('\n', node.range?.[0] ?? 0) + 1;
      const indent = /^ */.exec(part.text.slice(start, start + 100))?.[0].length ?? 0;
      return at(start + indent);
    },
    get text() {
      if (path !== '' || range === undefined) return undefined;
      const [first, end] = range(tree);
      return '\n'.repeat(part.before + linesIn(part.text.slice(0, first))) + part.text.slice(first, end);
    },
  };
}

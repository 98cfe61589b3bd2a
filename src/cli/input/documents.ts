import { LineCounter, parseAllDocuments, type Document } from 'yaml';
import { isObject, type Json, type JsonObject } from '../../json/json.ts';
import { yamlTrouble } from '../../text/printable.ts';
import { nodeAt, offsetOf, stepsOf, READ_AS_KUBERNETES } from './yaml-dialect.ts';
import type { InputFault } from './input-fault.ts';
import { jsonDocumentIn, type JsonDocument } from './json-document.ts';
import { itemsOf, needed } from './list-items.ts';

/** One input as text, with the name that messages call it by. */
export interface InputText {
  readonly name: string;
  readonly text: string;
}

/** 1-based, as editors count. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** One object of an input, and where its fields stand. */
export interface SourceObject {
  readonly file: string;
  readonly object: JsonObject;
  /**
   * Where `field` (`spec.podgroups[0].name`) stands; where it is missing, the nearest that contains it; for '' the
   * object itself.
   */
  locate(field: string): TextPosition;
  /** The scalar at `field` as somebody wrote it: `yes` where the value is `true`. */
  written(field: string): string | undefined;
  /** Where the first line of a literal text (`|`) at `field` stands; undefined for what is written in another way. */
  literal(field: string): TextPosition | undefined;
  /** The document by itself, on the lines that it has in the file; undefined for an item of a list. */
  readonly text: string | undefined;
}

/** Where the value may hold one object twice, or what JSON has no word for. */
const ALIAS_OR_NO_JSON = /\*|\.(?:inf|nan)/i;

/** Aliases that may be followed before a document counts as one that was made to blow up. */
const MAX_ALIASES = 100;

/**
 * The objects of one input: every document of it, and the items of lists. Empty documents are left out. One after the
 * other, so that of a large input only one document at a time is held as a tree.
 * @param bad hears of each document that cannot be read; those after it are read
 */
export function* readObjects(
  { name, text }: InputText,
  bad: (fault: InputFault) => void,
): Generator<SourceObject> {
  for (const part of partsOf(text)) yield* objectsIn(name, part, bad);
}

/** A piece of a file, and the number of its first line less one. */
interface Part {
  readonly text: string;
  readonly before: number;
  /** Where its characters stand in the file; absent where that follows from its lines. */
  readonly at?: (offset: number) => TextPosition;
}

/**
 * The documents of a file, cut where one begins. `---` at the start of a line is that wherever it stands, in a quoted
 * or literal text as well (YAML 1.2, 9.1.2). With directives or `...` the library is left to find them.
 */
function* partsOf(text: string): Generator<Part> {
  let start = 0;
  let before = 0;
  if (!/^(?:%|\.\.\.)/m.test(text)) {
    for (const { index } of text.matchAll(/^---(?=\s)/gm)) {
      if (index === 0) continue;
      const part = text.slice(start, index);
      yield { text: part, before };
      start = index;
      before += linesIn(part);
    }
  }
  yield { text: text.slice(start), before };
}

function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** Where things stand in one document. */
interface Tree {
  readonly document: Document.Parsed;
  readonly at: (offset: number) => TextPosition;
}

/** The part that was asked about last, with its trees: they are many times as large as their text. */
let latest: { readonly part: Part; readonly trees: readonly Tree[] } | undefined;

function treesOf(part: Part): readonly Tree[] {
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

function* objectsIn(file: string, part: Part, bad: (fault: InputFault) => void): Generator<SourceObject> {
  const json = jsonDocumentIn(part.text);
  if (json !== undefined) {
    yield* objectsInJson(file, part, json, bad);
    return;
  }
  const tell = (position: TextPosition, message: string): void =>
    bad({ file, ...position, message, fix: fixFor(part.text) });
  let trees: readonly Tree[];
  try {
    trees = treesOf(part);
  } catch (thrown) {
    // What the parser throws rather than reports: nesting beyond its stack.
    return tell({ line: part.before + 1, column: 1 }, yamlTrouble(thrown as Error));
  }
  for (const [index, { document, at }] of trees.entries()) {
    const [error] = document.errors;
    // What follows a fault in the same part may be its consequence.
    if (error !== undefined) return tell(at(error.pos[0]), yamlTrouble(error));
    const start = document.contents?.range[0] ?? document.range[0];
    let value: Json;
    try {
      value = document.toJS({ maxAliasCount: MAX_ALIASES }) as Json;
      // Through JSON, so that two places never share one object and nothing but JSON is left.
      if (ALIAS_OR_NO_JSON.test(part.text)) value = JSON.parse(JSON.stringify(value)) as Json;
    } catch (thrown) {
      tell(at(start), yamlTrouble(thrown as Error));
      continue;
    }
    if (value === null) continue;
    if (!isObject(value)) {
      tell(at(start), needed(value));
      continue;
    }
    const range = [document.range[0], document.range[2]] as const;
    const strange = (path: string, item: Json): void =>
      tell(at(offsetOf(document, stepsOf(path))), needed(item, path));
    for (const { object, path } of itemsOf(value, strange)) {
      const origin = path === '' ? at(start) : undefined;
      yield sourceOf({ file, part, index, range, origin, object, path });
    }
  }
}

function* objectsInJson(
  file: string,
  part: Part,
  json: JsonDocument,
  bad: (fault: InputFault) => void,
): Generator<SourceObject> {
  const position = (offset: number): TextPosition => {
    const { line, column } = json.positionOf(offset);
    return { line: line + part.before, column };
  };
  const strange = (path: string, found: Json): void => {
    const [tree] = treesOf(part);
    const place = tree?.at(offsetOf(tree.document, stepsOf(path))) ?? position(json.start);
    bad({ file, ...place, message: needed(found, path), fix: fixFor(part.text) });
  };
  for (const { object, path } of itemsOf(json.object, strange)) {
    const item = json.items?.get(path);
    if (item === undefined) {
      const range = [0, part.text.length] as const;
      const origin = path === '' ? position(json.start) : undefined;
      yield sourceOf({ file, part, index: 0, range, origin, object, path });
      continue;
    }
    // A tree of its own: that of the whole would be made for one place in it.
    const { start, end } = item;
    const own = {
      text: part.text.slice(start, end),
      before: 0,
      at: (offset: number) => position(start + offset),
    };
    yield sourceOf({
      file,
      part: own,
      index: 0,
      range: undefined,
      origin: position(start),
      object,
      path: '',
    });
  }
}

function sourceOf(given: {
  readonly file: string;
  readonly object: JsonObject;
  readonly path: string;
  readonly part: Part;
  /** Of the document in its part. */
  readonly index: number;
  /** Of a document by itself. */
  readonly range: readonly [number, number] | undefined;
  /** Of the object, where it is known without a tree. */
  readonly origin: TextPosition | undefined;
}): SourceObject {
  // Nothing here holds the tree: a source may be kept for long, and its place be asked for once or never.
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
      const [first, end] = range;
      return '\n'.repeat(part.before + linesIn(part.text.slice(0, first))) + part.text.slice(first, end);
    },
  };
}

export const RENDER_FIRST =
  'it is a template of Helm: render it first, helm template <chart> | muster … -f -';

const fixFor = (text: string): string =>
  text.includes('{{') ? RENDER_FIRST : 'correct the YAML or JSON at this place; "-f -" reads standard input';

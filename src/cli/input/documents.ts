import { LineCounter, parseAllDocuments, type Document } from 'yaml';
import { isObject, type Json, type JsonObject } from '../../json/json.ts';
import { yamlTrouble } from '../../text/printable.ts';
import { nodeAt, offsetOf, stepsOf, READ_AS_KUBERNETES } from './yaml-dialect.ts';
import type { InputFault } from './input-fault.ts';
import { jsonDocumentIn, type JsonDocument } from './json-document.ts';
import { itemsOf, needed } from './list-items.ts';

/** The text of one input, with its name in messages. */
export interface InputText {
  readonly name: string;
  readonly text: string;
}

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

/** Signs that the value may hold one object twice, or a number that JSON lacks. */
const ALIAS_OR_NO_JSON = /\*|\.(?:inf|nan)/i;

/** Aliases that are followed in one document: more are taken for an attack by expansion. */
const MAX_ALIASES = 100;

/**
 * Yields the objects of one input: of every document, and of the items of lists. Empty documents are left out. Only one
 * document at a time is kept as a tree, so an input may be large.
 * @param bad called for each unreadable document; later documents are read nevertheless
 */
export function* readObjects(
  { name, text }: InputText,
  bad: (fault: InputFault) => void,
): Generator<SourceObject> {
  for (const part of partsOf(text)) yield* objectsIn(name, part, bad);
}

/** A part of a file, and the number of lines before it. */
interface Part {
  readonly text: string;
  readonly before: number;
  /** Position in the file for an offset in the part; absent where it follows from the lines. */
  readonly at?: (offset: number) => TextPosition;
}

/**
 * Splits a file at its documents. A line that begins with `---` starts a document even within a quoted or literal text (YAML
 * 1.2, 9.1.2). A file with directives or `...` is left to the YAML library as a whole.
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

/** A parsed document, and the positions of its offsets. */
interface Tree {
  readonly document: Document.Parsed;
  readonly at: (offset: number) => TextPosition;
}

/** The part that was used last, with its trees: trees are many times as large as their text. */
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
    // The parser throws for nesting beyond its stack, instead of reporting an error.
    return tell({ line: part.before + 1, column: 1 }, yamlTrouble(thrown as Error));
  }
  for (const [index, { document, at }] of trees.entries()) {
    const [error] = document.errors;
    // Later faults of the same part may follow from this one.
    if (error !== undefined) return tell(at(error.pos[0]), yamlTrouble(error));
    const start = document.contents?.range[0] ?? document.range[0];
    let value: Json;
    try {
      value = document.toJS({ maxAliasCount: MAX_ALIASES }) as Json;
      // A round trip through JSON: no two fields share an object, and nothing but JSON is left.
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
    // The item is parsed alone, since the tree of the whole document is much larger.
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
  /** Index of the document in its part. */
  readonly index: number;
  /** Range of a document in its part; undefined for an item that is a part of its own. */
  readonly range: readonly [number, number] | undefined;
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
      const [first, end] = range;
      return '\n'.repeat(part.before + linesIn(part.text.slice(0, first))) + part.text.slice(first, end);
    },
  };
}

export const RENDER_FIRST =
  'it is a template of Helm: render it first, helm template <chart> | muster … -f -';

const fixFor = (text: string): string =>
  text.includes('{{') ? RENDER_FIRST : 'correct the YAML or JSON at this place; "-f -" reads standard input';

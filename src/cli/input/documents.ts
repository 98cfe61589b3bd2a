import { LineCounter, parseAllDocuments, type Document } from 'yaml';
import { isObject, own, ownList, ownString, type Json, type JsonObject } from '../../api/json.ts';
import { quoted } from '../../api/printable.ts';
import { yamlTrouble } from '../../api/yaml-trouble.ts';
import { nodeAt, offsetOf, stepsOf } from './field-position.ts';
import type { InputText } from './input-files.ts';
import type { InputFault } from './input-fault.ts';
import { READ_AS_KUBERNETES } from './yaml-dialect.ts';

/** 1-based, as editors count. */
export interface Position {
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
  locate(field: string): Position;
  /** The scalar at `field` as somebody wrote it: `yes` where the value is `true`. */
  written(field: string): string | undefined;
  /** Where the first line of a literal text (`|`) at `field` stands; undefined for what is written in another way. */
  literal(field: string): Position | undefined;
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
  readonly at: (offset: number) => Position;
}

/** The part that was asked about last, with its trees: they are many times as large as their text. */
let latest: { readonly part: Part; readonly trees: readonly Tree[] } | undefined;

function treesOf(part: Part): readonly Tree[] {
  if (latest?.part === part) return latest.trees;
  const lines = new LineCounter();
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1) + part.before, column: Math.max(col, 1) };
  };
  const documents = [
    ...parseAllDocuments(part.text, { ...READ_AS_KUBERNETES, lineCounter: lines }),
  ] as Document.Parsed[];
  const trees = documents.map((document) => ({ document, at }));
  latest = { part, trees };
  return trees;
}

function* objectsIn(file: string, part: Part, bad: (fault: InputFault) => void): Generator<SourceObject> {
  const tell = (position: Position, message: string): void =>
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
      tell(at(start), `a Kubernetes object is needed, found ${quoted(value)}`);
      continue;
    }
    const range = [document.range[0], document.range[2]] as const;
    const given = { file, part, index, range, origin: at(start) };
    for (const { object, path } of itemsOf(value)) yield sourceOf({ ...given, object, path });
  }
}

function sourceOf(given: {
  readonly file: string;
  readonly object: JsonObject;
  readonly path: string;
  readonly part: Part;
  /** Of the document in its part. */
  readonly index: number;
  readonly range: readonly [number, number];
  readonly origin: Position;
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
      if (path === '' && field === '') return origin;
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
      if (path !== '') return undefined;
      const [first, end] = range;
      return '\n'.repeat(part.before + linesIn(part.text.slice(0, first))) + part.text.slice(first, end);
    },
  };
}

export const RENDER_FIRST =
  'it is a template of Helm: render it first, helm template <chart> | muster … -f -';

const fixFor = (text: string): string =>
  text.includes('{{') ? RENDER_FIRST : 'correct the YAML or JSON at this place; "-f -" reads standard input';

/** The items of a `v1 List` and of lists of one kind (`PodList`), lists in lists as well; else the object itself. */
function itemsOf(root: JsonObject): { object: JsonObject; path: string }[] {
  const found: { object: JsonObject; path: string }[] = [];
  const waiting = [{ object: root, path: '' }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { object, path } = next;
    const kind = ownString(object, 'kind');
    const items = kind?.endsWith('List') === true ? ownList(object, 'items') : undefined;
    if (kind === undefined || items === undefined) {
      found.push(next);
      continue;
    }
    // An API server leaves kind and apiVersion out of the items of a typed list.
    const given: JsonObject =
      kind === 'List'
        ? {}
        : { apiVersion: own(object, 'apiVersion') ?? '', kind: kind.slice(0, -'List'.length) };
    const inner = items.flatMap((item, index) =>
      isObject(item)
        ? [
            {
              object: ownString(item, 'kind') === undefined ? { ...given, ...item } : item,
              path: `${path === '' ? '' : `${path}.`}items[${index}]`,
            },
          ]
        : [],
    );
    waiting.push(...inner.reverse());
  }
  return found;
}
